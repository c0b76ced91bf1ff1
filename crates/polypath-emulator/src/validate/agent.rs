//! The path manager of Polypath, in the namespaces of both hosts.

use crate::kernel::ends;
use crate::live::Network;
use crate::netns::enter;
use polypath_mptcp::{Agent, AgentError, Choice, Status};
use polypath_sim::run::Plan;
use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use tokio::sync::{oneshot, watch};

/// Why no path manager runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentsError {
    /// A thread could not enter a namespace, or not run there.
    #[error("cannot run in the namespace of a host: {0}")]
    Namespace(io::Error),
    /// The path manager.
    #[error("the path manager: {0}")]
    Agent(#[from] AgentError),
}

/// Those that run. They end when this is dropped.
pub(super) struct Agents(Vec<Running>);

struct Running {
    end: oneshot::Sender<()>,
    thread: JoinHandle<Result<(), AgentsError>>,
}

impl Agents {
    /// Starts one at each end of the first connection, for all of its interfaces.
    pub(super) fn start(plan: &Plan, network: &Network) -> Result<Self, AgentsError> {
        let namespaces = network.namespaces().plan();
        let routes = plan.connections().first().map(|planned| &planned.routes[0]);
        let hosts = routes.into_iter().flat_map(|route| ends(plan, route, namespaces));
        let start = |(namespace, _): (String, _)| {
            let node = namespaces.nodes.iter().find(|node| node.namespace == namespace);
            let names = node.into_iter().flat_map(|node| &node.interfaces);
            let choices = names.filter_map(|interface| interface.name.parse().ok()).collect();
            Running::start(namespace, choices)
        };
        Ok(Self(hosts.map(start).collect::<Result<_, _>>()?))
    }

    /// Ends them.
    pub(super) fn stop(self) -> Result<(), AgentsError> {
        let panicked = |_| Err(AgentsError::Namespace(io::Error::other("its thread panicked")));
        self.0.into_iter().try_for_each(|Running { end, thread }| {
            drop(end);
            thread.join().unwrap_or_else(panicked)
        })
    }
}

impl Running {
    /// Returns when it manages.
    fn start(namespace: String, choices: Vec<Choice>) -> Result<Self, AgentsError> {
        let (ready, started) = mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        let manage = move || {
            let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime =
                enter(&namespace).and_then(|()| runtime()).map_err(AgentsError::Namespace)?;
            runtime.block_on(async {
                let agent = Agent::start(choices).await?;
                // The other end waits for this.
                let _ = ready.send(());
                let (status, _) = watch::channel(Status::default());
                agent.run(async { drop(ended.await) }, status).await?;
                Ok(())
            })
        };
        let thread = Builder::new().name("path manager".into()).spawn(manage);
        let thread = thread.map_err(AgentsError::Namespace)?;
        let running = Self { end, thread };
        match started.recv() {
            Ok(()) => Ok(running),
            // It says why.
            Err(_) => Agents(vec![running])
                .stop()
                .and(Err(AgentsError::Namespace(io::Error::other("it ended at once")))),
        }
    }
}
