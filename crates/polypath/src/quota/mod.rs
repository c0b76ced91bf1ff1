//! How much a path may carry in a day or a month, as operators bill it.
//!
//! - `spec` is what the user writes, `period` when days and billing months begin.
//! - `account` adds up what a path has carried in its period. Like the two it knows no clock.
//! - `file` keeps the counts over restarts.
//! - `keeper` counts while an edge runs, and makes a path that has used its quota up a backup.

mod account;
mod file;
mod keeper;
mod period;
mod spec;

pub use file::QuotaFileError;
pub(crate) use keeper::Quotas;
pub use period::Period;
pub use spec::{ParseQuotaError, Quota};
