//! What the user writes, in flags and in files: its types, and errors that say what is allowed.

mod algorithm;
mod allowed_keys;
mod credentials_file;
mod error;
mod file;
mod flags;
mod forward;
mod key_file;
mod listen;
mod location;
mod path_spec;
mod private_file;
mod seconds;
mod steering;
pub(crate) mod text;

pub use algorithm::AlgorithmParser;
pub use allowed_keys::AllowedKeys;
pub use credentials_file::CredentialsFileError;
pub(crate) use credentials_file::load_credentials_file;
pub use error::{Fault, UsageError};
pub use file::ConfigFile;
pub use flags::{FileBacked, given};
pub use forward::{Forward, ForwardProtocol, ParseForwardError};
pub use key_file::KeyFileError;
pub(crate) use key_file::{create_key_file, load_key_file};
pub use listen::{ListenAddress, ParseListenAddressError};
pub use location::NoHome;
pub(crate) use location::{absolute, config_file};
pub(crate) use path_spec::PATH_FORM;
pub use path_spec::{LocalEnd, ParsePathSpecError, PathSpec};
pub use private_file::PrivateFileError;
pub use seconds::{IdleTimeout, KeepAlive, PathTimeout, Seconds, SecondsError};
pub use steering::SteeringOptions;
pub(crate) use steering::read_policy;
