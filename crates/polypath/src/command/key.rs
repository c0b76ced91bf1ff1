//! `polypath key`: makes and shows the identity of a node.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use polypath_bond::identity::SecretKey;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::config::{NoHome, config_file, create_key_file, load_key_file};
use crate::output;

/// Make a secret key and print its public key.
///
/// The secret key stays in its file; the public key is what goes into the list of allowed keys of
/// a hub. An existing file is never overwritten.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// Where to write the new secret key [default: ~/.config/polypath/key]
    #[arg(long, value_name = "FILE", conflicts_with = "show")]
    out: Option<PathBuf>,
    /// Print the public key of the secret key in this file, and make none
    #[arg(long, value_name = "FILE")]
    show: Option<PathBuf>,
}

/// What `polypath key` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOptions {
    /// Make a key in this new file.
    Make(PathBuf),
    /// Show the public key of this file.
    Show(PathBuf),
}

impl TryFrom<KeyArgs> for KeyOptions {
    type Error = NoHome;

    fn try_from(args: KeyArgs) -> Result<Self, NoHome> {
        match (args.show, args.out) {
            (Some(file), _) => Ok(Self::Show(file)),
            (None, Some(file)) => Ok(Self::Make(file)),
            (None, None) => config_file("key").map(Self::Make),
        }
    }
}

/// Makes or shows a key; prints the public key alone, so that it can be piped.
///
/// # Errors
/// When the file exists or cannot be written, or holds no key.
pub fn run(options: KeyOptions) -> anyhow::Result<ExitCode> {
    let secret = match options {
        KeyOptions::Show(file) => load_key_file(&file)?,
        KeyOptions::Make(file) => {
            let secret = generate()?;
            create_key_file(&file, &secret)?;
            secret
        }
    };
    output::print(&format!("{}\n", secret.public()))?;
    Ok(ExitCode::SUCCESS)
}

/// A new key.
pub(super) fn generate() -> anyhow::Result<SecretKey> {
    let mut seed = Zeroizing::new([0; 32]);
    SystemRandom::new()
        .fill(&mut *seed)
        .map_err(|_| anyhow!("the operating system gives no random numbers"))?;
    Ok(SecretKey::from_seed(*seed))
}
