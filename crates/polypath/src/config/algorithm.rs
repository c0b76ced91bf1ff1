//! Flags that choose an algorithm.

use core::marker::PhantomData;
use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use polypath_config::{Registered, parse_algorithm};
use polypath_core::registry::{self, Configured, Kind};

/// Reads the value of a flag; help shows the names.
#[derive(Clone, Debug)]
pub struct AlgorithmParser<K> {
    kind: Kind,
    parsed: PhantomData<fn() -> K>,
}

impl<K> AlgorithmParser<K> {
    /// Of algorithms of `kind`, which is that of `K`.
    pub const fn new(kind: Kind) -> Self {
        Self { kind, parsed: PhantomData }
    }
}

impl<K: Registered> TypedValueParser for AlgorithmParser<K> {
    type Value = Configured<K>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        flag: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let parse = |text: String| parse_algorithm::<K>(&text);
        StringValueParser::new().try_map(parse).parse_ref(command, flag, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let rows = registry::all().into_iter().filter(|row| row.kind == self.kind);
        Some(Box::new(rows.map(|row| PossibleValue::new(row.name))))
    }
}
