//! Marks of packets.

use std::fmt;

/// Bits that a mark takes.
const WIDTH: u32 = 3;

/// The bits of packet marks (SO_MARK, `meta mark`) that are ours, three of 32. What others keep in
/// the other bits stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    lowest_bit: u32,
}

/// A place for the marks that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("marks cannot begin at bit {0}; allowed: 0 to {highest}", highest = u32::BITS - WIDTH)]
pub struct MarksError(u32);

/// A value of our bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) value: u32,
    pub(super) mask: u32,
}

impl Marks {
    /// Marks in the three bits from this one on, counted from the lowest.
    ///
    /// # Errors
    /// If there are not as many.
    pub const fn at(lowest_bit: u32) -> Result<Self, MarksError> {
        if lowest_bit > u32::BITS - WIDTH {
            return Err(MarksError(lowest_bit));
        }
        Ok(Self { lowest_bit })
    }

    /// What sockets of the bond carry (SO_MARK): their packets are left alone.
    pub const fn of_bond(&self) -> u32 {
        self.bond().value
    }

    pub(super) const fn bond(&self) -> Mark {
        self.mark(1)
    }

    /// Packets that arrived at an uplink, and answers in connections that began so.
    pub(super) const fn uplink(&self) -> Mark {
        self.mark(2)
    }

    /// Packets of intercepted connections of the host itself.
    pub(super) const fn own(&self) -> Mark {
        self.mark(3)
    }

    /// Packets of intercepted connections from a LAN. They have a mark other than those of the host
    /// since reverse path filters look for the sender as if the packet were the host's own.
    pub(super) const fn forwarded(&self) -> Mark {
        self.mark(4)
    }

    const fn mark(&self, value: u32) -> Mark {
        let mask = ((1 << WIDTH) - 1) << self.lowest_bit;
        Mark { value: value << self.lowest_bit, mask }
    }
}

/// The three bits below the highest one, which other programs that mark packets leave alone.
impl Default for Marks {
    fn default() -> Self {
        Self { lowest_bit: 28 }
    }
}

impl Mark {
    /// Whether a packet has it, in the language of nft.
    pub(super) fn is_on_packet(self) -> String {
        format!("meta mark & {:#010x} == {:#010x}", self.mask, self.value)
    }

    /// Whether a connection has it.
    pub(super) fn is_on_connection(self) -> String {
        format!("ct mark & {:#010x} == {:#010x}", self.mask, self.value)
    }

    /// Gives it to a packet.
    pub(super) fn put_on_packet(self) -> String {
        format!("meta mark set meta mark & {:#010x} | {:#010x}", !self.mask, self.value)
    }

    /// Gives it to a connection.
    pub(super) fn put_on_connection(self) -> String {
        format!("ct mark set ct mark & {:#010x} | {:#010x}", !self.mask, self.value)
    }
}

/// As ip(8) writes it.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}/{:#x}", self.value, self.mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_and_keep_to_their_bits() {
        for lowest_bit in 0..=29 {
            let marks = Marks::at(lowest_bit).unwrap();
            let all = [marks.bond(), marks.uplink(), marks.own(), marks.forwarded()];
            let mut values = all.map(|mark| mark.value);
            values.sort_unstable();
            assert!(values.windows(2).all(|pair| pair[0] != pair[1]) && values[0] != 0);
            assert!(all.iter().all(|mark| mark.value & !mark.mask == 0));
        }
        assert_eq!(Marks::at(30), Err(MarksError(30)));
    }
}
