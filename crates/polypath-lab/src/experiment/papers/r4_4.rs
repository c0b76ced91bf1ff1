//! R4-4: fairness beside CUBIC (S4, Figure 10).

pub(super) use super::r4_3::observe;
use crate::experiment::Quantity;
use crate::experiment::runs::least;

const SMALL: (&str, &str) = ("buffer", "1000 packets");
const LARGE: (&str, &str) = ("buffer", "100000 packets");

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "brf_least_jain",
        unit: "",
        meaning: "Jain's index of BRF and CUBIC, with the worse buffer",
        of: |runs| Some(least(&runs.all("brf", "jain")?)),
    },
    Quantity {
        name: "bbr_least_jain",
        unit: "",
        meaning: "Jain's index of BBR and CUBIC, with the worse buffer",
        of: |runs| Some(least(&runs.all("bbr", "jain")?)),
    },
    Quantity {
        name: "bbr_share_small",
        unit: "",
        meaning: "share of BBR beside CUBIC with 1000 packets",
        of: |runs| runs.at("bbr", &[SMALL], "first_share"),
    },
    Quantity {
        name: "bbr_share_large",
        unit: "",
        meaning: "share of BBR beside CUBIC with 100,000 packets",
        of: |runs| runs.at("bbr", &[LARGE], "first_share"),
    },
];
