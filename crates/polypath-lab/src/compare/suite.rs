//! The scenarios that everything is compared in.

use serde::Serialize;

/// The connection that is compared is called so in every scenario of the suite.
pub const BOND: &str = "bond";

/// What a scenario of the suite may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// To choose algorithms and parameters by.
    Tuning,
    /// Held out until they were looked at: nothing was chosen by them before, and what is chosen
    /// since may have been.
    Seen,
    /// For the final table alone; drawn at random.
    HeldOut,
}

// As the folders are called.
polypath_units::named!(Part, "is no part of the suite", {
    Tuning => "tuning",
    Seen => "seen",
    HeldOut => "held_out",
});

/// A scenario of the suite: the file `suite/PART/NAME.toml` of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteScenario {
    /// Its name.
    pub name: &'static str,
    /// What it may be used for: the folder that it is in.
    pub part: Part,
    /// The text of the file.
    pub text: &'static str,
}

/// The files, by folder.
macro_rules! suite {
    ($($part:ident in $folder:literal: [$($name:literal),+ $(,)?]),+ $(,)?) => {
        /// The suite, those for tuning first.
        pub const SUITE: &[SuiteScenario] = &[$($(SuiteScenario {
            name: $name,
            part: Part::$part,
            text: include_str!(concat!(
                "../../suite/", $folder, "/", $name, ".toml"
            )),
        }),+),+];
    };
}

suite! {
    Tuning in "tuning": [
        "static_5g_lte",
        "equal_operators",
        "walk_5g_lte",
        "drive_two_operators",
        "train_two_operators",
        "handover",
        "blockage",
        "deep_buffer",
        "small_receive_buffer",
        "lossy",
        "shared_bottleneck",
        "short_web",
        "cbr_video_call",
    ],
    Seen in "seen": [
        "static_three",
        "far_apart",
        "walk_mmwave",
        "drive_5g_lte",
        "train_three_operators",
        "handover_with_loss",
        "silent_death",
        "deep_buffer_everywhere",
        "small_receive_buffer_three",
        "lossy_bursts",
        "busy_cell",
        "short_files",
        "cbr_remote_driving",
    ],
    HeldOut in "held_out": [
        "drawn_static",
        "drawn_unequal",
        "drawn_walk",
        "drawn_drive",
        "drawn_train",
        "drawn_handover",
        "drawn_death",
        "drawn_deep_buffer",
        "drawn_small_receive_buffer",
        "drawn_loss",
        "drawn_competing",
        "drawn_short",
        "drawn_constant_rate",
    ],
}
