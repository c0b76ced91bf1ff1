//! A drawn network and what runs on it, as a scenario.

use super::Family;
use core::fmt::Write;
use std::time::Duration;

/// A drawn profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// `grid_1_0`: its family, the seed of the draw and its number.
    pub name: String,
    /// What it is drawn from.
    pub family: Family,
    pub(super) paths: Vec<DrawnPath>,
    /// The receive buffer of every contender, if it is not the default of its transport.
    pub(super) receive_buffer_kb: Option<f64>,
    pub(super) load: Load,
    /// TCP connections of others, through the first path.
    pub(super) others: u32,
    /// When a run is cut off.
    pub(super) duration: Duration,
}

/// A path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DrawnPath {
    pub name: &'static str,
    pub rate: PathRate,
    pub delay_ms: f64,
    pub jitter: Jitter,
    pub loss: Loss,
    pub queue_kb: f64,
}

/// What the rate of a path is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathRate {
    /// Always the same, in Mbit/s.
    Constant(f64),
    /// A lower one between two times.
    Blocked { mbit_s: f64, low_mbit_s: f64, from_ms: u32, until_ms: u32 },
    /// That of the trace generator.
    Generated { preset: &'static str, mean_mbit_s: f64, seed: u32 },
    /// That of a user of LTE who is handed over from mast to mast.
    Handover {
        start_m: u32,
        km_h: f64,
        spacing_m: u32,
        interruption_ms: f64,
        users: u32,
        seed: u32,
    },
}

/// How far a packet's delay varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Jitter {
    None,
    InOrder(f64),
    Reordering(f64),
}

/// Which share of packets the line loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    None,
    Random(f64),
    /// In bursts of five packets in the mean.
    Bursts(f64),
}

/// What is carried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Load {
    /// A transfer down. A bond carries `flows` of them in its one sequence, TCP has a connection
    /// for each.
    Transfer { kilobytes: f64, flows: u32 },
    /// A transfer down without end.
    Endless,
    /// Datagrams of `packet` bytes down, and perhaps a transfer without end beside them.
    Datagrams { mbit_s: f64, packet: u32, beside_bulk: bool },
}

/// Leaves the bad state of a burst of losses: one in the mean length of a burst.
pub(super) const BURST_END: f64 = 0.2;
/// Datagrams stop so long before the end of the run, for those under way to come.
const LAST_DATAGRAMS: Duration = Duration::from_secs(3);

impl Loss {
    /// The share of packets that are lost.
    pub(super) const fn share(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Random(share) | Self::Bursts(share) => share,
        }
    }
}

impl Jitter {
    /// How far a delay is above the mean at most, in ms.
    pub(super) const fn most_ms(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::InOrder(ms) | Self::Reordering(ms) => ms,
        }
    }
}

impl Profile {
    /// The scenario of this profile with the bond that ships, as a user could write it.
    pub fn text(&self) -> String {
        let head = format!(
            "# {}: drawn by `polypath compare --drawn`.\n# {}.\n",
            self.name,
            self.parameters()
        );
        head + &self.scenario("transport = \"bond\"\ncarrier = \"light\"\n", 1)
    }

