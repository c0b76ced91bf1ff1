//! Events as a Parquet file.

use super::{EventKind, EventRecord};
use crate::record::parquet::{self, WriteError};
use crate::tcp::{LossReason, UndoReason};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt8Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema, SchemaRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The numbers that belong to an event, those that it has.
#[derive(Default)]
struct Details {
    number: Option<u64>,
    bytes: Option<u64>,
    window: Option<u64>,
    count: Option<u64>,
    reason: Option<&'static str>,
}

/// Writes `events.parquet` into the [`run_directory`](crate::record::run_directory). A file that is
/// there is replaced. `names` are those of the connections.
///
/// # Errors
/// If the directory or the file cannot be written.
pub fn write(
    events: &[EventRecord],
    names: &[&str],
    directory: &Path,
    seed: u64,
) -> Result<PathBuf, WriteError> {
    parquet::write(directory, seed, "events", schema(), [batch(events, names)].into_iter())
}

/// The rows of that file.
///
/// # Errors
/// None that could happen: columns have the types of the schema, and a value for each event.
pub fn batch(events: &[EventRecord], names: &[&str]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(schema(), columns(events, names))
}

fn schema() -> SchemaRef {
    let field = |name: &str, data_type, nullable, notes: &[(&str, &str)]| {
        let notes = notes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Field::new(name, data_type, nullable).with_metadata(notes.collect::<Metadata>())
    };
    let what = |text: &'static str| [("description", text)];
    let counted = |unit: &'static str, text: &'static str| [("unit", unit), ("description", text)];
    use DataType::{Float64, UInt8, UInt64, Utf8};
    Arc::new(Schema::new(vec![
        field("time", Float64, false, &counted("s", "time since the start of the run")),
        field("connection", Utf8, false, &what("name of the connection")),
        field("end", Utf8, false, &what("end at which it happened: client or server")),
        field("path_id", UInt8, false, &what("number of the path in its connection")),
        field("event", Utf8, false, &what("what happened")),
        field("number", UInt64, true, &what("sequence, data sequence or packet number")),
        field("bytes", UInt64, true, &counted("B", "payload")),
        field("window", UInt64, true, &counted("B", "congestion window after it")),
        field("count", UInt64, true, &what("timeouts in a row")),
        field("reason", Utf8, true, &what("why, or the state")),
    ]))
}

fn columns(events: &[EventRecord], names: &[&str]) -> Vec<ArrayRef> {
    let details: Vec<_> = events.iter().map(|event| Details::of(&event.kind)).collect();
    let numbers = |value: fn(&Details) -> Option<u64>| -> ArrayRef {
        Arc::new(details.iter().map(value).collect::<UInt64Array>())
    };
    let names = events.iter().map(|event| names[event.connection]);
    let texts = |value: fn(&EventRecord) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(events.iter().map(value)))
    };
    let times = events.iter().map(|event| event.time.as_secs_f64());
    let paths = events.iter().map(|event| event.path.get());
    vec![
        Arc::new(Float64Array::from_iter_values(times)),
        Arc::new(StringArray::from_iter_values(names)),
        texts(|event| event.end.name()),
        Arc::new(UInt8Array::from_iter_values(paths)),
        texts(|event| event.kind.name()),
        numbers(|details| details.number),
        numbers(|details| details.bytes),
        numbers(|details| details.window),
        numbers(|details| details.count),
        Arc::new(details.iter().map(|details| details.reason).collect::<StringArray>()),
    ]
}

impl Details {
    fn of(kind: &EventKind) -> Self {
        let none = Self::default();
        match *kind {
            EventKind::State(state) => Self { reason: Some(state.name()), ..none },
            EventKind::Lost { number, bytes, reason } => Self {
                number: Some(number),
                bytes: bytes.map(u64::from),
                reason: reason.map(LossReason::name),
                ..none
            },
            EventKind::Timeout { count } => Self { count: Some(count.into()), ..none },
            EventKind::TailLossRepaired { window }
            | EventKind::RecoveryEntered { window }
            | EventKind::RecoveryLeft { window }
            | EventKind::EcnReduction { window } => Self { window: Some(window), ..none },
            EventKind::Undone { reason, window } => {
                Self { window: Some(window), reason: Some(UndoReason::name(reason)), ..none }
            }
            EventKind::Reinjected { dsn, bytes } => {
                Self { number: Some(dsn), bytes: Some(bytes.into()), ..none }
            }
            EventKind::TailLossProbe
            | EventKind::WindowProbe
            | EventKind::PathFailed
            | EventKind::PathRecovered
            | EventKind::Penalised => none,
        }
    }
}
