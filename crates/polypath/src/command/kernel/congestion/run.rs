//! `polypath kernel run`: a program whose TCP sockets are Multipath TCP by a congestion control.

use crate::command::kernel::actions::RunArgs;
use crate::output;
use polypath_kernel::supervise::{self, Event, SuperviseError};
use polypath_kernel::{Pins, Wanted};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

/// Runs the program, and ends with its exit code.
pub(super) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let RunArgs { congestion, slow_start, uncoupled, command } = args;
    let wanted = Wanted { congestion, slow_start, coupled: uncoupled.then_some(false) };
    let held = Pins::default().hold(wanted)?;
    let [program, arguments @ ..] = command.as_slice() else { unreachable!("clap asks for it") };
    let mut command = Command::new(program);
    command.args(arguments);
    let ended = supervise::run(command, held.pinned.row.kernel_name, tell);
    let released = held.release();
    let code = match ended {
        Ok(status) => exit_code(status),
        Err(error @ SuperviseError::Start { .. }) => {
            output::tell(&format!("error: {error}\n"));
            not_started(&error)
        }
        Err(error) => return Err(error.into()),
    };
    released?;
    Ok(code)
}

fn tell(event: Event) {
    output::tell(&match event {
        Event::PlainTcp(error) => format!(
            "note: the program has sockets of TCP, as the kernel did not make one of \
             Multipath TCP with the congestion control: {error}\n"
        ),
        Event::Others => "note: the program has ended, and processes that it has started go \
                          on: waiting for them\n"
            .to_owned(),
    });
}

/// As shells tell it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// As env(1) tells it: 127 if there is no such program, 126 if it cannot be run.
fn not_started(error: &SuperviseError) -> ExitCode {
    let missing = matches!(error, SuperviseError::Start { error, .. }
        if error.kind() == ErrorKind::NotFound);
    ExitCode::from(if missing { 127 } else { 126 })
}