    /// The names of the paths.
    pub(super) fn path_names(&self) -> impl Iterator<Item = &'static str> {
        self.paths.iter().map(|path| path.name)
    }

    /// How many connections TCP has.
    pub(super) const fn flows(&self) -> u32 {
        match self.load {
            Load::Transfer { flows, .. } => flows,
            Load::Endless | Load::Datagrams { .. } => 1,
        }
    }

    /// The share of datagrams that the links do not lose if each has its share of the rates.
    pub(super) fn delivered_by_links(&self) -> f64 {
        let rates = || self.paths.iter().filter_map(|path| path.rate.constant());
        let lost = rates().zip(&self.paths).map(|(rate, path)| rate * path.loss.share());
        1.0 - lost.sum::<f64>() / rates().sum::<f64>()
    }

    /// The longest delay of the slowest path without a queue, in ms, and that path.
    pub(super) fn longest_delay_ms(&self) -> (f64, &'static str) {
        let delays =
            self.paths.iter().map(|path| (path.delay_ms + path.jitter.most_ms(), path.name));
        delays.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    }

    /// The scenario with `count` connections of these settings, called `bond` whatever they are.
    /// Writing to a `String` cannot fail.
    pub(super) fn scenario(&self, connection: &str, count: u32) -> String {
        let mut text = format!("duration = \"{} ms\"\n", self.duration.as_millis());
        for path in &self.paths {
            path.write(&mut text);
        }
        let _ = write!(text, "\n[[connection]]\nname = \"bond\"\n{connection}");
        if let Some(kilobytes) = self.receive_buffer_kb {
            let _ = writeln!(text, "receive_buffer = \"{kilobytes} kB\"");
        }
        if count > 1 {
            let _ = writeln!(text, "count = {count}");
        }
        self.write_load(&mut text, count);
        self.write_others(&mut text);
        text
    }

    fn write_load(&self, text: &mut String, count: u32) {
        const BULK: &str =
            "\n[[flow]]\nconnection = \"bond\"\nkind = \"bulk\"\ndirection = \"down\"\n";
        let stop = self.duration.saturating_sub(LAST_DATAGRAMS).as_millis();
        let _ = match self.load {
            Load::Endless => write!(text, "{BULK}"),
            Load::Transfer { kilobytes, .. } => {
                let bytes = kilobytes * 1e3 / f64::from(count);
                writeln!(text, "{BULK}bytes = \"{} B\"", bytes.round())
            }
            Load::Datagrams { mbit_s, packet, beside_bulk } => {
                let _ = writeln!(
                    text,
                    "\n[[flow]]\nconnection = \"bond\"\nkind = \"constant_rate\"\n\
                     direction = \"down\"\ndelivery = \"datagram\"\nrate = \"{mbit_s} Mbit/s\"\n\
                     packet = \"{packet} B\"\nstop = \"{stop} ms\""
                );
                match beside_bulk {
                    true => writeln!(text, "{BULK}stop = \"{stop} ms\""),
                    false => Ok(()),
                }
            }
        };
    }

    fn write_others(&self, text: &mut String) {
        let (Some(first), 1..) = (self.paths.first(), self.others) else { return };
        let _ = writeln!(
            text,
            "\n[[connection]]\nname = \"other\"\ntransport = \"tcp\"\ncongestion = \"cubic\"\n\
             paths = [\"{}\"]\ncount = {}\nstagger = \"500 ms\"\n\n[[flow]]\n\
             connection = \"other\"\nkind = \"bulk\"\ndirection = \"down\"",
            first.name, self.others
        );
    }

    /// What was drawn, in a line.
    pub fn parameters(&self) -> String {
        let mut parts: Vec<_> = self.paths.iter().map(DrawnPath::parameters).collect();
        parts.extend(self.receive_buffer_kb.map(|kilobytes| format!("buffer {kilobytes} kB")));
        parts.push(match self.load {
            Load::Transfer { kilobytes, flows: 1 } => format!("{kilobytes} kB"),
            Load::Transfer { kilobytes, flows } => format!("{kilobytes} kB in {flows} flows"),
            Load::Endless => "endless".to_owned(),
            Load::Datagrams { mbit_s, packet, beside_bulk } => {
                let bulk = if beside_bulk { " beside bulk" } else { "" };
                format!("{packet} B at {mbit_s} Mbit/s{bulk}")
            }
        });
        if self.others > 0 {
            parts.push(format!("{} TCP on {}", self.others, self.paths[0].name));
        }
        parts.join("; ")
    }
}

