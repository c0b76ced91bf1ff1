//! The results of a run, as expressions see them.

use crate::experiment::expression::{Failure, Names, Path, Step, Value};
use serde_json::Value as Json;

/// The keys by whose values the tables of a list are found.
const IDENTITIES: [&str; 4] = ["name", "link", "direction", "kind"];

/// What `polypath sim --json` prints for a run.
pub(super) struct Results(pub(super) Json);

impl Names for Results {
    fn look_up(&self, path: &Path) -> Result<Value, Failure> {
        let mut place = "the results of a run".to_owned();
        let mut found = vec![&self.0];
        let mut many = false;
        let first = [Step::Key(path.first.clone())];
        for step in first.iter().chain(&path.steps) {
            (found, many) = match step {
                Step::Key(key) => by_key(&found, many, key, &place)?,
                Step::Index(index) => (vec![by_index(&found, many, *index, &place)?], false),
            };
            place = match step {
                Step::Key(key) if place.contains(' ') => key.clone(),
                Step::Key(key) => format!("{place}.{key}"),
                Step::Index(index) => format!("{place}[{index}]"),
            };
            // A list stands for its elements.
            if let [Json::Array(items)] = found[..] {
                (found, many) = (items.iter().collect(), true);
            }
        }
        let numbers =
            found.iter().map(|json| number(json, &place)).collect::<Result<Vec<_>, _>>()?;
        Ok(match (many, &numbers[..]) {
            (false, [number]) => Value::Number(*number),
            _ => Value::List(numbers),
        })
    }
}

/// Of a list the tables of this name, otherwise the value that each table has for this key.
fn by_key<'a>(
    found: &[&'a Json],
    many: bool,
    key: &str,
    place: &str,
) -> Result<(Vec<&'a Json>, bool), Failure> {
    let is = |item: &&&Json| IDENTITIES.iter().any(|identity| item[identity] == key);
    let named: Vec<_> = found.iter().filter(is).copied().collect();
    if many && !named.is_empty() {
        let several = named.len() > 1;
        return Ok((named, several));
    }
    if found.iter().any(|json| json.is_null()) {
        return Err(Failure::Missing);
    }
    let inner: Option<Vec<_>> = found.iter().map(|json| json.get(key)).collect();
    let inner = inner.filter(|inner| !inner.is_empty());
    let inner = inner.ok_or_else(|| unknown(found, many, key, place))?;
    let flat = inner.into_iter().flat_map(|json| match json {
        Json::Array(items) if many => items.iter().collect(),
        json => vec![json],
    });
    Ok((flat.collect(), many))
}

fn by_index<'a>(
    found: &[&'a Json],
    many: bool,
    index: usize,
    place: &str,
) -> Result<&'a Json, Failure> {
    let problem = match (many, found.len()) {
        (false, _) => format!("{place} is no list; [{index}] is not allowed"),
        (true, 0) => format!("{place} is an empty list; [{index}] is not allowed"),
        (true, count) => format!("{place} has no [{index}]; allowed are 0 to {}", count - 1),
    };
    found.get(index).filter(|_| many).copied().ok_or(Failure::Wrong(problem))
}

/// Names the names that exist.
fn unknown(found: &[&Json], many: bool, key: &str, place: &str) -> Failure {
    let mut known: Vec<&str> = Vec::new();
    let tables = || found.iter().filter_map(|json| json.as_object());
    if many {
        let names = tables().flat_map(|table| IDENTITIES.iter().filter_map(|key| table.get(*key)));
        known.extend(names.filter_map(Json::as_str));
    }
    let everywhere = |key: &&str| tables().all(|table| table.contains_key(*key));
    known.extend(
        tables().take(1).flat_map(|table| table.keys().map(String::as_str)).filter(everywhere),
    );
    let mut seen = Vec::new();
    known.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    Failure::Wrong(match known.is_empty() {
        true => format!("no {key:?} in {place}, which has no names in it"),
        false => format!("no {key:?} in {place}; allowed are {}", known.join(", ")),
    })
}

fn number(json: &Json, place: &str) -> Result<f64, Failure> {
    match json {
        Json::Null => Err(Failure::Missing),
        Json::Bool(is) => Ok(f64::from(u8::from(*is))),
        Json::Number(number) => number.as_f64().ok_or(Failure::Missing),
        Json::String(text) => {
            Err(Failure::Wrong(format!("{place} is the text {text:?}; allowed are numbers")))
        }
        Json::Array(_) => {
            Err(Failure::Wrong(format!("{place} has lists in it; say which by [NUMBER]")))
        }
        Json::Object(table) => {
            let keys: Vec<_> = table.keys().map(String::as_str).collect();
            let keys = keys.join(", ");
            Err(Failure::Wrong(format!("{place} is no number; allowed are those in it: {keys}")))
        }
    }
}
