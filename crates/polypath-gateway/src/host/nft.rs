//! nft(8) as a child process.

use std::io;
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::NftError;
use crate::plan::{Plan, Table, removal};

/// The program: it is searched for like any other, and then where it is, which users who are not
/// logged in as root do not search.
const PROGRAM: [&str; 3] = ["nft", "/usr/sbin/nft", "/sbin/nft"];

/// Sets a table, in place of an older one, in one transaction.
pub(super) async fn set(table: &Table) -> Result<(), NftError> {
    transaction(&table.to_string()).await
}

/// Removes a table, if it is there.
pub(super) async fn remove(table: &str) -> Result<(), NftError> {
    transaction(&removal(table)).await
}

/// Those of our tables that are there.
pub(super) async fn tables() -> Result<Vec<&'static str>, NftError> {
    let listed = run(&PROGRAM, &["list", "tables", "inet"], "").await?;
    let is_there = |table: &&str| listed.lines().any(|line| line == format!("table inet {table}"));
    Ok(Plan::TABLES.into_iter().filter(is_there).collect())
}

async fn transaction(text: &str) -> Result<(), NftError> {
    run(&PROGRAM, &["-f", "-"], text).await.map(drop)
}

/// Runs the first of these programs that is there.
async fn run(programs: &[&str], arguments: &[&str], input: &str) -> Result<String, NftError> {
    let mut child = spawn(programs, arguments)?;
    let mut stdin =
        child.stdin.take().ok_or_else(|| NftError::Run(io::Error::other("no stdin")))?;
    // If it stops reading, its output says why.
    let fed = async move { stdin.write_all(input.as_bytes()).await };
    let (_, output) = tokio::join!(fed, child.wait_with_output());
    let output = output.map_err(NftError::Run)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(NftError::Refused { command: arguments.join(" "), message: message(&output) })
}

fn spawn(programs: &[&str], arguments: &[&str]) -> Result<Child, NftError> {
    for program in programs {
        let mut command = Command::new(program);
        command.args(arguments).env("LC_ALL", "C").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            spawned => return spawned.map_err(NftError::Run),
        }
    }
    Err(NftError::Missing)
}

fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    if text.is_empty() { output.status.to_string() } else { text.replace('\n', "; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_missing_is_told_with_its_package() {
        let error = run(&["polypath-no-such-program"], &[], "").await.unwrap_err();
        let told = "the program `nft` is not there: install the package nftables";
        assert_eq!(error.to_string(), told);
    }

    #[tokio::test]
    async fn what_a_program_said_is_told() {
        let script = ["-c", "read line; echo \"no $line\" >&2; exit 3"];
        let error = run(&["no-such-program", "sh"], &script, "tables\n").await.unwrap_err();
        let NftError::Refused { message, .. } = error else { panic!("{error}") };
        assert_eq!(message, "no tables");
    }
}
