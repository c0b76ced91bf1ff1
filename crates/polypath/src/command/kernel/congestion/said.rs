//! How that is told which is loaded.

use polypath_kernel::{Pinned, Settings};
use serde_json::{Value, json};

pub(super) fn pinned(pinned: Pinned) -> String {
    let Pinned { settings: Settings { slow_start, coupled, of_this_build }, cgroups, .. } = pinned;
    let coupled = if coupled { "coupled" } else { "uncoupled" };
    let cgroups = match cgroups {
        0 => String::new(),
        1 => ", for a cgroup".to_owned(),
        more => format!(", for {more} cgroups"),
    };
    let build = if of_this_build { "" } else { ", by another version of polypath" };
    format!("slow start {slow_start}, {coupled}{cgroups}{build}")
}

pub(super) fn pinned_to_json(pinned: Pinned) -> Value {
    let Pinned { settings: Settings { slow_start, coupled, of_this_build }, cgroups, .. } = pinned;
    json!({
        "slow_start": slow_start.name(),
        "coupled": coupled,
        "cgroups": cgroups,
        "of_this_build": of_this_build,
    })
}
