//! The keys of trace files.

use super::declare::{Readable, Shape, TextForm, keys};
use polypath_config::{DocumentError, Value};
use polypath_link::trace::{Columns, RateChoice, TimeChoice};

const TIME: TextForm = TextForm {
    name: "column of times",
    what: "a column such as \"Timestamp in ms\" (NAME, NAME in UNIT, in UNIT, or every TIME)",
    pattern: "\\S",
};
const RATE: TextForm = TextForm {
    name: "column of rates",
    what: "a column such as \"DL_bitrate in kbit/s\" (NAME, NAME in UNIT, in UNIT)",
    pattern: "\\S",
};

keys! {
    /// A trace file with what it does not say itself.
    struct TraceFileKeys {
        /// The file, relative to this one.
        file: String;
        /// The column of the times, by its name or its number from 1, and its unit: `"Timestamp"`,
        /// `"1 in ms"`, `"in ms"`; or how far the lines are apart: `"every 1 s"`.
        time: Option<TimeChoice>;
        /// The column of the rates, by its name or its number from 1, and its unit:
        /// `"DL_bitrate in kbit/s"`, `"2 in Mbit/s"`, `"in Mbit/s"`; `"5 in B"` for bytes since the
        /// line before.
        rate: Option<RateChoice>;
    }
}

/// What the key `trace` says.
#[derive(Clone, Debug)]
pub(super) struct TraceFile {
    pub(super) file: String,
    pub(super) columns: Columns,
}

impl Readable for TraceFile {
    fn shape() -> Shape {
        Shape::OneOf(vec![String::shape(), TraceFileKeys::shape()])
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        if value.is_table() {
            let TraceFileKeys { file, time, rate } = TraceFileKeys::read(value)?;
            return Ok(Self { file, columns: Columns { time, rate } });
        }
        Ok(Self { file: String::read(value)?, columns: Columns::default() })
    }
}

impl Readable for TimeChoice {
    fn shape() -> Shape {
        Shape::Text(&TIME)
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.parse_with(str::parse)
    }
}

impl Readable for RateChoice {
    fn shape() -> Shape {
        Shape::Text(&RATE)
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.parse_with(str::parse)
    }
}
