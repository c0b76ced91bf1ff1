//! Transfers of people who do nothing wrong, which go on all the time.

use std::fs::{self, File};
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, park_timeout};
use std::time::{Duration, Instant};

use super::dice::Dice;
use super::disturbances::Disturbance::{
    self, DiskFull, EdgeKilled, HubKilled, Outage, SenderKilled,
};
use super::disturbances::Disturbances;
use super::log::without_numbers;
use super::report::Report;
use crate::http::{content, sha256};
use crate::world::{World, curl, stderr, stdout};

/// What is transferred, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Send,
    SocksDownload,
    HttpDownload,
    SocksUpload,
    HttpUpload,
}

impl Kind {
    /// What may be the cause of a failure of which the user is told that.
    fn causes(self, why: &str) -> &'static [Disturbance] {
        match self {
            Self::Send if why.contains("the hub cannot store the file") => &[DiskFull],
            // It goes on when the hub is back, whatever was away.
            Self::Send => &[SenderKilled],
            _ => &[HubKilled, EdgeKilled, Outage],
        }
    }
}

/// An attempt that failed.
enum Failed {
    /// Something broke, and the user was told.
    Told(String),
    /// What no disturbance excuses: it never ended, or passed for whole and was not.
    Wrong(String),
}

/// No disturbance lasts for a fifth of that, nor does any transfer without one: as curl's limit.
const HANGS: Duration = Duration::from_secs(120);
/// How often it is looked whether a sender has ended: whoever kills it needs it meanwhile.
const LOOK: Duration = Duration::from_millis(20);
/// Pauses between the transfers of a thread, and before one is repeated. A relay serves 64 clients
/// on a path and forgets one after 120 s, and each sender is one: 60 in that time, if each fails.
const SENDER_RESTS: Duration = Duration::from_secs(2);
const CLIENT_RESTS: Duration = Duration::from_millis(500);

/// More is not written down: what is wrong is plain by then.
const MOST_LOST: usize = 20;

/// What the transfers share.
pub(super) struct Traffic<'a> {
    pub(super) world: &'a World,
    /// The arguments by which senders reach the hub.
    pub(super) bond: Vec<String>,
    /// Where the test sees the inbox.
    pub(super) inbox: String,
    /// The base of URLs of the server.
    pub(super) server: String,
    pub(super) socks: String,
    pub(super) http: String,
    pub(super) disturbances: &'a Disturbances,
    pub(super) report: &'a Report,
    pub(super) sender: Sender,
    /// No transfer begins any more.
    pub(super) stop: AtomicBool,
    /// None is tried again either: what broke it may not end.
    pub(super) given_up: AtomicBool,
    /// Of a file; half of it is the most of what passes the proxies.
    pub(super) most_bytes: u64,
}

/// The sender that runs now.
#[derive(Default)]
pub(super) struct Sender(Mutex<Option<Child>>);

impl Sender {
    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runs(&self) -> bool {
        self.lock().is_some()
    }

    /// Kills it, if there is one.
    pub(super) fn kill(&self) {
        if let Some(child) = self.lock().as_mut() {
            child.kill().unwrap();
        }
    }
}

