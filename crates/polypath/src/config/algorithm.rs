//! The names of algorithms as values of a flag.

use clap::builder::PossibleValuesParser;
use polypath_core::registry::{self, Kind};

/// The names of every algorithm of `kind`, from the registry, as the allowed values of a flag.
pub fn names_of(kind: Kind) -> PossibleValuesParser {
    registry::all().into_iter().filter(|row| row.kind == kind).map(|row| row.name).into()
}
