//! Scripts of exchanges: what the two ends are, what the applications do, what the pipe does.
//!
//! ```text
//! # a comment
//! both mss 1000                   also: client, server; any key of `set`
//! delay 50ms                      one way
//! at 0ms client write 20000       also: close, abort, read N
//! drop client data 3              the third data segment that the client sends; also: ack, syn
//! late client data 3 by 30ms      also: double, mark
//! until 5s
//! ```

use crate::tcp_pipe::{Action, CLIENT, Class, Fault, SERVER, World, reno};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_sim::tcp::{LogDetail, LossDetection, Pacing, Reading, ReceiveBuffer, TcpConfig};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

struct Script {
    configs: [TcpConfig; 2],
    congestion: CongestionConfig,
    delay: Duration,
    until: Timestamp,
    actions: Vec<(Timestamp, usize, Action)>,
    faults: Vec<(usize, Class, u64, Fault)>,
}

/// Segments of 1000 bytes without timestamps, every data segment acknowledged at once: the
/// easiest to read. Everything else is Linux.
fn plain() -> TcpConfig {
    TcpConfig {
        mss: 1_000,
        timestamps: false,
        ack_every: 1,
        receive_buffer: ReceiveBuffer::Fixed(65_535),
        log: LogDetail::Segments,
        ..TcpConfig::LINUX
    }
}

/// Runs a script to its end.
pub(crate) fn run(text: &str) -> World {
    let script = parse(text);
    let faults = script.faults;
    let judge = move |side, class, count, _: &_| {
        let hit = faults.iter().find(|fault| (fault.0, fault.1, fault.2) == (side, class, count));
        hit.map(|fault| fault.3)
    };
    let mut world = World::new(script.configs, script.congestion, script.delay, judge);
    for (at, side, action) in script.actions {
        world.plan(at, side, action);
    }
    world.run(script.until, |_| {});
    world
}

fn parse(text: &str) -> Script {
    let mut script = Script {
        configs: [plain(); 2],
        congestion: reno(),
        delay: Duration::from_millis(50),
        until: Timestamp::from_millis(10_000),
        actions: Vec::new(),
        faults: Vec::new(),
    };
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        script.take(&words).unwrap_or_else(|| panic!("cannot read {line:?}"));
    }
    script
}

impl Script {
    fn take(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            ["both", key, value] => {
                self.configs.iter_mut().try_for_each(|config| set(config, key, value))?;
            }
            ["client" | "server", key, value] => {
                set(&mut self.configs[side(words[0])?], key, value)?;
            }
            ["delay", time] => self.delay = duration(time)?,
            ["until", time] => self.until = Timestamp::ZERO + duration(time)?,
            ["congestion", name] => {
                self.congestion.avoidance = name.parse::<CongestionKind>().ok()?;
            }
            ["at", time, who, ref action @ ..] => {
                let at = Timestamp::ZERO + duration(time)?;
                self.actions.push((at, side(who)?, application(action)?));
            }
            [fault, who, what, count, ref rest @ ..] => {
                let fault = pipe(fault, rest)?;
                self.faults.push((side(who)?, class(what)?, count.parse().ok()?, fault));
            }
            _ => return None,
        }
        Some(())
    }
}

fn application(words: &[&str]) -> Option<Action> {
    Some(match *words {
        ["write", bytes] => Action::Write(bytes.parse().ok()?),
        ["read", bytes] => Action::Read(bytes.parse().ok()?),
        ["close"] => Action::Close,
        ["abort"] => Action::Abort,
        _ => return None,
    })
}

fn pipe(fault: &str, rest: &[&str]) -> Option<Fault> {
    Some(match (fault, rest) {
        ("drop", []) => Fault::Drop,
        ("mark", []) => Fault::Mark,
        ("late", ["by", time]) => Fault::Delay(duration(time)?),
        ("double", ["by", time]) => Fault::Duplicate(duration(time)?),
        _ => return None,
    })
}

fn side(word: &str) -> Option<usize> {
    Some(match word {
        "client" => CLIENT,
        "server" => SERVER,
        _ => return None,
    })
}

fn class(word: &str) -> Option<Class> {
    Some(match word {
        "syn" => Class::Syn,
        "data" => Class::Data,
        "ack" => Class::Ack,
        _ => return None,
    })
}

fn duration(word: &str) -> Option<Duration> {
    let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit())?);
    let number = number.parse().ok()?;
    Some(match unit {
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return None,
    })
}

fn set(config: &mut TcpConfig, key: &str, value: &str) -> Option<()> {
    let on = value == "on";
    match key {
        "mss" => config.mss = value.parse().ok()?,
        "sack" => config.sack = on,
        "timestamps" => config.timestamps = on,
        "ecn" => config.ecn = on,
        "tlp" => config.tail_loss_probe = on,
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
        "detection" if value == "rfc6675" => config.loss_detection = LossDetection::DupThresh,
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
