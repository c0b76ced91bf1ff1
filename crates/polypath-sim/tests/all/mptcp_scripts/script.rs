//! Scripts of exchanges over several paths.
//!
//! ```text
//! # a comment
//! path 0 20ms                     one way; `backup` behind it makes it one
//! both mss 1024                   also: client, server; any key of `set`, and those of `set_mptcp`
//! at 0ms client write 20000       also: close
//! drop 1 client data 3            the third data segment of the client on path 1; also: ack, syn
//! late 1 client data 3 by 30ms    also: double
//! down 1 from 100ms to 500ms      without `to`: for good
//! until 5s
//! ```

use super::world::{Action, PathFault, Pipe, World};
use crate::tcp_pipe::words::{class, duration, pipe, set, side};
use crate::tcp_pipe::{plain, reno};
use polypath_core::congestion::CongestionConfig;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::tcp::TcpConfig;
use polypath_units::Timestamp;

struct Script {
    configs: [MptcpConfig; 2],
    pipes: Vec<Pipe>,
    faults: Vec<PathFault>,
    actions: Vec<(Timestamp, usize, Action)>,
    until: Timestamp,
}

/// Segments of 1000 bytes beside the data sequence signal, each acknowledged at once; Reno on each
/// subflow of its own. Everything else is the default.
fn plain_mptcp() -> MptcpConfig {
    let tcp = TcpConfig { mss: 1_024, ..plain() };
    let mut config = MptcpConfig { tcp, ..MptcpConfig::default() };
    config.composition.congestion = CongestionConfig { coupled: false, ..reno() };
    config
}

/// Runs a script to its end.
pub(crate) fn run(text: &str) -> World {
    let mut script = Script {
        configs: [plain_mptcp(), plain_mptcp()],
        pipes: Vec::new(),
        faults: Vec::new(),
        actions: Vec::new(),
        until: Timestamp::from_millis(10_000),
    };
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        script.take(&words).unwrap_or_else(|| panic!("cannot read {line:?}"));
    }
    let mut world = World::new(script.configs, script.pipes, script.faults, script.actions);
    world.run(script.until);
    world
}

impl Script {
    fn take(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            ["path", number, delay, ref rest @ ..] => {
                let backup = match *rest {
                    [] => false,
                    ["backup"] => true,
                    _ => return None,
                };
                assert_eq!(number.parse(), Ok(self.pipes.len()), "paths are numbered in order");
                let delay = duration(delay)?;
                self.pipes.push(Pipe::new(delay, backup));
            }
            ["both", key, value] => {
                self.configs.iter_mut().try_for_each(|config| set_mptcp(config, key, value))?;
            }
            ["client" | "server", key, value] => {
                set_mptcp(&mut self.configs[side(words[0])?], key, value)?;
            }
            ["down", path, "from", from, ref rest @ ..] => {
                let to = match *rest {
                    [] => Timestamp::MAX,
                    ["to", to] => time(to)?,
                    _ => return None,
                };
                self.pipes.get_mut(path.parse::<usize>().ok()?)?.down.push((time(from)?, to));
            }
            ["until", until] => self.until = time(until)?,
            ["at", at, who, ref action @ ..] => {
                self.actions.push((time(at)?, side(who)?, application(action)?));
            }
            [fault, path, who, what, count, ref rest @ ..] => self.faults.push(PathFault {
                path: path.parse().ok()?,
                side: side(who)?,
                class: class(what)?,
                count: count.parse().ok()?,
                fault: pipe(fault, rest)?,
            }),
            _ => return None,
        }
        Some(())
    }
}

fn time(word: &str) -> Option<Timestamp> {
    Some(Timestamp::ZERO + duration(word)?)
}

fn application(words: &[&str]) -> Option<Action> {
    Some(match *words {
        ["write", bytes] => Action::Write(bytes.parse().ok()?),
        ["close"] => Action::Close,
        _ => return None,
    })
}

fn set_mptcp(config: &mut MptcpConfig, key: &str, value: &str) -> Option<()> {
    match key {
        "scheduler" => config.composition.scheduler = value.parse().ok()?,
        "failure" => config.composition.failure = value.parse().ok()?,
        "opportunistic_retransmission" => {
            config.composition.opportunistic_retransmission = value == "on";
        }
        "penalisation" => config.composition.penalisation = value == "on",
        _ => set(&mut config.tcp, key, value)?,
    }
    Some(())
}
