//! iproute2 as child processes.

use super::error::IpError;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

/// Runs `ip`. The child keeps `lock` open, so that who waits for the lock waits for the child too,
/// should this process be killed meanwhile.
pub(super) fn run(arguments: &[&str], lock: Option<&File>) -> Result<String, IpError> {
    let command = || format!("ip {}", arguments.join(" "));
    let stdin = match lock {
        Some(lock) => lock.try_clone().map(Stdio::from),
        None => Ok(Stdio::null()),
    };
    let output = stdin.and_then(|stdin| ip().args(arguments).stdin(stdin).output());
    let output = output.map_err(|error| not_run(command(), error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(IpError::Failed { command: command(), message: message(&output) })
}

/// Runs these lines in a namespace, with these options, up to the first that fails.
pub(super) fn batch(namespace: &str, options: &[&str], lines: &[String]) -> Result<(), IpError> {
    if lines.is_empty() {
        return Ok(());
    }
    let arguments = [&["-n", namespace], options].concat();
    let command = |line: &str| format!("ip {} {line}", arguments.join(" "));
    let output = feed(&arguments, lines).map_err(|error| not_run(command("-batch -"), error))?;
    if output.status.success() {
        return Ok(());
    }
    let message = message(&output);
    let line = failed_line(&message).and_then(|number| lines.get(number - 1));
    let line = line.map_or("-batch -", String::as_str);
    Err(IpError::Failed { command: command(line), message })
}

fn feed(arguments: &[&str], lines: &[String]) -> io::Result<Output> {
    let mut child = ip()
        .args(arguments)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut text = lines.join("\n");
    text.push('\n');
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    match written {
        // It stopped reading at an error, which its output tells.
        Err(error) if output.status.success() => Err(error),
        _ => Ok(output),
    }
}

fn ip() -> Command {
    let mut command = Command::new("ip");
    command.env("LC_ALL", "C");
    command
}

fn not_run(command: String, error: io::Error) -> IpError {
    match error.kind() {
        io::ErrorKind::NotFound => IpError::Missing,
        _ => IpError::Run { command, error },
    }
}

fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    if text.is_empty() { output.status.to_string() } else { text.replace('\n', "; ") }
}

/// The number of the line in `Command failed -:3`.
fn failed_line(message: &str) -> Option<usize> {
    let (_, number) = message.rsplit_once("Command failed -:")?;
    number.parse().ok().filter(|&number| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_failed_is_known() {
        let message = "RTNETLINK answers: File exists; Command failed -:12";
        assert_eq!(failed_line(message), Some(12));
        assert_eq!(failed_line("Command failed -:0"), None);
        assert_eq!(failed_line("no such thing"), None);
    }
}
