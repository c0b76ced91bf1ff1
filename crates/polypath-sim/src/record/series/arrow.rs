//! Tables as Arrow record batches.

use super::column::{Column, Quantity, Unit, Values};
use super::key::{Key, KeyColumn, Part};
use super::recording::{Line, Table};
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt8Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use polypath_units::Timestamp;
use std::sync::Arc;

impl KeyColumn {
    fn field(&self) -> Field {
        let names = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let data_type = if self.is_number { DataType::UInt8 } else { names() };
        described(Field::new(self.name, data_type, false), self.description)
    }
}

impl<K: Key> Table<K> {
    /// The columns as Arrow has them: the time, what the row is about, the quantities. Units and
    /// descriptions are in the metadata `unit` and `description` of the fields.
    pub fn schema(&self) -> SchemaRef {
        let time = Field::new("time", DataType::Float64, false);
        let time = with_unit(described(time, "time since the start of the run"), Unit::Seconds);
        let key = K::COLUMNS.iter().map(KeyColumn::field);
        let quantities = self.quantities.iter().map(|quantity| quantity_field(quantity));
        Arc::new(Schema::new([time].into_iter().chain(key).chain(quantities).collect::<Vec<_>>()))
    }

    /// The rows, a batch for each line, each with these times.
    ///
    /// # Errors
    /// If a line does not have a value for each time.
    pub fn batches(
        &self,
        times: &[Timestamp],
    ) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
        let (schema, rows) = (self.schema(), times.len());
        let times = Float64Array::from_iter_values(times.iter().map(|at| at.as_secs_f64()));
        let times: ArrayRef = Arc::new(times);
        self.lines.iter().map(move |Line { key, columns }| {
            let key = key.parts().into_iter().map(|part| repeated(part, rows));
            let columns = key.chain(columns.iter().map(array));
            RecordBatch::try_new(
                schema.clone(),
                [times.clone()].into_iter().chain(columns).collect(),
            )
        })
    }
}

fn quantity_field(quantity: &Quantity) -> Field {
    let data_type = match quantity.unit {
        Unit::Bytes | Unit::Packets => DataType::UInt64,
        Unit::Seconds | Unit::BitsPerSecond => DataType::Float64,
    };
    with_unit(
        described(Field::new(quantity.name, data_type, true), quantity.description),
        quantity.unit,
    )
}

fn described(field: Field, description: &str) -> Field {
    with(field, "description", description)
}

fn with_unit(field: Field, unit: Unit) -> Field {
    with(field, "unit", unit.symbol())
}

fn with(field: Field, key: &str, value: &str) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(key.to_owned(), value.to_owned());
    field.with_metadata(metadata)
}

fn repeated(part: Part<'_>, rows: usize) -> ArrayRef {
    match part {
        Part::Name(name) => {
            let (keys, names) = (Int32Array::from(vec![0; rows]), StringArray::from(vec![name]));
            Arc::new(DictionaryArray::new(keys, Arc::new(names)))
        }
        Part::Number(number) => Arc::new(UInt8Array::from(vec![number; rows])),
    }
}

fn array(column: &Column) -> ArrayRef {
    match &column.values {
        Values::Counts(values) => Arc::new(UInt64Array::from(values.clone())),
        Values::Numbers(values) => Arc::new(Float64Array::from(values.clone())),
    }
}
