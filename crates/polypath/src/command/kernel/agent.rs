//! `polypath kernel agent`: the path manager for the kernel's Multipath TCP.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use polypath_mptcp::Choice;

use crate::service::LogFormat;

/// Manage the paths of the kernel's Multipath TCP: end subflows on dead paths, make them again
///
/// Connections that begin while it runs have a subflow over each path. A subflow that falls silent
/// is ended in about two round trips, so that its data goes over others, and is made again within a
/// second of the path's return. It routes what begins at the address of an interface through that
/// interface. `polypath status` shows the subflows. Needs root (CAP_NET_ADMIN), nothing of eBPF.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AgentArgs {
    /// Use this interface; several times for several [default: all that have a default route].
    /// `backup`: only while no other works. `priority=N`, 0 to 255: only those with the lowest
    /// number that works are used [default: 0]
    #[arg(long = "interface", value_name = "NAME[,backup][,priority=N]")]
    interfaces: Vec<Choice>,
    /// Form of the log lines [default: text]
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    log_format: LogFormat,
    /// Control socket [default: the first place that will do, as the log says]
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
}

/// Manages until a signal comes.
///
/// # Errors
/// When this is not Linux with Multipath TCP, or not allowed.
#[cfg(target_os = "linux")]
pub(super) fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    use crate::control::{ControlSocket, Status};
    use crate::service::{self, Stop};
    use anyhow::Context;
    use polypath_mptcp::Agent;
    use polypath_net::conversations::{Conversations, Wanted};
    use tokio::sync::watch;

    const LOG: &str = "warn,polypath=info,polypath_mptcp=info";

    service::start_log(args.log_format, LOG)?;
    service::run(async {
        let mut stop = Stop::new()?;
        let control = ControlSocket::open(args.control.as_deref())?;
        let started = tokio::time::Instant::now();
        let agent = Agent::start(args.interfaces.clone()).await;
        let agent = agent.context("the path manager cannot start")?;
        let (tell, told) = watch::channel(polypath_mptcp::Status::default());
        let status = || Status::of_agent(started.elapsed(), told.borrow().clone());
        let no_conversations = async |_: &Wanted| Ok(Conversations::default());
        let end = async {
            tokio::select! {
                () = stop.wait() => Ok(()),
                ended = control.serve(status, no_conversations) => ended,
            }
        };
        let ended = agent.run(end, tell).await.context("the path manager has ended")?;
        ended.context("the control socket has ended")?;
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

/// Says what is missing.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(super) fn run(_args: &AgentArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("Multipath TCP with a path manager is Linux's; this is another system")
}
