//! Small expressions over numbers and lists of numbers, such as
//! `quantile(delays, 0.95) / connections.a.rtt`.
//!
//! Arithmetic goes element by element; a number goes with each element of a list. What a path such
//! as `connections.a.rtt` stands for is what [`Names`] say.

mod evaluate;
mod functions;
mod parser;
#[cfg(test)]
mod tests;

use functions::Function;

/// An expression that has been read.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    root: Node,
}

/// A number or a list of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// One.
    Number(f64),
    /// Several, or none.
    List(Vec<f64>),
}

/// What a path stands for.
pub(super) trait Names {
    /// # Errors
    /// When there is no such thing, or it has no value.
    fn look_up(&self, path: &Path) -> Result<Value, Failure>;
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Something in it was not observed, or the result is not finite.
    Missing,
    /// The expression does not fit what there is.
    Wrong(String),
}

/// `connections.bond.flows[0].delay_ms`: where something is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) first: String,
    pub(super) steps: Vec<Step>,
}

/// A part of a path behind the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// `.bond`, or `["bond"]` where it is not a word.
    Key(String),
    /// `[0]`.
    Index(usize),
}

/// What is not an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: {problem}")]
pub struct ParseExpressionError {
    /// The character, from 1.
    pub at: usize,
    /// What is wrong and what is allowed.
    pub problem: String,
}

#[derive(Clone, Debug)]
enum Node {
    Number(f64),
    Path(Path),
    Negative(Box<Node>),
    Operation(Operator, Box<Node>, Box<Node>),
    Call(&'static Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

impl Expression {
    /// The expression as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Value {
    /// A list with this one element, or the list.
    fn into_list(self) -> Vec<f64> {
        match self {
            Self::Number(number) => vec![number],
            Self::List(list) => list,
        }
    }
}

/// Whether a name can be written in a path without quotes.
pub(super) fn is_word(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
