//! Writes man pages and shell completions of `polypath`, from the definitions of its options:
//! `cargo run -p polypath-pages -- FOLDER`.
//!
//! A crate of its own that only packaging runs, so that what is installed stays as small as it is.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use polypath::command::Cli;

/// The shells that packages have completions for.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

/// The command line with all that clap adds to it, but the `help` commands: each has `--help`.
fn command_line() -> Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// The command, its subcommands and theirs, each of which has a page.
fn commands(root: &Command) -> Vec<&Command> {
    let below = root.get_subcommands().flat_map(commands);
    [root].into_iter().chain(below).collect()
}

fn write(folder: &Path) -> io::Result<()> {
    let [pages, completions] = ["man", "completions"].map(|name| folder.join(name));
    fs::create_dir_all(&pages)?;
    fs::create_dir_all(&completions)?;
    let root = command_line();
    for command in commands(&root) {
        let source = concat!("polypath ", env!("CARGO_PKG_VERSION"));
        let page = Man::new(command.clone()).source(source).manual("Polypath");
        page.generate_to(&pages)?;
    }
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut Cli::command(), "polypath", &completions)?;
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: polypath-pages FOLDER");
        return ExitCode::from(2);
    };
    match write(folder.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write into {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;
    use std::path::PathBuf;
    use std::process;

    fn written() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        folder
    }

    fn names(folder: PathBuf) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What a reader of the page sees: no requests, fonts and escapes, and one space between words.
    fn text(page: &str) -> String {
        let lines = page.lines().filter(|line| !line.starts_with(['.', '\'']));
        let text = lines.collect::<Vec<_>>().join(" ");
        let escapes = [("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\&", ""), ("\\*(Aq", "'")];
        let escapes = escapes.into_iter().chain([("\\-", "-"), ("\\\\", "\\")]);
        words(&escapes.fold(text, |text, (escape, plain)| text.replace(escape, plain)))
    }

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// How a page begins to say of an option: its names and its value.
    fn heading(option: &Arg) -> String {
        let short = option.get_short().map(|short| format!("-{short}"));
        let long = option.get_long().map(|long| format!("--{long}"));
        let names: Vec<_> = short.into_iter().chain(long).collect();
        let value = option.get_value_names().filter(|_| option.get_action().takes_values());
        let value = value.map_or_else(String::new, |value| match option.is_require_equals_set() {
            // Of those here it may be left out.
            true => format!("[=<{}>]", value[0]),
            false => format!(" <{}>", value[0]),
        });
        format!("{}{value}", names.join(", "))
    }

    #[test]
    fn every_command_has_a_page_with_all_its_options_and_what_they_do() {
        let folder = written();
        let root = command_line();
        let mut pages = Vec::new();
        for command in commands(&root) {
            let page = format!("{}.1", command.get_display_name().unwrap_or(command.get_name()));
            let file = folder.path().join("man").join(&page);
            let said = text(&fs::read_to_string(file).unwrap());
            for option in command.get_arguments() {
                let help = option.get_long_help().or(option.get_help()).unwrap().to_string();
                let expected = format!("{} {}", heading(option), words(&help));
                assert!(said.contains(&expected), "{page} has no {expected:?}:\n{said}");
            }
            for subcommand in command.get_subcommands() {
                let reference = format!("{}(1)", subcommand.get_display_name().unwrap());
                assert!(said.contains(&reference), "{page} has no {reference}:\n{said}");
            }
            pages.push(page);
        }
        pages.sort();
        assert!(pages.len() > 5, "{pages:?}");
        assert_eq!(names(folder.path().join("man")), pages, "and no page is of anything else");
    }

    #[test]
    fn every_shell_completes_every_command_and_option() {
        let folder = written();
        let files = ["_polypath", "polypath.bash", "polypath.fish"];
        assert_eq!(names(folder.path().join("completions")), files);
        let root = command_line();
        for file in files {
            let script = fs::read_to_string(folder.path().join("completions").join(file)).unwrap();
            // Fish has the bare name after `-l`.
            let before = if file.ends_with(".fish") { "-l " } else { "--" };
            for command in commands(&root) {
                assert!(script.contains(command.get_name()), "{file}: {}", command.get_name());
                for long in command.get_arguments().filter_map(Arg::get_long) {
                    assert!(script.contains(&format!("{before}{long}")), "{file}: {long}");
                }
            }
        }
    }

    #[test]
    fn bash_completes_what_is_typed() {
        let folder = written();
        let script = folder.path().join("completions/polypath.bash");
        let complete = |words: &[&str]| {
            let act = "source \"$0\"; COMP_WORDS=(polypath \"$@\"); COMP_CWORD=$#; \
                       _polypath polypath \"${!#}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
                       echo \"${COMPREPLY[*]}\"";
            let mut bash = process::Command::new("bash");
            let output = bash.arg("-c").arg(act).arg(&script).args(words).output().unwrap();
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
        };
        assert_eq!(complete(&["al"]), "algorithms");
        assert_eq!(complete(&["hub", "--adv"]), "--advertise");
        assert_eq!(complete(&["edge", "--idle"]), "--idle-timeout");
        assert_eq!(complete(&["hub", "--log", "j"]), "json");
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(write(&file).is_err());
    }
}
