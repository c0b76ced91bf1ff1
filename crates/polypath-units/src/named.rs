//! Names for the values of an enumeration.

use core::fmt;

/// A text that is none of the names that an enumeration has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    given: String,
    problem: &'static str,
    allowed: &'static [&'static str],
}

impl UnknownName {
    /// What [`named!`](crate::named) says of a text; `problem` follows the text in the message.
    pub fn new(given: &str, problem: &'static str, allowed: &'static [&'static str]) -> Self {
        Self { given: given.to_owned(), problem, allowed }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}; allowed: {}", self.given, self.problem, self.allowed.join(", "))
    }
}

impl core::error::Error for UnknownName {}

/// Gives every variant of an enumeration a name: `ALL` and `name()`, [`Display`](fmt::Display), and
/// [`FromStr`](core::str::FromStr) with the error [`UnknownName`]. The text before the names is
/// what that says of another text: after `named!(Way, "is no way", { Up => "up", Down => "down" })`
/// that is `"Up" is no way; allowed: up, down`.
#[macro_export]
macro_rules! named {
    ($type:ty, $problem:literal, { $($variant:ident => $name:literal),+ $(,)? }) => {
        #[allow(unreachable_pub, reason = "what it is for may be private")]
        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name in texts.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::core::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                let named = Self::ALL.into_iter().find(|value| value.name() == text);
                named.ok_or_else(|| $crate::UnknownName::new(text, $problem, &[$($name),+]))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Direction {
        Up,
        Down,
    }

    crate::named!(Direction, "is no direction", { Up => "up", Down => "down" });

    #[test]
    fn names_are_read_back_and_others_are_told_what_is_allowed() {
        assert_eq!(Direction::ALL, [Direction::Up, Direction::Down]);
        for direction in Direction::ALL {
            assert_eq!(direction.to_string().parse(), Ok(direction));
        }
        let error = "Up".parse::<Direction>().unwrap_err().to_string();
        assert_eq!(error, "\"Up\" is no direction; allowed: up, down");
    }
}
