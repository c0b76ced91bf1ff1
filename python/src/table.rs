//! Arrow tables that other libraries take without a copy.

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt8Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, NullArray,
    RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyString};
use std::sync::Arc;

/// A table in Arrow's memory format. pyarrow, polars, pandas and DuckDB read it where it lies, by
/// the Arrow PyCapsule interface.
#[pyclass(frozen, module = "polypath._native")]
#[derive(Clone)]
pub(crate) struct Table(RecordBatch);

impl Table {
    /// A table of one batch.
    pub(crate) fn of_batch(batch: Result<RecordBatch, ArrowError>) -> PyResult<Self> {
        batch.map(Self).map_err(wrong)
    }

    /// One table of several batches, in which each name stands once.
    pub(crate) fn of(
        schema: &SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> PyResult<Self> {
        let batches = batches.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let whole = concat_batches(schema, &batches).map_err(wrong)?;
        let columns = whole.columns().iter().map(unified).collect();
        RecordBatch::try_new(schema.clone(), columns).map(Self).map_err(wrong)
    }
}

/// A dictionary in which each name stands once, as pandas wants it; other columns as they are.
fn unified(array: &ArrayRef) -> ArrayRef {
    let Some(names) = array.as_dictionary_opt::<Int32Type>() else { return array.clone() };
    let Some(names) = names.downcast_dict::<StringArray>() else { return array.clone() };
    Arc::new(names.into_iter().collect::<DictionaryArray<Int32Type>>())
}

fn wrong(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// A table of columns by name, each a list of texts, numbers, switches or None.
    #[staticmethod]
    fn from_columns(columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, values) in columns {
            let name: String = name.extract()?;
            let array = column(&name, values.cast::<PyList>()?)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new(schema, arrays).map(Self).map_err(wrong)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The metadata of a column: its unit and description, if it has them.
    fn metadata(&self, name: &str) -> PyResult<Vec<(String, String)>> {
        let field = self.0.schema_ref().field_with_name(name).map_err(wrong)?;
        let entries = field.metadata().iter();
        Ok(entries.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// The values of a column.
    fn column<'py>(&self, python: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let index = self.0.schema_ref().index_of(name).map_err(wrong)?;
        list(python, self.0.column(index))
    }

    /// The columns as a stream of the Arrow C interface; a schema that is asked for is not looked
    /// at, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = [Ok(self.0.clone())];
        let reader = RecordBatchIterator::new(batches, self.0.schema());
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(reader);
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(python, stream, c"arrow_array_stream")
    }

    /// The schema, for the Arrow C interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema_ref().as_ref()).map_err(wrong)?;
        PyCapsule::new_with_value(python, schema, c"arrow_schema")
    }
}

/// An array of the type of the values; whole numbers and others together are real numbers.
fn column(name: &str, values: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let given: Vec<_> = values.iter().filter(|value| !value.is_none()).collect();
    let all = |is: fn(&Bound<'_, PyAny>) -> bool| given.iter().all(is);
    let array: ArrayRef = if given.is_empty() {
        Arc::new(NullArray::new(values.len()))
    } else if all(|value| value.is_instance_of::<PyBool>()) {
        Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?))
    } else if all(|value| value.is_instance_of::<PyString>()) {
        Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?))
    } else if all(|value| value.is_instance_of::<PyInt>()) {
        Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?))
    } else if all(|value| value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>()) {
        Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?))
    } else {
        let allowed = "allowed: texts, numbers or switches, of one type, and None";
        return Err(PyTypeError::new_err(format!(
            "column {name:?} has values of several types; {allowed}"
        )));
    };
    Ok(array)
}

fn list<'py>(python: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match array.data_type() {
        DataType::Null => PyList::new(python, vec![None::<bool>; array.len()]),
        DataType::Boolean => PyList::new(python, array.as_boolean().iter()),
        DataType::Utf8 => PyList::new(python, array.as_string::<i32>().iter()),
        DataType::UInt8 => PyList::new(python, array.as_primitive::<UInt8Type>().iter()),
        DataType::UInt64 => PyList::new(python, array.as_primitive::<UInt64Type>().iter()),
        DataType::Int64 => PyList::new(python, array.as_primitive::<Int64Type>().iter()),
        DataType::Float64 => PyList::new(python, array.as_primitive::<Float64Type>().iter()),
        DataType::Dictionary(..) => {
            let names = array.as_dictionary::<Int32Type>();
            let texts = names.values().as_string::<i32>();
            let name = |key: Option<i32>| key.map(|key| texts.value(key as usize));
            PyList::new(python, names.keys().iter().map(name).collect::<Vec<_>>())
        }
        other => Err(PyTypeError::new_err(format!("columns of type {other} have no list"))),
    }
}
