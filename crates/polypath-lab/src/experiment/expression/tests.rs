//! Values by hand, what is wrong and where, and that nothing panics.

use super::*;
use proptest::prelude::*;

/// `a` is 6, `list` is 1, 2, 4; `nothing` has not been observed.
struct Few;

impl Names for Few {
    fn look_up(&self, path: &Path) -> Result<Value, Failure> {
        let steps = path.steps.as_slice();
        match (path.first.as_str(), steps) {
            ("a", []) => Ok(Value::Number(6.0)),
            ("list", []) => Ok(Value::List(vec![1.0, 2.0, 4.0])),
            ("list", [Step::Index(index)]) if *index < 3 => {
                Ok(Value::Number([1.0, 2.0, 4.0][*index]))
            }
            ("two", [Step::Key(key)]) if key == "x y" => Ok(Value::List(vec![3.0, 1.0])),
            ("nothing", _) => Err(Failure::Missing),
            (first, _) => Err(Failure::Wrong(format!("no {first}"))),
        }
    }
}

fn value(text: &str) -> Result<f64, Failure> {
    text.parse::<Expression>().unwrap_or_else(|error| panic!("{text}: {error}")).number(&Few)
}

#[test]
fn values_are_those_of_arithmetic() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 - 4 - 2", 2.0),
        ("8 / 4 / 2", 1.0),
        ("2 * -3 + 1", -5.0),
        ("--2", 2.0),
        ("1e3 + .5 + 2.5E-1", 1000.75),
        ("a / 2", 3.0),
        ("list[2] - list [ 0 ]", 3.0),
        ("sum(list * 2 + 1)", 17.0),
        ("sum(12 / list)", 21.0),
        ("sum(list - list)", 0.0),
        ("max(two['x y']) - min(two[\"x y\"])", 2.0),
        ("min(list, a, -1)", -1.0),
        ("mean(list)", 7.0 / 3.0),
        ("median(list)", 2.0),
        ("quantile(list, 0.75)", 3.0),
        ("count(list)", 3.0),
        ("first(list) + last(list)", 5.0),
        ("abs(-a)", 6.0),
        ("min(abs(-list))", 1.0),
        ("last(steps(list))", 2.0),
        ("increases(list)", 1.0),
        ("increases(-list)", 0.0),
        ("decreases(two['x y'])", 1.0),
        ("decreases(list - list)", 0.0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_was_not_observed_has_no_value() {
    for text in ["nothing + 1", "1 / 0", "max(steps(a))", "increases(a)", "last(nothing)"] {
        assert_eq!(value(text), Err(Failure::Missing), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    for (text, problem) in [
        ("list", "\"list\" is a list; allowed: one number, such as min, "),
        ("sum(list + two['x y'])", "lists of 3 and 2 numbers; allowed: of equal length"),
        ("quantile(list, 2)", "quantile of 2; allowed: a number from 0 to 1"),
        ("quantile(list, list)", "quantile of a list of 3 numbers; allowed: "),
        ("1 + other", "no other"),
    ] {
        let Err(Failure::Wrong(told)) = value(text) else { panic!("{text}") };
        assert!(told.starts_with(problem), "{text}: {told}");
    }
}

#[test]
fn what_is_no_expression_is_told_with_its_place() {
    let (deep, long) = ("(".repeat(60), "1+".repeat(600));
    for (text, problem) in [
        ("", "character 1: found the end; allowed: a number, a name "),
        ("1 +", "character 4: found the end; allowed: a number, "),
        ("1 + * 2", "character 5: found '*'; allowed: a number, "),
        ("(1 + 2", "character 7: found the end; allowed: `)`"),
        ("1 2", "character 3: found '2'; allowed: an operator (+ - * /) or the end"),
        ("1.2.3", "character 1: \"1.2.3\" is not a number such as 0.5"),
        ("2 * 1e999", "character 5: \"1e999\" is not a number"),
        ("a.", "character 3: found the end; allowed: a name; others "),
        ("a[-1]", "character 3: found '-'; allowed: a number from 0 or a name in quotes, and `]`"),
        ("a['x]", "character 6: found the end; allowed: a number from 0 "),
        ("1 + avg(a)", "character 5: no function \"avg\"; allowed are min, max, mean, median, "),
        ("max()", "character 5: found ')'; allowed: a number, "),
        ("max(1", "character 6: found the end; allowed: an operator, `,` or `)`"),
        ("abs(1, 2)", "character 1: 2 arguments of abs; allowed: one"),
        ("quantile(a)", "character 1: 1 arguments of quantile; allowed: a list and a number "),
        (&deep, "character 51: too deep; 50 levels are allowed"),
        (&long, "character 1001: too long; 1000 characters are allowed"),
    ] {
        let error = text.parse::<Expression>().unwrap_err().to_string();
        assert!(error.starts_with(problem), "{text}: {error}");
    }
}

proptest! {
    /// Of whatever characters, and of those that expressions have.
    #[test]
    fn no_text_panics(text in prop_oneof![".*", "[a-c0-9.e(),\\[\\]'+*/ -]{0,60}"]) {
        match text.parse::<Expression>() {
            Ok(expression) => {
                prop_assert_eq!(expression.text(), &text);
                let _ = expression.number(&Few);
            }
            Err(error) => prop_assert!((1..=text.chars().count() + 1).contains(&error.at), "{error}"),
        }
    }

    /// The sum of products of numbers is what Rust says.
    #[test]
    fn products_go_before_sums(terms in prop::collection::vec((0u32..100, 1u32..100), 1..10)) {
        let text: Vec<_> = terms.iter().map(|(a, b)| format!("{a} * {b}")).collect();
        let sum: u32 = terms.iter().map(|(a, b)| a * b).sum();
        prop_assert_eq!(value(&text.join("+")), Ok(f64::from(sum)));
    }
}
