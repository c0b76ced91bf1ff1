//! How long bytes are on their way.

use std::time::Duration;

/// The mean time from sending to acknowledgement, by bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlightTime {
    byte_nanos: u128,
    bytes: u64,
}

impl FlightTime {
    /// So many bytes were on their way for `time`.
    pub(crate) fn add(&mut self, time: Duration, bytes: u64) {
        self.byte_nanos += time.as_nanos() * u128::from(bytes);
        self.bytes += bytes;
    }

    /// How many bytes it is the mean of.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The mean; `None` without bytes.
    pub(crate) fn mean(&self) -> Option<Duration> {
        let nanos = self.byte_nanos.checked_div(u128::from(self.bytes))?;
        // A mean is no more than the longest of them.
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_of_bytes() {
        let mut time = FlightTime::default();
        assert_eq!(time.mean(), None);
        time.add(Duration::from_millis(10), 300);
        time.add(Duration::from_millis(50), 100);
        assert_eq!((time.mean(), time.bytes()), (Some(Duration::from_millis(20)), 400));
    }
}
