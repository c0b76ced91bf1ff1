//! What the loader has chosen, as the programs have it: `struct pp_settings`.

use crate::{KernelConfig, KernelCongestion, LoadError, SLOW_STARTS};
use polypath_core::slow_start::SlowStartKind;
use std::hash::{DefaultHasher, Hasher};

/// The name of their map, which has them under the key 0.
pub(crate) const SETTINGS: &str = "settings";
pub(crate) const KEY: [u8; 4] = 0_u32.to_ne_bytes();

/// How a congestion control runs that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The slow start.
    pub slow_start: SlowStartKind,
    /// Whether the subflows of a connection see each other.
    pub coupled: bool,
    /// Whether this build of the program has loaded it, and so knows what its state looks like.
    pub of_this_build: bool,
}

/// As the programs have them.
pub(crate) fn encode(row: &KernelCongestion, config: KernelConfig) -> Result<Vec<u8>, LoadError> {
    let slow_start = SLOW_STARTS.iter().find(|(kind, _)| *kind == config.slow_start);
    let (_, slow_start) = slow_start.ok_or(LoadError::SlowStart(config.slow_start))?;
    let mut bytes = [*slow_start, u32::from(!config.coupled)].map(u32::to_ne_bytes).concat();
    bytes.extend(build(row).to_ne_bytes());
    Ok(bytes)
}

/// What the programs have; `None` if no build of the program has written it.
pub(crate) fn decode(row: &KernelCongestion, bytes: &[u8]) -> Option<Settings> {
    let (slow_start, rest) = bytes.split_first_chunk()?;
    let (uncoupled, written_by) = rest.split_first_chunk()?;
    let number = u32::from_ne_bytes(*slow_start);
    let (slow_start, _) = *SLOW_STARTS.iter().find(|(_, of)| *of == number)?;
    let coupled = u32::from_ne_bytes(*uncoupled) == 0;
    Some(Settings { slow_start, coupled, of_this_build: written_by == build(row).to_ne_bytes() })
}

/// Tells builds apart by what they load.
fn build(row: &KernelCongestion) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(row.object);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONGESTION;

    #[test]
    fn settings_come_back_and_those_of_other_builds_are_told_from_them() {
        let [row, other, ..] = CONGESTION else { unreachable!("there are eight") };
        for (slow_start, _) in SLOW_STARTS {
            for coupled in [true, false] {
                let slow_start = *slow_start;
                let config = KernelConfig { congestion: row.kind, slow_start, coupled };
                let bytes = encode(row, config).unwrap();
                let read = Settings { slow_start, coupled, of_this_build: true };
                assert_eq!(decode(row, &bytes), Some(read));
                let of_another = Settings { of_this_build: false, ..read };
                assert_eq!(decode(other, &bytes), Some(of_another));
                assert_eq!(decode(row, &bytes[..7]), None, "too short");
            }
        }
        assert_eq!(decode(row, &[0xff; 16]), None, "no such slow start");
    }
}
