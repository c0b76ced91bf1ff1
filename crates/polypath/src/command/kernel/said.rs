//! How settings are told.

use polypath_kernel::Settings;
use serde_json::{Value, json};

pub(super) fn settings(settings: Settings) -> String {
    let Settings { slow_start, coupled, of_this_build } = settings;
    let coupled = if coupled { "coupled" } else { "uncoupled" };
    let build = if of_this_build { "" } else { ", by another version of polypath" };
    format!("slow start {slow_start}, {coupled}{build}")
}

pub(super) fn settings_to_json(settings: Settings) -> Value {
    let Settings { slow_start, coupled, of_this_build } = settings;
    json!({
        "slow_start": slow_start.name(),
        "coupled": coupled,
        "of_this_build": of_this_build,
    })
}
