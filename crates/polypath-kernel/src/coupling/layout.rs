//! Where things are in the programs' state: what their BTF says.

use crate::KernelCongestion;
use crate::load::CONNECTIONS;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, HasSize};

/// `PP_FLOWS` (`bpf/include/connection.h`).
pub(super) const FLOWS: usize = 8;

/// The state of a connection as bytes.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) size: usize,
    owners: usize,
    ends: Array,
    flows: Array,
    pub(super) end: EndOffsets,
    pub(super) flow: FlowOffsets,
}

/// An array of structures: its first byte, and the bytes of each.
#[derive(Clone, Copy, Debug)]
struct Array {
    first: usize,
    size: usize,
}

/// Declares the offsets of fields of a structure of the programs, and how they are looked up.
macro_rules! offsets {
    ($(#[$meta:meta])* $name:ident of $structure:literal { $($field:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(super) struct $name { $(pub(super) $field: usize),+ }

        impl $name {
            fn of(btf: &Btf<'_>) -> Option<(Self, usize)> {
                let of: Struct<'_> = btf.type_by_name($structure)?;
                Some((Self { $($field: offset(&of, stringify!($field))?),+ }, of.size()))
            }
        }
    };
}

offsets! {
    /// Of `struct pp_ends`.
    EndOffsets of "pp_ends" {
        multipath, name_space, interface, family, local_port, remote_port, local, remote,
    }
}

offsets! {
    /// Of `struct pp_flow`.
    FlowOffsets of "pp_flow" {
        window, threshold, srtt_ns, in_flight, in_recovery, usable,
    }
}

impl Layout {
    /// That of an algorithm's programs, as this build has them.
    pub(super) fn of(row: &KernelCongestion) -> Option<Self> {
        let btf = Btf::from_raw(CONNECTIONS, row.object).ok()??;
        let shared: Struct<'_> = btf.type_by_name("pp_shared")?;
        let connection: Struct<'_> = btf.type_by_name("pp_connection")?;
        let (end, end_size) = EndOffsets::of(&btf)?;
        let (flow, flow_size) = FlowOffsets::of(&btf)?;
        let flows = offset(&shared, "connection")? + offset(&connection, "flows")?;
        Some(Self {
            size: shared.size(),
            owners: offset(&shared, "owners")?,
            ends: Array { first: offset(&shared, "ends")?, size: end_size },
            flows: Array { first: flows, size: flow_size },
            end,
            flow,
        })
    }

    /// Whether an entry is a subflow's.
    pub(super) fn is_owned(&self, state: &[u8], entry: usize) -> bool {
        u64::from_ne_bytes(bytes(state, self.owners + entry * 8)) != 0
    }

    /// The `struct pp_ends` of an entry.
    pub(super) fn ends<'a>(&self, state: &'a [u8], entry: usize) -> &'a [u8] {
        self.ends.get(state, entry)
    }

    /// The `struct pp_flow` of an entry.
    pub(super) fn flow<'a>(&self, state: &'a [u8], entry: usize) -> &'a [u8] {
        self.flows.get(state, entry)
    }
}

impl Array {
    fn get(self, state: &[u8], entry: usize) -> &[u8] {
        &state[self.first + entry * self.size..][..self.size]
    }
}

/// The bytes of a field that begins at `offset`, which is within what holds it.
pub(super) fn bytes<const N: usize>(of: &[u8], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&of[offset..][..N]);
    field
}

/// The first byte of a field.
fn offset(of: &Struct<'_>, field: &str) -> Option<usize> {
    let member = of.iter().find(|member| member.name.is_some_and(|name| name == field))?;
    match member.attr {
        MemberAttr::Normal { offset } => usize::try_from(offset / 8).ok(),
        MemberAttr::BitField { .. } => None,
    }
}
