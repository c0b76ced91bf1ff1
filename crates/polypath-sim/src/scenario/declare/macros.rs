//! The macros that declare keys.

/// Declares a group of keys as a struct.
///
/// ```text
/// /// What the table is for.
/// pub struct Example {
///     /// A required key.
///     rate: Bandwidth;
///     /// An optional key; what is `None` is for others to choose.
///     delay: Option<Duration>;
///     /// A key with a default and a range, both as in a file.
///     count: u32 = 1 where 1 to 100;
///     /// A key of another shape than its type tells.
///     name: String as other_shape();
///     ..more: MoreKeys;     // keys of the same table that are declared elsewhere
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! keys {
    ($(#[doc = $about:literal])+ $(#[derive($($derived:ident),*)])? $visibility:vis struct $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty
            $(= $default:tt)? $(where $low:tt to $high:tt)? $(as $shape:expr)?;)*
        $(..$more:ident: $group:ty;)*
    }) => {
        $(#[doc = $about])+ $(#[derive($($derived),*)])?
        $visibility struct $name {
            $($(#[doc = $doc])+ $visibility $field: $type,)*
            $(#[doc = concat!("See [`", stringify!($group), "`].")] $visibility $more: $group,)*
        }

        impl $crate::scenario::declare::Keys for $name {
            #[allow(unused_mut, unused_variables, reason = "a group may have no keys")]
            fn declare(declaration: &mut $crate::scenario::declare::Declaration) {
                if declaration.purpose.is_empty() {
                    declaration.name = stringify!($name);
                    declaration.purpose = $crate::scenario::declare::sentences(&[$($about),+]);
                }
                $(declaration.keys.push($crate::scenario::declare::keys!(
                    @rule $field [$($default)?] [$($low, $high)?]
                ).key::<$type>(
                    stringify!($name),
                    $crate::scenario::declare::sentences(&[$($doc),+]),
                    $crate::scenario::declare::keys!(@shape $type $(as $shape)?),
                ));)*
                $(<$group as $crate::scenario::declare::Keys>::declare(declaration);)*
            }

            #[allow(unused_variables, reason = "a group may have no keys")]
            fn allow(
                allowed: &mut $crate::scenario::declare::Allowed,
                table: &$crate::scenario::declare::Table<'_>,
            ) -> Result<(), $crate::scenario::declare::DocumentError> {
                $(allowed.names.push(stringify!($field));)*
                $(<$group as $crate::scenario::declare::Keys>::allow(allowed, table)?;)*
                Ok(())
            }

            #[allow(unused_variables, reason = "a group may have no keys")]
            fn take(
                table: &$crate::scenario::declare::Table<'_>,
            ) -> Result<Self, $crate::scenario::declare::DocumentError> {
                Ok(Self {
                    $($field: $crate::scenario::declare::Field::take(
                        table,
                        $crate::scenario::declare::keys!(
                            @rule $field [$($default)?] [$($low, $high)?]
                        ),
                    )?,)*
                    $($more: <$group as $crate::scenario::declare::Keys>::take(table)?,)*
                })
            }
        }
    };
    (@rule $field:ident [$($default:tt)?] [$($low:tt, $high:tt)?]) => {
        $crate::scenario::declare::Rule {
            name: stringify!($field),
            default: $crate::scenario::declare::keys!(@text $($default)?),
            range: $crate::scenario::declare::keys!(@range $($low, $high)?),
        }
    };
    (@text) => { None };
    (@text $value:tt) => { Some(stringify!($value)) };
    (@default) => { None };
    (@default $value:literal) => { Some($value) };
    (@range) => { None };
    (@range $low:tt, $high:tt) => { Some((stringify!($low), stringify!($high))) };
    (@shape $type:ty) => {
        <$type as $crate::scenario::declare::Field>::shape()
    };
    (@shape $type:ty as $shape:expr) => { $shape };
}

/// Declares groups of keys of which a table has one, as an enum: the value of a key tells which.
///
/// `by "kind"` names that key, `by "kind" = "bulk"` also the value where the key is missing.
#[macro_export]
#[doc(hidden)]
macro_rules! tagged {
    ($(#[doc = $about:literal])+ $(#[derive($($derived:ident),*)])?
     $visibility:vis enum $name:ident by $tag:literal $(= $default:literal)? {
        $($(#[doc = $doc:literal])+ $variant:ident($group:ty) = $value:literal,)+
    }) => {
        $(#[doc = $about])+ $(#[derive($($derived),*)])?
        #[allow(clippy::large_enum_variant, reason = "a file has few of them")]
        $visibility enum $name {
            $($(#[doc = $doc])+ $variant($group),)+
        }

        impl $name {
            const TAG: &'static str = $tag;

            /// The value of the key that tells the variant.
            #[allow(dead_code, reason = "not every tag is asked for")]
            $visibility const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $value,)+
                }
            }

            const ROWS: &[$crate::scenario::declare::Row<Self>] = &[$(
                $crate::scenario::declare::Row {
                    name: $value,
                    allow: <$group as $crate::scenario::declare::Keys>::allow,
                    take: |table| {
                        let group = <$group as $crate::scenario::declare::Keys>::take(table)?;
                        Ok(Self::$variant(group))
                    },
                }
            ),+];

            const DEFAULT: Option<&'static str> =
                $crate::scenario::declare::keys!(@default $($default)?);
        }

        impl $crate::scenario::declare::Keys for $name {
            fn declare(declaration: &mut $crate::scenario::declare::Declaration) {
                use $crate::scenario::declare::{Declaration, Keys, Tag, Variant, sentences};
                let purpose = sentences(&[$($about),+]);
                if declaration.purpose.is_empty() {
                    declaration.name = stringify!($name);
                    declaration.purpose.clone_from(&purpose);
                }
                let variants = vec![$({
                    let purpose = sentences(&[$($doc),+]);
                    let mut declaration =
                        Declaration { name: $value, purpose, ..Declaration::default() };
                    <$group as Keys>::declare(&mut declaration);
                    Variant { name: $value, declaration }
                }),+];
                declaration.tag = Some(Tag { key: $tag, purpose, default: Self::DEFAULT, variants });
            }

            fn allow(
                allowed: &mut $crate::scenario::declare::Allowed,
                table: &$crate::scenario::declare::Table<'_>,
            ) -> Result<(), $crate::scenario::declare::DocumentError> {
                let row = $crate::scenario::declare::row(Self::ROWS, Self::TAG, Self::DEFAULT, table)?;
                allowed.names.push(Self::TAG);
                allowed.because.push_str(&format!(" with {} = \"{}\"", Self::TAG, row.name));
                (row.allow)(allowed, table)
            }

            fn take(
                table: &$crate::scenario::declare::Table<'_>,
            ) -> Result<Self, $crate::scenario::declare::DocumentError> {
                let row = $crate::scenario::declare::row(Self::ROWS, Self::TAG, Self::DEFAULT, table)?;
                (row.take)(table)
            }
        }
    };
}

/// Declares names of which a value is one, as an enum; with `for`, the names of an enum that stands
/// elsewhere.
#[macro_export]
#[doc(hidden)]
macro_rules! choices {
    ($(#[doc = $about:literal])+ $visibility:vis enum $name:ident {
        $($(#[doc = $doc:literal])+ $variant:ident = $value:literal,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $name {
            /// All of them.
            #[allow(dead_code, reason = "not every list is asked for")]
            $visibility const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in a scenario file.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $value,)+
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        $crate::scenario::declare::choices! { for $name {
            $($(#[doc = $doc])+ $variant = $value,)+
        } }
    };
    (for $name:ty {
        $($(#[doc = $doc:literal])+ $variant:ident = $value:literal,)+
    }) => {
        impl $crate::scenario::declare::Readable for $name {
            fn shape() -> $crate::scenario::declare::Shape {
                $crate::scenario::declare::Shape::Choice(vec![$(
                    $crate::scenario::declare::Choice {
                        name: $value,
                        purpose: $crate::scenario::declare::sentences(&[$($doc),+]),
                    }
                ),+])
            }

            fn read(
                value: &$crate::scenario::declare::Value<'_>,
            ) -> Result<Self, $crate::scenario::declare::DocumentError> {
                match value.text()? {
                    $($value => Ok(<$name>::$variant),)+
                    _ => Err(value.is_none_of(&[$($value),+])),
                }
            }
        }
    };
}

pub use crate::{choices, keys, tagged};
