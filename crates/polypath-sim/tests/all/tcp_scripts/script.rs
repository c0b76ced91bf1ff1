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

use crate::tcp_pipe::words::{class, duration, pipe, set, side};
use crate::tcp_pipe::{Action, Class, Fault, World, plain, reno};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_sim::tcp::TcpConfig;
use polypath_units::Timestamp;
use std::time::Duration;

struct Script {
    configs: [TcpConfig; 2],
    congestion: CongestionConfig,
    delay: Duration,
    until: Timestamp,
    actions: Vec<(Timestamp, usize, Action)>,
    faults: Vec<(usize, Class, u64, Fault)>,
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
                self.congestion.avoidance = name.parse::<CongestionKind>().ok()?.into();
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
