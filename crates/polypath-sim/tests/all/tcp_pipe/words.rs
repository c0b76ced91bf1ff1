//! Words of scripts.

use super::{CLIENT, Class, Fault, SERVER};
use polypath_sim::tcp::{LogDetail, LossDetection, Pacing, Reading, ReceiveBuffer, TcpConfig};
use polypath_units::Bandwidth;
use std::time::Duration;

pub(crate) fn pipe(fault: &str, rest: &[&str]) -> Option<Fault> {
    Some(match (fault, rest) {
        ("drop", []) => Fault::Drop,
        ("mark", []) => Fault::Mark,
        ("late", ["by", time]) => Fault::Delay(duration(time)?),
        ("double", ["by", time]) => Fault::Duplicate(duration(time)?),
        _ => return None,
    })
}

pub(crate) fn side(word: &str) -> Option<usize> {
    Some(match word {
        "client" => CLIENT,
        "server" => SERVER,
        _ => return None,
    })
}

pub(crate) fn class(word: &str) -> Option<Class> {
    Some(match word {
        "syn" => Class::Syn,
        "data" => Class::Data,
        "ack" => Class::Ack,
        _ => return None,
    })
}

pub(crate) fn duration(word: &str) -> Option<Duration> {
    let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit())?);
    let number = number.parse().ok()?;
    Some(match unit {
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return None,
    })
}

pub(crate) fn set(config: &mut TcpConfig, key: &str, value: &str) -> Option<()> {
    let on = value == "on";
    match key {
        "mss" => config.mss = value.parse().ok()?,
        "sack" => config.sack = on,
        "timestamps" => config.timestamps = on,
        "ecn" => config.ecn = on,
        "tlp" => config.tlp = on,
        "frto" => config.frto = on,
        "undo" => config.undo = on,
        "prr" => config.prr = on,
        "nagle" => config.nagle = on,
        "idle_restart" => config.idle_restart = on,
        "limited_transmit" => config.limited_transmit = on,
        "ack_every" => config.ack_every = value.parse().ok()?,
        "quick_acks" => config.quick_acks = value.parse().ok()?,
        "max_timeouts" => config.max_timeouts = value.parse().ok()?,
        "gro" => config.gro = duration(value)?,
        "time_wait" => config.time_wait = duration(value)?,
        "buffer" => config.receive_buffer = ReceiveBuffer::Fixed(value.parse().ok()?),
        "reading" if value == "when_told" => config.reading = Reading::WhenTold,
        "reading" => {
            config.reading = Reading::Rate(Bandwidth::from_bits_per_sec(value.parse().ok()?));
        }
        "pacing" if value == "internal" => config.pacing = Pacing::Internal,
        "detection" if value == "rfc6675" => config.loss_detection = LossDetection::DupackThreshold,
        "preset" if value == "new_reno" => {
            *config = TcpConfig {
                mss: 1_000,
                ack_every: 1,
                log: LogDetail::Segments,
                ..TcpConfig::NEW_RENO
            };
        }
        _ => return None,
    }
    Some(())
}
