//! Algorithms as people choose them: a name, and those parameters that are not to have their
//! defaults. As a text that is `NAME[,PARAMETER=VALUE]...`; for tables see
//! [`Value::algorithm`](crate::Value::algorithm).

use core::str::FromStr;
use polypath_core::registry::{Algorithm, Configured, ParameterError, UnknownAlgorithm};

/// The enum of an algorithm's kind.
pub trait Registered: Algorithm + FromStr<Err = UnknownAlgorithm> + Send + Sync + 'static {}

impl<K: Algorithm + FromStr<Err = UnknownAlgorithm> + Send + Sync + 'static> Registered for K {}

/// Why an algorithm cannot be had as it was written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseAlgorithmError {
    /// There is none of this name.
    #[error(transparent)]
    Name(#[from] UnknownAlgorithm),
    /// It has no such parameter, or the parameter cannot have this value.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// What follows the name is not of the form of a parameter.
    #[error("{0:?} is no parameter; allowed: PARAMETER=VALUE, such as beta=0.8")]
    Form(String),
    /// The value of a parameter is not a number.
    #[error("{parameter} cannot be {value}; allowed: a number")]
    NoNumber {
        /// The parameter.
        parameter: String,
        /// Its value as written.
        value: String,
    },
    /// A parameter has two values.
    #[error("{0} is there twice; allowed: once")]
    Twice(String),
}

/// The algorithm that `text` names, with the parameters that follow the name.
///
/// # Errors
/// When there is no such algorithm or parameter, or a value is not allowed.
pub fn parse_algorithm<K: Registered>(text: &str) -> Result<Configured<K>, ParseAlgorithmError> {
    let mut parts = text.split(',');
    let name = parts.next().unwrap_or_default();
    let settings = parts.map(parse_setting).collect::<Result<Vec<_>, _>>()?;
    let mut configured: Configured<K> = name.trim().parse()?;
    for (index, (parameter, value)) in settings.iter().enumerate() {
        if settings[..index].iter().any(|(earlier, _)| earlier == parameter) {
            return Err(ParseAlgorithmError::Twice((*parameter).to_owned()));
        }
        configured.set(parameter, *value)?;
    }
    Ok(configured)
}

fn parse_setting(text: &str) -> Result<(&str, f64), ParseAlgorithmError> {
    let Some((parameter, value)) = text.split_once('=') else {
        return Err(ParseAlgorithmError::Form(text.to_owned()));
    };
    let (parameter, value) = (parameter.trim(), value.trim());
    match value.parse() {
        Ok(number) => Ok((parameter, number)),
        Err(_) => Err(ParseAlgorithmError::NoNumber {
            parameter: parameter.to_owned(),
            value: format!("{value:?}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Table};
    use polypath_core::congestion::CongestionKind;
    use polypath_core::failure::FailureKind;
    use polypath_core::scheduler::SchedulerKind;
    use polypath_core::slow_start::SlowStartKind;
    use std::path::Path;

    /// Every algorithm by its name, and with each parameter at each end of its range, as text and
    /// as table.
    fn every_one_can_be_had<K: Registered>(all: &[K]) {
        for &kind in all {
            assert_eq!(parse_algorithm::<K>(kind.description().name), Ok(kind.into()));
            for configured in Configured::at_limits(kind) {
                let settings: Vec<_> = configured
                    .settings()
                    .map(|(name, value)| format!("{name}={value:?}"))
                    .collect();
                let name = kind.description().name;
                let text = [&[name.to_owned()], settings.as_slice()].concat().join(",");
                assert_eq!(parse_algorithm::<K>(&text), Ok(configured), "{text}");
                let table =
                    [&[format!("name = {name:?}")], settings.as_slice()].concat().join(", ");
                let table = format!("x = {{ {table} }}");
                assert_eq!(of_file::<K>(&table), Ok(configured), "{table}");
            }
        }
    }

    fn of_file<K: Registered>(text: &str) -> Result<Configured<K>, String> {
        let document = Document::new(Path::new("file"), text);
        let tables = document.parse().unwrap();
        let root = Table::root(document, "a file", &tables);
        root.get("x").unwrap().algorithm().map_err(|error| error.to_string())
    }

    #[test]
    fn every_algorithm_can_be_chosen_with_every_parameter() {
        every_one_can_be_had(CongestionKind::ALL);
        every_one_can_be_had(SlowStartKind::ALL);
        every_one_can_be_had(SchedulerKind::ALL);
        every_one_can_be_had(FailureKind::ALL);
    }

    #[test]
    fn errors_name_what_was_given_and_what_is_allowed() {
        let unknown = "unknown congestion control \"best\"; allowed: balia, bbr, ";
        let parameter = "cubic has no parameter \"gamma\"; allowed: c, beta, ";
        let range = "beta of cubic cannot be 2; allowed: numbers from 0 to 1";
        let switch = "fast_convergence of cubic cannot be 0.5; allowed: 0 or 1";
        for (text, problem) in [
            ("best", unknown),
            ("", "unknown congestion control \"\"; allowed: balia, "),
            ("cubic,gamma=1", parameter),
            ("cubic,beta=2", range),
            ("cubic,fast_convergence=0.5", switch),
            ("cubic,beta=NaN", "beta of cubic cannot be NaN; allowed: "),
            ("cubic,beta", "\"beta\" is no parameter; allowed: PARAMETER=VALUE, such as "),
            ("cubic,", "\"\" is no parameter; allowed: PARAMETER=VALUE, such as "),
            ("cubic,beta=fast", "beta cannot be \"fast\"; allowed: a number"),
            ("cubic,beta=0.5,beta=0.6", "beta is there twice; allowed: once"),
        ] {
            let error = parse_algorithm::<CongestionKind>(text).unwrap_err().to_string();
            assert!(error.starts_with(problem), "{text}: {error}");
        }
        for (text, key, problem) in [
            ("x = \"best\"", "x", unknown),
            ("x = { name = \"best\" }", "x", unknown),
            ("x = { name = \"cubic\", gamma = 1 }", "gamma", parameter),
            ("x = { beta = 2, name = \"cubic\" }", "beta", range),
            (
                "x = { name = \"cubic\", beta = \"0.5\" }",
                "beta",
                "a value of type string is not a number",
            ),
            ("x = { name = 1 }", "name", "a value of type integer is not text in quotes"),
            ("x = 7", "x", "a value of type integer is not text in quotes"),
        ] {
            let error = of_file::<CongestionKind>(text).unwrap_err();
            assert!(error.starts_with(&format!("file:1: {key}: {problem}")), "{text}: {error}");
        }
        let nameless = of_file::<CongestionKind>("\nx = { beta = 0.5 }").unwrap_err();
        assert_eq!(nameless, "file:2: [x] needs `name`");
    }

    #[test]
    fn spaces_do_not_matter() {
        let spaced = parse_algorithm::<CongestionKind>("cubic, beta = 0.5");
        let expected = Configured::with(CongestionKind::Cubic, &[("beta", 0.5)]).unwrap();
        assert_eq!(spaced, Ok(expected));
    }
}
