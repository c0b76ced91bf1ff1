//! From Python objects to TOML.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml::{Table, Value};

/// A document of nested dictionaries, lists, texts, numbers and switches.
#[pyfunction]
pub(crate) fn render(document: &Bound<'_, PyDict>) -> PyResult<String> {
    let table = table(document.as_mapping(), "")?;
    toml::to_string(&table).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A value, on one line. `key` is its name in errors.
pub(crate) fn value(object: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
    if object.is_instance_of::<PyBool>() {
        return object.extract().map(Value::Boolean);
    }
    if object.is_instance_of::<PyInt>() {
        return object.extract().map(Value::Integer);
    }
    if object.is_instance_of::<PyString>() {
        return object.extract().map(Value::String);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        return table(mapping, key).map(Value::Table);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.enumerate();
        let items = items.map(|(index, item)| value(&item?, &format!("{key}[{index}]")));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    number(object, key)
}

/// A number; those of NumPy are none of Python's.
fn number(object: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
    if object.is_instance_of::<PyFloat>() {
        return object.extract().map(Value::Float);
    }
    if let Ok(whole) = object.extract::<i64>() {
        return Ok(Value::Integer(whole));
    }
    object.extract::<f64>().map(Value::Float).map_err(|_| {
        let given = object.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "`{key}` is of type {given}; allowed: str, int, float, bool, lists and dicts of them"
        ))
    })
}

fn table(mapping: &Bound<'_, PyMapping>, path: &str) -> PyResult<Table> {
    let mut table = Table::new();
    for item in mapping.items()? {
        let (key, item): (String, Bound<'_, PyAny>) = item.extract()?;
        let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let item = value(&item, &place)?;
        table.insert(key, item);
    }
    Ok(table)
}
