//! The routing feedback option (BRF) in a segment.

use polypath_brf::Code;

/// The routing feedback option of a segment: four bytes, kind, length and a [`Code`]; or none. Kept
/// in two bytes, because every segment has it or has it not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback(u16);

impl Feedback {
    /// No option. As a code, 1 says nothing, as 0 does: it is free to stand for this.
    pub const NONE: Self = Self(1);

    /// The option with nothing written into it yet, as endpoints send it.
    pub const UNASSIGNED: Self = Self(Code::UNASSIGNED.get());

    /// The option with this code; 1 becomes 0, which says the same.
    pub const fn of(code: Code) -> Self {
        let number = code.get();
        Self(if number == Self::NONE.0 { Code::UNASSIGNED.get() } else { number })
    }

    /// The option if it is `wanted`, with nothing written into it.
    pub(crate) const fn if_wanted(wanted: bool) -> Self {
        if wanted { Self::UNASSIGNED } else { Self::NONE }
    }

    /// Replaces the code, if there is an option.
    pub const fn write(&mut self, code: Code) {
        if self.is_some() {
            *self = Self::of(code);
        }
    }

    /// Whether there is an option.
    pub const fn is_some(self) -> bool {
        self.0 != Self::NONE.0
    }

    /// What it carries; `None` without an option.
    pub const fn code(self) -> Option<Code> {
        if self.is_some() { Some(Code::new(self.0)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_says_something_comes_out_as_it_went_in() {
        assert_eq!((Feedback::NONE.is_some(), Feedback::NONE.code()), (false, None));
        for number in 0..=u16::MAX {
            let code = Code::new(number);
            let carried = Feedback::of(code).code().unwrap();
            assert_eq!(carried.bytes_per_sec(), code.bytes_per_sec(), "{number}");
        }
    }
}
