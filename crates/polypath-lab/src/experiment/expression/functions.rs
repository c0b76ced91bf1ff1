//! The functions of expressions.

use super::{Failure, Value};
use core::fmt;
use polypath_model::metrics;

/// A function.
pub(super) struct Function {
    pub(super) name: &'static str,
    kind: Kind,
}

/// What a function does.
enum Kind {
    /// One or more arguments, taken together as one list, become a number, if there is one.
    Reduce(fn(Vec<f64>) -> Option<f64>),
    /// Each number becomes another one.
    Each(fn(f64) -> f64),
    /// A list becomes another one.
    List(fn(&[f64]) -> Vec<f64>),
    /// The quantile of a list, from 0 to 1.
    Quantile,
}

pub(super) const FUNCTIONS: &[Function] = &[
    function("min", Kind::Reduce(|list| list.into_iter().reduce(f64::min))),
    function("max", Kind::Reduce(|list| list.into_iter().reduce(f64::max))),
    function("mean", Kind::Reduce(|list| metrics::mean(&list))),
    function("median", Kind::Reduce(|mut list| metrics::quantile(&mut list, 0.5))),
    function("quantile", Kind::Quantile),
    function("sum", Kind::Reduce(|list| Some(list.iter().sum()))),
    function("count", Kind::Reduce(|list| Some(list.len() as f64))),
    function("first", Kind::Reduce(|list| list.first().copied())),
    function("last", Kind::Reduce(|list| list.last().copied())),
    function("abs", Kind::Each(f64::abs)),
    function("steps", Kind::List(steps)),
    function("increases", Kind::Reduce(|list| trend(&list, |step| step > 0.0))),
    function("decreases", Kind::Reduce(|list| trend(&list, |step| step < 0.0))),
];

const fn function(name: &'static str, kind: Kind) -> Function {
    Function { name, kind }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// Whether it can have so many arguments; if not, what is allowed. There is at least one.
    pub(super) fn check(&self, arguments: usize) -> Result<(), String> {
        let (allowed, form) = match self.kind {
            Kind::Reduce(_) => (true, "one or more"),
            Kind::Each(_) | Kind::List(_) => (arguments == 1, "one"),
            Kind::Quantile => (arguments == 2, "a list and a number from 0 to 1"),
        };
        let name = self.name;
        let problem = || format!("{arguments} arguments of {name}; allowed: {form}");
        allowed.then_some(()).ok_or_else(problem)
    }

    /// Its value for arguments, of which there are as many as it can have.
    pub(super) fn apply(&self, arguments: Vec<Value>) -> Result<Value, Failure> {
        let mut arguments = arguments.into_iter();
        match self.kind {
            Kind::Reduce(reduce) => {
                let together = arguments.flat_map(Value::into_list).collect();
                reduce(together).map(Value::Number).ok_or(Failure::Missing)
            }
            Kind::Each(each) => Ok(match arguments.next().ok_or(Failure::Missing)? {
                Value::Number(number) => Value::Number(each(number)),
                Value::List(list) => Value::List(list.into_iter().map(each).collect()),
            }),
            Kind::List(of) => {
                let list = arguments.flat_map(Value::into_list).collect::<Vec<_>>();
                Ok(Value::List(of(&list)))
            }
            Kind::Quantile => {
                let mut list = arguments.next().ok_or(Failure::Missing)?.into_list();
                quantile(&mut list, &arguments.next().ok_or(Failure::Missing)?)
            }
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn quantile(list: &mut [f64], q: &Value) -> Result<Value, Failure> {
    match q {
        Value::Number(q) if (0.0..=1.0).contains(q) => {
            metrics::quantile(list, *q).map(Value::Number).ok_or(Failure::Missing)
        }
        q => Err(Failure::Wrong(format!("quantile of {q}; allowed: a number from 0 to 1"))),
    }
}

/// Each element less the one before it.
fn steps(list: &[f64]) -> Vec<f64> {
    list.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// 1 if all steps are so, otherwise 0; nothing is told by fewer than two elements.
fn trend(list: &[f64], is: fn(f64) -> bool) -> Option<f64> {
    let steps = steps(list);
    (!steps.is_empty()).then(|| f64::from(u8::from(steps.into_iter().all(is))))
}
