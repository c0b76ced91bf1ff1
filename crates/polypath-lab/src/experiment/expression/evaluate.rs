//! From an expression to its value.

use super::{Expression, Failure, Names, Node, Operator, Value};
use core::fmt;
use core::iter;

impl Expression {
    /// Its value, which is to be a number.
    ///
    /// # Errors
    /// When something has no value or does not exist, or the value is a list.
    pub(in crate::experiment) fn number(&self, names: &dyn Names) -> Result<f64, Failure> {
        match evaluate(&self.root, names)? {
            Value::Number(number) if number.is_finite() => Ok(number),
            Value::Number(_) => Err(Failure::Missing),
            Value::List(_) => Err(Failure::Wrong(format!(
                "{:?} is a list; allowed: one number, such as min, max, mean or last of it",
                self.text
            ))),
        }
    }
}

fn evaluate(node: &Node, names: &dyn Names) -> Result<Value, Failure> {
    match node {
        Node::Number(number) => Ok(Value::Number(*number)),
        Node::Path(path) => names.look_up(path),
        Node::Negative(of) => combine(Operator::Minus, Value::Number(0.0), evaluate(of, names)?),
        Node::Operation(operator, left, right) => {
            combine(*operator, evaluate(left, names)?, evaluate(right, names)?)
        }
        Node::Call(function, arguments) => {
            let arguments = arguments.iter().map(|argument| evaluate(argument, names));
            function.apply(arguments.collect::<Result<_, _>>()?)
        }
    }
}

fn combine(operator: Operator, left: Value, right: Value) -> Result<Value, Failure> {
    use Value::{List, Number};
    let of = |left: f64, right: f64| match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Over => left / right,
    };
    Ok(match (left, right) {
        (Number(left), Number(right)) => Number(of(left, right)),
        (Number(left), List(right)) => {
            List(right.into_iter().map(|right| of(left, right)).collect())
        }
        (List(left), Number(right)) => List(left.into_iter().map(|left| of(left, right)).collect()),
        (List(left), List(right)) if left.len() == right.len() => {
            List(iter::zip(left, right).map(|(left, right)| of(left, right)).collect())
        }
        (List(left), List(right)) => {
            let (left, right) = (left.len(), right.len());
            let problem = format!("lists of {left} and {right} numbers; allowed: of equal length");
            return Err(Failure::Wrong(problem));
        }
    })
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::List(list) => write!(f, "a list of {} numbers", list.len()),
        }
    }
}
