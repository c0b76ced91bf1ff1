//! Parameters of algorithms: how they are declared, and what they may be.

use super::Description;
use serde::Serialize;

/// A parameter of an algorithm, with its default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name, as written in scenario files.
    pub name: &'static str,
    /// Its default value in `unit`.
    pub default: f64,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// What it does, in one line.
    pub purpose: &'static str,
    /// Its least value.
    pub lowest: f64,
    /// Its greatest value.
    pub highest: f64,
    /// Whether it is a whole number; one from 0 to 1 is a switch.
    pub whole: bool,
}

impl Parameter {
    /// The greatest value of a number for which nothing else is said: seconds of it, and products
    /// of it with windows, can still be counted.
    pub const HIGHEST: f64 = 1e9;

    /// A number that is not negative.
    pub const fn number(
        name: &'static str,
        default: f64,
        unit: &'static str,
        purpose: &'static str,
    ) -> Self {
        let (lowest, highest) = (0.0, Self::HIGHEST);
        Self { name, default, unit, purpose, lowest, highest, whole: false }
    }

    /// A whole number.
    pub const fn integer(
        name: &'static str,
        default: u64,
        unit: &'static str,
        purpose: &'static str,
    ) -> Self {
        Self { whole: true, ..Self::number(name, default as f64, unit, purpose) }
    }

    /// Something that is off (0) or on (1).
    pub const fn switch(
        name: &'static str,
        default: bool,
        unit: &'static str,
        purpose: &'static str,
    ) -> Self {
        let default = default as u8 as f64;
        Self { name, default, unit, purpose, lowest: 0.0, highest: 1.0, whole: true }
    }

    /// The same from `lowest` to `highest`, both included.
    pub const fn between(self, lowest: f64, highest: f64) -> Self {
        Self { lowest, highest, ..self }
    }

    /// Whether it may have this value.
    pub fn allows(&self, value: f64) -> bool {
        (self.lowest..=self.highest).contains(&value) && !(self.whole && value.fract() != 0.0)
    }

    fn allowed(&self) -> String {
        match (self.whole, self.lowest, self.highest) {
            (true, 0.0, 1.0) => "0 or 1".to_owned(),
            (true, lowest, highest) => format!("whole numbers from {lowest} to {highest}"),
            (false, lowest, highest) => format!("numbers from {lowest} to {highest}"),
        }
    }
}

/// Why a parameter of an algorithm cannot be set so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// The algorithm does not have it.
    #[error("{algorithm} has no parameter {given:?}; allowed: {allowed}")]
    Unknown {
        /// The algorithm.
        algorithm: &'static str,
        /// The name as given.
        given: String,
        /// The names of its parameters, separated by commas.
        allowed: String,
    },
    /// It cannot have this value.
    #[error("{parameter} of {algorithm} cannot be {value}; allowed: {allowed}")]
    Value {
        /// The algorithm.
        algorithm: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
        /// The value as given.
        value: f64,
        /// Which values are allowed.
        allowed: String,
    },
}

/// The values of all parameters of an algorithm, in the order of its description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values([f64; Values::MOST]);

/// Values are finite.
impl Eq for Values {}

impl Values {
    /// The most parameters that an algorithm may have.
    pub const MOST: usize = 24;

    /// The defaults.
    pub(super) fn of(description: &Description) -> Self {
        let mut values = [0.0; Self::MOST];
        for (value, parameter) in values.iter_mut().zip(description.parameters) {
            *value = parameter.default;
        }
        Self(values)
    }

    /// The same with another value of a parameter.
    pub(super) fn at(mut self, index: usize, value: f64) -> Self {
        self.0[index] = value;
        self
    }

    /// Sets the parameter `name`.
    pub(super) fn set(
        &mut self,
        description: &Description,
        name: &str,
        value: f64,
    ) -> Result<(), ParameterError> {
        let algorithm = description.name;
        let mut all = self.0.iter_mut().zip(description.parameters);
        let Some((place, parameter)) = all.find(|(_, parameter)| parameter.name == name) else {
            let names: Vec<_> = description.parameters.iter().map(|p| p.name).collect();
            let allowed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(ParameterError::Unknown { algorithm, given: name.to_owned(), allowed });
        };
        if !parameter.allows(value) {
            let (parameter, allowed) = (parameter.name, parameter.allowed());
            return Err(ParameterError::Value { algorithm, parameter, value, allowed });
        }
        *place = value;
        Ok(())
    }

    /// The values, in the order of the description; zeros behind those.
    pub(crate) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().copied()
    }
}

/// Defines the parameters of an algorithm: a struct of numbers (`f64`, `u32`, `u64`),
/// switches (`bool`) and times (`Duration`, of unit `"s"` or `"ms"`), its defaults, and the rows of
/// its description.
///
/// Behind each field stand its default, its name in scenario files, its unit (`""` for none, as for
/// switches), what it does, and, where that is not any number from zero, its range.
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_visibility:vis $field:ident: $type:ident = $default:expr,
                    $key:literal, $unit:tt, $purpose:expr
                    $(, $lowest:literal to $highest:literal)?;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $visibility struct $name {
            $($(#[$field_meta])* $field_visibility $field: $type),+
        }

        impl $name {
            /// The defaults.
            pub const DEFAULT: Self = Self { $($field: $default),+ };

            /// What the registry tells of them.
            pub const PARAMETERS: &'static [$crate::registry::Parameter] = &[$(
                $crate::registry::parameters!(
                    @row $type, $key, Self::DEFAULT.$field, $unit, $purpose
                )$(.between($lowest, $highest))?
            ),+];

            /// Of values in the order of [`Self::PARAMETERS`].
            pub(crate) fn of(values: &$crate::registry::Values) -> Self {
                let mut values = values.iter();
                Self { $($field: $crate::registry::parameters!(
                    @field $type, $unit, values.next().unwrap_or_default()
                )),+ }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::DEFAULT
            }
        }
    };
    (@row f64, $key:expr, $default:expr, $unit:tt, $purpose:expr) => {
        $crate::registry::Parameter::number($key, $default, $unit, $purpose)
    };
    (@row bool, $key:expr, $default:expr, $unit:tt, $purpose:expr) => {
        $crate::registry::Parameter::switch($key, $default, $unit, $purpose)
    };
    (@row Duration, $key:expr, $default:expr, "s", $purpose:expr) => {
        $crate::registry::Parameter::number($key, $default.as_nanos() as f64 / 1e9, "s", $purpose)
    };
    (@row Duration, $key:expr, $default:expr, "ms", $purpose:expr) => {
        $crate::registry::Parameter::number($key, ::polypath_units::millis($default), "ms", $purpose)
    };
    (@row $integer:ident, $key:expr, $default:expr, $unit:tt, $purpose:expr) => {
        $crate::registry::Parameter::integer($key, $default as u64, $unit, $purpose)
    };
    (@field f64, $unit:tt, $value:expr) => { $value };
    (@field bool, $unit:tt, $value:expr) => { $value != 0.0 };
    (@field Duration, "s", $value:expr) => { ::std::time::Duration::from_secs_f64($value) };
    (@field Duration, "ms", $value:expr) => { ::std::time::Duration::from_secs_f64($value / 1e3) };
    (@field $integer:ident, $unit:tt, $value:expr) => { $value as $integer };
}
pub(crate) use parameters;
