//! What is done to hub and edge, one thing after the other; some of it goes on for a few rounds.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::park_timeout;
use std::time::Duration;

use super::dice::Dice;
use super::disturbances::Disturbance::{
    BothPathsFlap, DiskFull, EdgeKilled, HubKilled, Outage, SenderKilled,
};
use super::disturbances::Disturbances;
use super::stage::{IDLE_TIMEOUT, Stage};
use super::transfers::Sender;
use crate::stalled_clients::{endless_upload, stalled};
use crate::strangers::Flood;

/// One thing that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abuse {
    StalledDownloads,
    StalledUploads,
    StrangersOfOneAddress,
    StrangersOfManyAddresses,
    KillHub,
    KillEdge,
    KillSender,
    FullDisk,
    FlapOnePath,
    FlapBothPaths,
    Outage,
}

impl Abuse {
    pub(super) const ALL: [Self; 11] = [
        Self::StalledDownloads,
        Self::StalledUploads,
        Self::StrangersOfOneAddress,
        Self::StrangersOfManyAddresses,
        Self::KillHub,
        Self::KillEdge,
        Self::KillSender,
        Self::FullDisk,
        Self::FlapOnePath,
        Self::FlapBothPaths,
        Self::Outage,
    ];
}

/// Six clients that want 8 MB each, of which sockets hold up to 4 MB: the rest is more than the
/// three receive buffers that the edge has for what nobody reads.
const STALLED: usize = 6;
const STALLED_BYTES: &str = "8000000";
/// Strangers of a flood, of two threads that rest 5 ms behind each: some 300 in a second.
const STRANGERS: u32 = 600;
const BEHIND_STRANGER: Duration = Duration::from_millis(5);
/// How long a path is silent, and then works, each at least, and up to three times that.
const FLAP: Duration = Duration::from_millis(400);
/// Rounds that things may last: none longer, so that each cycle has its own.
const LAST: u64 = 3;

/// What goes on beside other rounds.
enum Lasting {
    Stalled(Stalled),
    Strangers(Flood),
    FullDisk,
}

/// Clients that have stopped reading, or send to targets that have.
struct Stalled {
    clients: Vec<TcpStream>,
    _targets: Vec<TcpStream>,
}

impl Drop for Stalled {
    fn drop(&mut self) {
        for client in &self.clients {
            // Its edge may have been killed.
            let _ = client.shutdown(Shutdown::Both);
        }
    }
}

