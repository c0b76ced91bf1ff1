//! Values that are written as text in configuration files, with the same form as in flags.

use core::fmt::{self, Display};
use core::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Reads a text into a `T`.
pub(crate) fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    Text::deserialize(deserializer)?.parse().map(Some)
}

/// Reads a list of texts into a list of `T`.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    Vec::<Text>::deserialize(deserializer)?.iter().map(Text::parse).collect()
}

struct Text(String);

impl Text {
    fn parse<T: FromStr<Err: Display>, E: Error>(&self) -> Result<T, E> {
        self.0.parse().map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text in quotes")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}