impl Traffic<'_> {
    /// Lets them go on beside the caller until it says stop; each ends with its transfer.
    pub(super) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, seed: u64) {
        let [socks, http] = [["--socks5-hostname", &self.socks], ["-x", &self.http]];
        scope.spawn(move || self.send_files(seed + 1));
        let kinds = [Kind::SocksDownload, Kind::SocksUpload];
        scope.spawn(move || self.use_proxy(socks, kinds, seed + 2));
        let kinds = [Kind::HttpDownload, Kind::HttpUpload];
        scope.spawn(move || self.use_proxy(http, kinds, seed + 3));
    }

    /// One file after the other, as long as nobody says stop.
    fn send_files(&self, seed: u64) {
        let mut dice = Dice::new(seed);
        for number in 0_usize.. {
            if self.ends() {
                return;
            }
            // No two files have the same content.
            let size = 1 + dice.below(self.most_bytes) as usize;
            let bytes = content(size + number).split_off(number);
            let file = self.world.file(&format!("{number}.bin"), &bytes);
            self.until_whole(Kind::Send, SENDER_RESTS, || self.send(&file, number, &bytes));
            fs::remove_file(file).unwrap();
            park_timeout(SENDER_RESTS + dice.up_to(SENDER_RESTS));
        }
    }

    /// Downloads and uploads in turn through one of the proxies.
    fn use_proxy(&self, proxy: [&str; 2], kinds: [Kind; 2], seed: u64) {
        let mut dice = Dice::new(seed);
        for number in 0_usize.. {
            if self.ends() {
                return;
            }
            let size = 1 + dice.below(self.most_bytes / 2) as usize;
            let up = number % 4 == 3;
            let attempt = || if up { self.upload(proxy, size) } else { self.download(proxy, size) };
            self.until_whole(kinds[usize::from(up)], CLIENT_RESTS, attempt);
            park_timeout(CLIENT_RESTS + dice.up_to(CLIENT_RESTS * 3));
        }
    }

    fn ends(&self) -> bool {
        self.stop.load(Relaxed) || self.has_given_up()
    }

    fn has_given_up(&self) -> bool {
        self.given_up.load(Relaxed) || self.report.contents().lost.len() >= MOST_LOST
    }

    /// Tries until it has succeeded. What fails without a cause is lost, and tried again
    /// nevertheless.
    fn until_whole(&self, kind: Kind, rest: Duration, attempt: impl Fn() -> Result<(), Failed>) {
        while !self.has_given_up() {
            let before = self.disturbances.history();
            let failed = match attempt() {
                Ok(()) => return self.report.arrived(kind),
                Err(failed) => failed,
            };
            let now = self.disturbances.history();
            match failed {
                Failed::Told(why) => match before.cause(&now, kind.causes(&why)) {
                    Some(cause) => self.report.repeated(kind, cause, &without_numbers(&why)),
                    None => self.report.lost(kind, &why),
                },
                Failed::Wrong(why) => self.report.lost(kind, &why),
            }
            park_timeout(rest);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "against hanging only")]
    fn send(&self, file: &str, number: usize, bytes: &[u8]) -> Result<(), Failed> {
        let (start, errors) = (Instant::now(), self.world.path("send.log"));
        let bond: Vec<&str> = self.bond.iter().map(String::as_str).collect();
        let mut command = self.world.command(&[&["send", file][..], &bond].concat());
        command.stdout(std::process::Stdio::null()).stderr(File::create(&errors).unwrap());
        *self.sender.lock() = Some(command.spawn().unwrap());
        let ended = loop {
            let tried = self.sender.lock().as_mut().unwrap().try_wait().unwrap();
            if tried.is_some() || start.elapsed() > HANGS {
                break tried;
            }
            park_timeout(LOOK);
        };
        let child = self.sender.lock().take();
        let Some(status) = ended else {
            let mut child = child.unwrap();
            let _ = child.kill().and_then(|()| child.wait());
            return Err(Failed::Wrong(format!("no end; {}", fs::read_to_string(errors).unwrap())));
        };
        if !status.success() {
            let said = fs::read_to_string(errors).unwrap();
            let said = said.lines().rfind(|line| line.starts_with("error")).unwrap_or_default();
            return Err(Failed::Told(format!("{status}: {said}")));
        }
        // What is taken out of the inbox makes room.
        let stored = format!("{}/{number}.bin", self.inbox);
        let whole = fs::read(&stored).is_ok_and(|stored| stored == bytes);
        let _ = fs::remove_file(&stored);
        if whole { Ok(()) } else { Err(Failed::Wrong(format!("{stored} is not as it was sent"))) }
    }

    fn download(&self, proxy: [&str; 2], size: usize) -> Result<(), Failed> {
        let got = curl(&[&proxy, &["--fail", &format!("{}{size}", self.server)]]);
        ended_well(&got)?;
        same(&sha256(&got.stdout), &content(size))
    }

    fn upload(&self, proxy: [&str; 2], size: usize) -> Result<(), Failed> {
        let body = content(size);
        let file = self.world.file(&format!("{}.up", proxy[1]), &body);
        let put = curl(&[&proxy, &["--fail", "-T", &file, &format!("{}put", self.server)]]);
        ended_well(&put)?;
        same(stdout(&put), &body)
    }
}

fn ended_well(output: &Output) -> Result<(), Failed> {
    /// What curl says when its time is over.
    const TIMED_OUT: i32 = 28;
    let why = || format!("{}: {}", output.status, stderr(output).trim());
    match output.status.code() {
        Some(0) => Ok(()),
        Some(TIMED_OUT) => Err(Failed::Wrong(why())),
        _ => Err(Failed::Told(why())),
    }
}

fn same(digest: &str, expected: &[u8]) -> Result<(), Failed> {
    let expected_digest = sha256(expected);
    if digest == expected_digest {
        return Ok(());
    }
    let size = expected.len();
    Err(Failed::Wrong(format!("{size} bytes have the digest {digest}, not {expected_digest}")))
}
