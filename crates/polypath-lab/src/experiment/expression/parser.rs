//! From text to an expression.

use super::functions::{FUNCTIONS, Function};
use super::{Expression, Node, Operator, ParseExpressionError, Path, Step};
use core::str::FromStr;

/// No expression is longer: what is evaluated by recursion has an end.
const MOST_CHARACTERS: usize = 1000;
/// Nor deeper.
const MOST_NESTED: usize = 50;

/// What may begin an operand, in errors.
const OPERAND: &str = "a number, a name such as connections.bond.goodput_mbit_s, a function such \
     as max(...), `-` or `(`";

impl FromStr for Expression {
    type Err = ParseExpressionError;

    fn from_str(text: &str) -> Result<Self, ParseExpressionError> {
        let characters: Vec<char> = text.chars().collect();
        let mut parser = Parser { characters, at: 0, nested: 0 };
        if parser.characters.len() > MOST_CHARACTERS {
            let problem = format!("too long; {MOST_CHARACTERS} characters are allowed");
            return Err(ParseExpressionError { at: MOST_CHARACTERS + 1, problem });
        }
        let root = parser.sum()?;
        match parser.peek() {
            None => Ok(Self { text: text.to_owned(), root }),
            Some(_) => Err(parser.expected("an operator (+ - * /) or the end")),
        }
    }
}

struct Parser {
    characters: Vec<char>,
    at: usize,
    nested: usize,
}

type Parsed<T> = Result<T, ParseExpressionError>;

impl Parser {
    fn sum(&mut self) -> Parsed<Node> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(self.error(format!("too deep; {MOST_NESTED} levels are allowed")));
        }
        let sum = self.chain(&[('+', Operator::Plus), ('-', Operator::Minus)], Self::product);
        self.nested -= 1;
        sum
    }

    fn product(&mut self) -> Parsed<Node> {
        self.chain(&[('*', Operator::Times), ('/', Operator::Over)], Self::signed)
    }

    /// Operands with operators of the same rank between them, from left to right.
    fn chain(
        &mut self,
        operators: &[(char, Operator)],
        operand: fn(&mut Self) -> Parsed<Node>,
    ) -> Parsed<Node> {
        let mut left = operand(self)?;
        while let Some(next) = self.peek() {
            let Some((_, operator)) = operators.iter().find(|(sign, _)| *sign == next) else {
                break;
            };
            self.at += 1;
            left = Node::Operation(*operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Parsed<Node> {
        let mut negative = false;
        while self.takes('-') {
            negative = !negative;
        }
        let operand = self.operand()?;
        Ok(if negative { Node::Negative(Box::new(operand)) } else { operand })
    }

    fn operand(&mut self) -> Parsed<Node> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.takes(')').then_some(inner).ok_or_else(|| self.expected("`)`"))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number().map(Node::Number),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let begin = self.at;
                let first = self.word();
                match self.takes('(') {
                    true => self.call(&first, begin),
                    false => Ok(Node::Path(Path { first, steps: self.steps()? })),
                }
            }
            _ => Err(self.expected(OPERAND)),
        }
    }

    fn number(&mut self) -> Parsed<f64> {
        let begin = self.at;
        self.skip(|c| c.is_ascii_digit() || c == '.');
        if matches!(self.characters.get(self.at), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.characters.get(self.at), Some('+' | '-')) {
                self.at += 1;
            }
            self.skip(|c| c.is_ascii_digit());
        }
        let text: String = self.characters[begin..self.at].iter().collect();
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            let problem = format!("{text:?} is not a number such as 0.5 or 1e6");
            ParseExpressionError { at: begin + 1, problem }
        })
    }

    fn word(&mut self) -> String {
        let begin = self.at;
        self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
        self.characters[begin..self.at].iter().collect()
    }

    /// The arguments of a function, behind `(`.
    fn call(&mut self, name: &str, begin: usize) -> Parsed<Node> {
        let function = Function::named(name).ok_or_else(|| {
            let known: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
            let problem = format!("no function {name:?}; allowed are {}", known.join(", "));
            ParseExpressionError { at: begin + 1, problem }
        })?;
        let mut arguments = vec![self.sum()?];
        while self.takes(',') {
            arguments.push(self.sum()?);
        }
        if !self.takes(')') {
            return Err(self.expected("an operator, `,` or `)`"));
        }
        function
            .check(arguments.len())
            .map_err(|problem| ParseExpressionError { at: begin + 1, problem })?;
        Ok(Node::Call(function, arguments))
    }

    fn steps(&mut self) -> Parsed<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            if self.takes('.') {
                let word = self.word();
                if word.is_empty() {
                    return Err(self.expected("a name; others than words stand as [\"...\"]"));
                }
                steps.push(Step::Key(word));
            } else if self.takes('[') {
                steps.push(self.bracket()?);
            } else {
                return Ok(steps);
            }
        }
    }

    /// A number from 0 or a name in quotes, behind `[`.
    fn bracket(&mut self) -> Parsed<Step> {
        let step = match self.peek() {
            Some(quote @ ('"' | '\'')) => {
                self.at += 1;
                let begin = self.at;
                self.skip(|c| c != quote);
                let name = self.characters[begin..self.at].iter().collect();
                self.takes(quote).then_some(Step::Key(name))
            }
            _ => {
                let begin = self.at;
                self.skip(|c| c.is_ascii_digit());
                let digits: String = self.characters[begin..self.at].iter().collect();
                digits.parse().ok().map(Step::Index)
            }
        };
        let step = step.filter(|_| self.takes(']'));
        step.ok_or_else(|| self.expected("a number from 0 or a name in quotes, and `]`"))
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        while self.characters.get(self.at).is_some_and(|&c| fits(c)) {
            self.at += 1;
        }
    }

    /// What comes behind blanks.
    fn peek(&mut self) -> Option<char> {
        self.skip(char::is_whitespace);
        self.characters.get(self.at).copied()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn expected(&mut self, allowed: &str) -> ParseExpressionError {
        let found = match self.peek() {
            Some(c) => format!("{c:?}"),
            None => "the end".to_owned(),
        };
        self.error(format!("found {found}; allowed: {allowed}"))
    }

    fn error(&self, problem: String) -> ParseExpressionError {
        ParseExpressionError { at: self.at + 1, problem }
    }
}
