//! Programs whose TCP sockets are Multipath TCP by a congestion control.
//!
//! The program runs under a filter of system calls (seccomp(2)) that every process which it starts
//! inherits: `socket()` for TCP is held up and told to the supervisor, which makes a socket of
//! Multipath TCP in place of it, gives it the congestion control, and hands it over. All other
//! calls, and sockets of all other kinds, pass at the cost of the filter. So it works for programs
//! that are linked statically too, and needs no library in them.
//!
//! The socket is made in the network namespace of the process that asks, and belongs to its user.

mod process;
mod seccomp;
mod signals;
mod socket;

use nix::sys::signal::SigSet;
use process::Main;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use seccomp::Listener;
use signals::{Arrived, Signals};
use socket::Maker;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};
use std::thread;

/// Why a program was not run.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// No socket of Multipath TCP can be made, or none with the congestion control.
    #[error(
        "the kernel does not make a socket of Multipath TCP with congestion control {control}: \
         {error} (is net.mptcp.enabled 1?)"
    )]
    Socket {
        /// The congestion control in the kernel.
        control: String,
        /// What the kernel says.
        error: io::Error,
    },
    /// The kernel does not take the filter.
    #[error(
        "system calls of the program cannot be supervised: {0} (seccomp(2); Linux 5.19 has it)"
    )]
    Filter(io::Error),
    /// The program cannot be started.
    #[error("cannot run {}: {error}", program.display())]
    Start {
        /// The program.
        program: OsString,
        /// What the kernel says.
        error: io::Error,
    },
    /// The supervisor cannot go on.
    #[error("the program cannot be supervised any more: {0}")]
    Wait(io::Error),
}

/// What happens while a program runs.
#[derive(Debug)]
pub enum Event {
    /// For the first time, a socket was left to be one of TCP, for this reason.
    PlainTcp(io::Error),
    /// The program has ended, and processes that it has started have not.
    Others,
}

/// Runs a program with its TCP sockets in Multipath TCP by a congestion control (its name in the
/// kernel), and waits for its end and that of all processes that it has started. Signals that are
/// sent to this process are passed on to the program. Needs root.
///
/// Must be called while this process has one thread: signals are blocked in it meanwhile.
///
/// # Errors
/// When the program cannot be started.
pub fn run(
    command: Command,
    control: &str,
    mut tell: impl FnMut(Event) + Send,
) -> Result<ExitStatus, SuperviseError> {
    let failed = |error| SuperviseError::Socket { control: control.to_owned(), error };
    let maker = Maker::new(control).map_err(failed)?;
    let signals = Signals::block().map_err(SuperviseError::Wait)?;
    let (main, listener) = start(command, signals.before())?;
    // The thread moves between network namespaces.
    let supervise = || Supervisor { main, listener, signals: &signals, maker }.run(&mut tell);
    let status = thread::scope(|scope| scope.spawn(supervise).join());
    status.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(SuperviseError::Wait)
}

/// Starts the program from a thread that has the filter, which so needs it alone.
fn start(command: Command, signals: SigSet) -> Result<(Main, Listener), SuperviseError> {
    let start = move || {
        let listener = Listener::install().map_err(SuperviseError::Filter)?;
        let program = command.get_program().to_owned();
        let main = Main::start(command, signals);
        Ok((main.map_err(|error| SuperviseError::Start { program, error })?, listener))
    };
    let started = thread::scope(|scope| scope.spawn(start).join());
    started.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct Supervisor<'a> {
    main: Main,
    listener: Listener,
    signals: &'a Signals,
    maker: Maker,
}

impl Supervisor<'_> {
    /// Until nobody is left.
    fn run(mut self, tell: &mut impl FnMut(Event)) -> io::Result<ExitStatus> {
        let mut ended = None;
        loop {
            let ready = self.wait(ended.is_none())?;
            if ready.signal && self.signal(ended.is_some())? {
                break;
            }
            if ready.call {
                self.answer(tell)?;
            }
            if ready.end {
                ended = Some(self.main.status()?);
                if !self.listener.is_abandoned()? {
                    tell(Event::Others);
                }
            }
            if ended.is_some() && ready.abandoned {
                break;
            }
        }
        ended.map_or_else(|| self.main.status(), Ok)
    }

    /// Until something has happened.
    fn wait(&self, main_runs: bool) -> io::Result<Ready> {
        let mut of = vec![
            PollFd::new(&self.listener, PollFlags::IN),
            PollFd::new(self.signals, PollFlags::IN),
        ];
        if main_runs {
            of.push(PollFd::new(&self.main, PollFlags::IN));
        }
        match poll(&mut of, None) {
            Err(Errno::INTR) => return Ok(Ready::default()),
            polled => polled?,
        };
        Ok(Ready {
            call: of[0].revents().contains(PollFlags::IN),
            abandoned: of[0].revents().contains(PollFlags::HUP),
            signal: !of[1].revents().is_empty(),
            end: of.get(2).is_some_and(|main| !main.revents().is_empty()),
        })
    }

    /// Passes a signal on. Whether it is for this process: the program has ended, others have not.
    fn signal(&self, ended: bool) -> io::Result<bool> {
        match self.signals.next()? {
            Some(Arrived { signal, .. }) if ended => Ok(signals::ends(signal)),
            // What a terminal sends, the program has had.
            Some(Arrived { signal, sent_by_process: true }) => {
                self.main.send(signal)?;
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn answer(&mut self, tell: &mut impl FnMut(Event)) -> io::Result<()> {
        let Some(call) = self.listener.next()? else { return Ok(()) };
        match self.maker.make(&call) {
            Ok(socket) => self.listener.hand_over(&call, &socket),
            Err(error) => {
                // Its process may be gone, which is no reason.
                if self.listener.is_waiting(&call) && self.maker.is_first_failure() {
                    tell(Event::PlainTcp(error));
                }
                self.listener.let_pass(&call)
            }
        }
    }
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    /// A call is held up.
    call: bool,
    /// No process has the filter any more.
    abandoned: bool,
    signal: bool,
    /// The program has ended.
    end: bool,
}
