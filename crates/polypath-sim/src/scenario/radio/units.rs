//! Physical quantities, as text with their units.

use crate::scenario::declare::{Readable, Shape, TextForm};
use polypath_config::{DocumentError, Value};

/// A quantity in its first unit.
macro_rules! physical {
    ($(#[doc = $doc:literal])+ $name:ident, $form:expr, $units:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub(in crate::scenario) struct $name(pub(super) f64);

        impl Readable for $name {
            fn shape() -> Shape {
                Shape::Text(&$form)
            }

            fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
                value.parse_with(|text| parse(text, &$form, &$units)).map(Self)
            }

            fn within(&self, low: &Self, high: &Self) -> bool {
                (low..=high).contains(&self)
            }
        }
    };
}

const DISTANCE: TextForm = TextForm {
    name: "distance",
    what: "a distance such as \"120 m\" (m, km)",
    pattern: r"^\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)\s*(m|km)\s*$",
};
const SPEED: TextForm = TextForm {
    name: "speed",
    what: "a speed such as \"50 km/h\" (m/s, km/h)",
    pattern: r"^\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)\s*(m/s|km/h)\s*$",
};
const FREQUENCY: TextForm = TextForm {
    name: "frequency",
    what: "a frequency such as \"28 GHz\" (Hz, kHz, MHz, GHz)",
    pattern: r"^\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)\s*(Hz|kHz|MHz|GHz)\s*$",
};
const RATIO: TextForm = TextForm {
    name: "decibels",
    what: "a ratio such as \"20 dB\" (dB)",
    pattern: r"^\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)\s*(dB)\s*$",
};
const POWER: TextForm = TextForm {
    name: "power",
    what: "a power such as \"30 dBm\" (dBm)",
    pattern: r"^\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)\s*(dBm)\s*$",
};

const DISTANCES: [(&str, f64); 2] = [("m", 1.0), ("km", 1e3)];
const SPEEDS: [(&str, f64); 2] = [("m/s", 1.0), ("km/h", 1.0 / 3.6)];
const FREQUENCIES: [(&str, f64); 4] = [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];
const RATIOS: [(&str, f64); 1] = [("dB", 1.0)];
const POWERS: [(&str, f64); 1] = [("dBm", 1.0)];

physical! {
    /// A distance or a place, in metres.
    Metres, DISTANCE, DISTANCES
}
physical! {
    /// A speed, in metres per second.
    MetresPerSecond, SPEED, SPEEDS
}
physical! {
    /// A frequency or bandwidth, in hertz.
    Hertz, FREQUENCY, FREQUENCIES
}
physical! {
    /// A ratio, in dB.
    Decibels, RATIO, RATIOS
}
physical! {
    /// A power, in dBm.
    Dbm, POWER, POWERS
}

/// The number times the factor of its unit.
fn parse(text: &str, form: &TextForm, units: &[(&str, f64)]) -> Result<f64, String> {
    let wrong = || format!("{text:?} is not {}", form.what);
    let is_unit = |c: char| !(c.is_ascii_digit() || c == '.' || c == '-');
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(trimmed.find(is_unit).ok_or_else(wrong)?);
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite());
    let factor = units.iter().find(|(name, _)| *name == unit.trim_start());
    number.zip(factor).map(|(number, (_, factor))| number * factor).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_those_that_are_read() {
        for (form, units) in [
            (&DISTANCE, &DISTANCES[..]),
            (&SPEED, &SPEEDS),
            (&FREQUENCY, &FREQUENCIES),
            (&RATIO, &RATIOS),
            (&POWER, &POWERS),
        ] {
            let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
            assert!(form.what.ends_with(&format!("({})", names.join(", "))), "{}", form.what);
            let number = r"-?([0-9]+\.?[0-9]*|\.[0-9]+)";
            assert_eq!(form.pattern, format!(r"^\s*{number}\s*({})\s*$", names.join("|")));
            for (name, factor) in units {
                assert_eq!(parse(&format!(" 1.5 {name} "), form, units), Ok(1.5 * factor));
                assert_eq!(parse(&format!("-.5{name}"), form, units), Ok(-0.5 * factor));
            }
            for bad in ["", "5", "- m", "1..2 m", "1e3 m", "5 parsec", "--5 dB", "m"] {
                let error = parse(bad, form, units).unwrap_err();
                assert_eq!(error, format!("{bad:?} is not {}", form.what));
            }
        }
    }
}