pub(super) struct Rounds<'a> {
    pub(super) stage: Stage<'a>,
    disturbances: &'a Disturbances,
    pub(super) dice: Dice,
    lasting: Vec<(u64, Lasting)>,
    strangers: u32,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(stage: Stage<'a>, disturbances: &'a Disturbances, dice: Dice) -> Self {
        Self { stage, disturbances, dice, lasting: Vec::new(), strangers: 0 }
    }

    /// Does it. Returns what there is to say of it.
    pub(super) fn play(&mut self, abuse: Abuse, sender: &Sender) -> String {
        self.end_what_has_lasted();
        match abuse {
            Abuse::StalledDownloads => self.stall_downloads(),
            Abuse::StalledUploads => self.stall_uploads(),
            Abuse::StrangersOfOneAddress => self.strangers(1),
            Abuse::StrangersOfManyAddresses => self.strangers(4_096),
            Abuse::KillHub => return self.kill_hub(),
            Abuse::KillEdge => self.kill_edge(),
            Abuse::KillSender => self.kill_sender(sender),
            Abuse::FullDisk => self.fill_disk(),
            Abuse::FlapOnePath => {
                let path = self.dice.below(2) as usize;
                self.flap(&[path]);
            }
            Abuse::FlapBothPaths => {
                self.disturbances.begin(BothPathsFlap);
                self.flap(&[0, 1]);
                self.disturbances.end(BothPathsFlap);
            }
            Abuse::Outage => return self.outage(),
        }
        String::new()
    }

    fn last(&mut self, what: Lasting) {
        let rounds = 1 + self.dice.below(LAST);
        self.lasting.push((rounds, what));
    }

    fn end_what_has_lasted(&mut self) {
        for (rounds, what) in std::mem::take(&mut self.lasting) {
            match rounds {
                0 => self.end(what),
                more => self.lasting.push((more - 1, what)),
            }
        }
    }

    pub(super) fn end_all(&mut self) {
        std::mem::take(&mut self.lasting).into_iter().for_each(|(_, what)| self.end(what));
    }

    fn end(&self, what: Lasting) {
        match what {
            Lasting::Stalled(clients) => drop(clients),
            Lasting::Strangers(flood) => _ = flood.stop(),
            Lasting::FullDisk => {
                self.stage.disk.free();
                self.disturbances.end(DiskFull);
            }
        }
    }

    fn stall_downloads(&mut self) {
        let (http, url) = (self.stage.http(), self.stage.server.url(STALLED_BYTES));
        let clients = (0..STALLED).map(|_| stalled(&http, &url)).collect();
        self.last(Lasting::Stalled(Stalled { clients, _targets: Vec::new() }));
    }

    fn stall_uploads(&mut self) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (http, target) = (self.stage.http(), listener.local_addr().unwrap().to_string());
        let both = (0..STALLED).map(|_| {
            let client = endless_upload(&http, &target);
            (client, listener.accept().unwrap().0)
        });
        let (clients, targets) = both.unzip();
        self.last(Lasting::Stalled(Stalled { clients, _targets: targets }));
    }

    fn strangers(&mut self, addresses: u32) {
        // Others than before, whom the hub may still know.
        let numbers = self.strangers..self.strangers + STRANGERS;
        self.strangers = numbers.end;
        let hub = self.stage.hub_address();
        let flood = Flood::paced(hub, addresses, numbers, BEHIND_STRANGER);
        self.last(Lasting::Strangers(flood));
    }

    fn kill_hub(&mut self) -> String {
        self.disturbances.begin(HubKilled);
        self.stage.kill_hub();
        let time = self.stage.comes_back();
        self.disturbances.end(HubKilled);
        format!("worked again {:.1} s after its start", time.as_secs_f64())
    }

    fn kill_edge(&mut self) {
        self.disturbances.begin(EdgeKilled);
        self.stage.kill_edge();
        self.disturbances.end(EdgeKilled);
    }

    /// Soon after one has begun: most of them take about as long.
    fn kill_sender(&mut self, sender: &Sender) {
        self.disturbances.begin(SenderKilled);
        while !sender.runs() {
            park_timeout(Duration::from_millis(20));
        }
        park_timeout(self.dice.up_to(FLAP));
        sender.kill();
        self.disturbances.end(SenderKilled);
    }

    /// A disk that is full already stays so until its time is over.
    fn fill_disk(&mut self) {
        if self.lasting.iter().any(|(_, what)| matches!(what, Lasting::FullDisk)) {
            return;
        }
        self.disturbances.begin(DiskFull);
        self.stage.disk.fill();
        self.last(Lasting::FullDisk);
    }

    fn flap(&mut self, paths: &[usize]) {
        for _ in 0..2 {
            for down in [true, false] {
                paths.iter().for_each(|&path| self.stage.set_down(path, down));
                park_timeout(FLAP + self.dice.up_to(2 * FLAP));
            }
        }
    }

    fn outage(&self) -> String {
        self.disturbances.begin(Outage);
        (0..2).for_each(|path| self.stage.set_down(path, true));
        park_timeout(IDLE_TIMEOUT + IDLE_TIMEOUT / 2);
        (0..2).for_each(|path| self.stage.set_down(path, false));
        let time = self.stage.comes_back();
        self.disturbances.end(Outage);
        format!("worked again {:.1} s behind it", time.as_secs_f64())
    }
}
