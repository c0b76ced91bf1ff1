//! `polypath status`: asks a running edge or hub.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::RangedI64ValueParser;
use serde::Serialize;

use crate::control::{self, CONVERSATIONS, MOST_CONVERSATIONS, conversation_table};
use crate::output;

/// Show the paths and counters of the running edge or hub, or of a file that is being sent
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Show the conversations that pass instead: MOST of them, up to 1000, those of most bytes
    /// [default: 100]
    #[arg(long, value_name = "MOST", num_args = 0..=1, require_equals = true, value_parser = most())]
    conversations: Option<Option<u16>>,
    /// Of conversations show those of this rule alone
    #[arg(long, value_name = "NAME", requires = "conversations")]
    rule: Option<String>,
    /// Control socket of the edge, the hub or `polypath send` [default: that of the first edge or
    /// hub found in the default places]
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
}

/// What `polypath status` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusOptions {
    /// Whether to print JSON.
    pub json: bool,
    /// Which conversations to show, if not the status.
    pub conversations: Option<ConversationsOptions>,
    /// The control socket to ask; `None` to look in the default places.
    pub control: Option<PathBuf>,
}

/// Which conversations to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationsOptions {
    /// So many at most.
    pub most: u16,
    /// Those of this rule alone.
    pub rule: Option<String>,
}

fn most() -> RangedI64ValueParser<u16> {
    RangedI64ValueParser::new().range(1..=MOST_CONVERSATIONS.into())
}

impl From<StatusArgs> for StatusOptions {
    fn from(StatusArgs { json, conversations, rule, control }: StatusArgs) -> Self {
        let conversations = conversations.map(|most| {
            let most = most.unwrap_or(CONVERSATIONS);
            ConversationsOptions { most, rule }
        });
        Self { json, conversations, control }
    }
}

/// Shows what the node says of itself.
///
/// # Errors
/// When none is running there.
pub fn run(options: &StatusOptions) -> anyhow::Result<ExitCode> {
    let control = options.control.as_deref();
    let text = match &options.conversations {
        None => {
            let status = control::ask(control)?;
            if options.json { json(&status)? } else { status.table() }
        }
        Some(ConversationsOptions { most, rule }) => {
            let told = control::ask_conversations(control, *most, rule.as_deref())?;
            if options.json { json(&told)? } else { conversation_table(&told) }
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn json(told: &impl Serialize) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(told)?))
}