impl DrawnPath {
    fn write(&self, text: &mut String) {
        let Self { name, delay_ms, queue_kb, .. } = self;
        let _ = writeln!(
            text,
            "\n[[path]]\nname = \"{name}\"\ndelay = \"{delay_ms} ms\"\nqueue = \"{queue_kb} kB\""
        );
        let _ = match self.jitter {
            Jitter::None => Ok(()),
            Jitter::InOrder(ms) => writeln!(text, "jitter = \"{ms} ms\""),
            Jitter::Reordering(ms) => writeln!(text, "jitter = \"{ms} ms\"\nreorder = true"),
        };
        let _ = match self.loss {
            Loss::None => Ok(()),
            Loss::Random(share) => writeln!(text, "loss = {share}"),
            Loss::Bursts(share) => writeln!(
                text,
                "loss = {{ gilbert_elliott = {{ good_to_bad = {:.3e}, bad_to_good = {BURST_END} }} }}",
                share * BURST_END / (1.0 - share)
            ),
        };
        self.rate.write(text);
    }

    /// `one 50 Mbit/s, 20 ms ± 5 reordering, 1 % in bursts, 120 kB`
    fn parameters(&self) -> String {
        let jitter = match self.jitter {
            Jitter::None => String::new(),
            Jitter::InOrder(ms) => format!(" ± {ms}"),
            Jitter::Reordering(ms) => format!(" ± {ms} reordering"),
        };
        let loss = match self.loss {
            Loss::None => String::new(),
            Loss::Random(share) => format!(", loss {share}"),
            Loss::Bursts(share) => format!(", loss {share} in bursts"),
        };
        let Self { name, delay_ms, queue_kb, rate, .. } = self;
        let rate = rate.parameters();
        format!("{name} {rate}, {delay_ms} ms{jitter}{loss}, queue {queue_kb} kB")
    }
}

impl PathRate {
    /// The rate, if it is always the same.
    pub(super) const fn constant(&self) -> Option<f64> {
        match self {
            Self::Constant(mbit_s) => Some(*mbit_s),
            _ => None,
        }
    }

    fn write(&self, text: &mut String) {
        let _ = match self {
            Self::Constant(mbit_s) => writeln!(text, "rate = \"{mbit_s} Mbit/s\""),
            Self::Blocked { mbit_s, low_mbit_s, from_ms, until_ms } => writeln!(
                text,
                "rate = \"{mbit_s} Mbit/s\"\nrate_schedule = [\n    \
                 {{ at = \"{from_ms} ms\", rate = \"{low_mbit_s} Mbit/s\" }},\n    \
                 {{ at = \"{until_ms} ms\", rate = \"{mbit_s} Mbit/s\" }},\n]"
            ),
            Self::Generated { preset, mean_mbit_s, seed } => writeln!(
                text,
                "generate = {{ preset = \"{preset}\", mean = \"{mean_mbit_s} Mbit/s\", \
                 duration = \"60 s\", seed = {seed} }}"
            ),
            Self::Handover { start_m, km_h, spacing_m, interruption_ms, users, seed } => writeln!(
                text,
                "recovery = \"lte\"\n[path.radio]\nkind = \"walk\"\ncell = \"lte\"\n\
                 start = \"{start_m} m\"\nspeed = \"{km_h} km/h\"\nspacing = \"{spacing_m} m\"\n\
                 aside = \"40 m\"\nsight = \"los\"\nseed = {seed}\nhandover = {{ time_to_trigger = \
                 \"160 ms\", interruption = \"{interruption_ms} ms\" }}\n\
                 load = {{ mean_users = {users}, mean_stay = \"4 s\" }}\n\
                 [path.up]\nrate = \"20 Mbit/s\""
            ),
        };
    }

    fn parameters(&self) -> String {
        match self {
            Self::Constant(mbit_s) => format!("{mbit_s} Mbit/s"),
            Self::Blocked { mbit_s, low_mbit_s, from_ms, until_ms } => {
                format!("{mbit_s} Mbit/s but {low_mbit_s} from {from_ms} to {until_ms} ms")
            }
            Self::Generated { preset, mean_mbit_s, .. } => format!("{preset} {mean_mbit_s} Mbit/s"),
            Self::Handover { km_h, spacing_m, .. } => {
                format!("handover at {km_h} km/h every {spacing_m} m")
            }
        }
    }
}
