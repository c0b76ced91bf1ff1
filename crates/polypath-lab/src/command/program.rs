//! Which program is measured.

use std::path::{Path, PathBuf};

use anyhow::Context;

use polypath::config::UsageError;

/// The name of the product's program.
const NAME: &str = "polypath";
/// Beside the folder of a debug build, that of a release build.
const RELEASE: &str = "release";

/// The one that is named; or a release build beside this one; or the one beside this program.
pub(super) fn find(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        let there = named.canonicalize();
        return there.map_err(|error| {
            UsageError::new(format!("--program {}: {error}", named.display())).into()
        });
    }
    let own = std::env::current_exe().context("cannot find this program")?;
    let candidates = candidates(&own);
    candidates.iter().find(|file| file.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<_> = candidates.iter().map(|file| file.display().to_string()).collect();
        let looked = looked.join(", ");
        UsageError::new(format!("there is no program to measure; looked for: {looked}")).into()
    })
}

fn candidates(own: &Path) -> Vec<PathBuf> {
    let folder = own.parent();
    let release = folder.and_then(Path::parent).map(|target| target.join(RELEASE).join(NAME));
    release.into_iter().chain(folder.map(|folder| folder.join(NAME))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_build_comes_first() {
        let found = candidates(Path::new("/src/target/debug/polypath-lab"));
        let expected = ["/src/target/release/polypath", "/src/target/debug/polypath"];
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let error = find(Some(Path::new("/nowhere/polypath"))).unwrap_err();
        assert!(error.to_string().starts_with("--program /nowhere/polypath: "), "{error}");
    }
}
