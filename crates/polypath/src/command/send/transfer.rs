//! Sending that goes on when the hub is back.

use std::time::Duration;

use anyhow::{Context, anyhow};
use polypath_net::edge::Edge;
use polypath_net::proxy::OpenError;
use polypath_net::tunnel::{Digest, FileOffer, FileSendError, agree_on_start, send_rest};
use tokio::fs::File;
use tokio::time::{Instant, sleep, timeout_at};

/// Time before the file is offered again: the edge opens a new bond a little after the old broke.
const PAUSE: Duration = Duration::from_millis(250);

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transferred {
    pub(super) digest: Digest,
    /// What the hub had before the first byte was sent.
    pub(super) resumed_at: u64,
    pub(super) new_bytes: u64,
}

/// A transfer that was cut off, or one that is over.
enum Failed {
    /// The way to the hub broke.
    Cut(anyhow::Error),
    /// Another attempt would fail, too.
    Final(anyhow::Error),
}

/// Sends the file, in as many attempts as it takes. Gives up when no attempt is answered for as
/// long as `patience`, or when the hub will never answer.
pub(super) async fn transfer(
    edge: &Edge,
    offer: &FileOffer,
    file: &mut File,
    patience: Duration,
) -> anyhow::Result<Transferred> {
    tokio::select! {
        sent = insist(edge, offer, file, patience) => sent,
        error = edge.refused() => Err(error).with_context(|| format!("{} was not sent", offer.name)),
    }
}

async fn insist(
    edge: &Edge,
    offer: &FileOffer,
    file: &mut File,
    patience: Duration,
) -> anyhow::Result<Transferred> {
    let mut attempts = Attempts { first_start: None, give_up: Instant::now() + patience, patience };
    loop {
        let cut = match attempts.next(edge, offer, file).await {
            Ok(digest) => {
                let resumed_at = attempts.first_start.unwrap_or(0);
                return Ok(Transferred { digest, resumed_at, new_bytes: offer.size - resumed_at });
            }
            Err(Failed::Final(error)) => return Err(error),
            Err(Failed::Cut(error)) => error,
        };
        if Instant::now() + PAUSE >= attempts.give_up {
            return Err(cut.context("gave up; the same command goes on where this one stopped"));
        }
        tracing::info!("{cut:#}; trying to go on");
        sleep(PAUSE).await;
    }
}

/// How the attempts have gone so far.
struct Attempts {
    /// Where the first one that was answered began.
    first_start: Option<u64>,
    give_up: Instant,
    patience: Duration,
}

impl Attempts {
    async fn next(
        &mut self,
        edge: &Edge,
        offer: &FileOffer,
        file: &mut File,
    ) -> Result<Digest, Failed> {
        let name = &offer.name;
        let offered = async {
            let opened = edge.opener().offer_file(offer.clone()).await;
            let mut stream = opened.map_err(|error| not_taken(error, name.as_str()))?;
            let agreed = agree_on_start(&mut stream, file, offer.size).await;
            Ok((stream, agreed.map_err(|error| not_sent(error, name.as_str()))?))
        };
        let (mut stream, agreed) =
            timeout_at(self.give_up, offered).await.unwrap_or_else(|_| {
                let error = anyhow!("the hub has not answered for {:?}", self.patience);
                Err(Failed::Cut(error.context(format!("{name} was not sent"))))
            })?;
        self.first_start.get_or_insert(agreed.start());
        let sent = send_rest(&mut stream, file, agreed, offer.size).await;
        // It was there a moment ago.
        self.give_up = Instant::now() + self.patience;
        sent.map_err(|error| not_sent(error, name.as_str()))
    }
}

fn not_taken(error: OpenError, name: &str) -> Failed {
    let cut = matches!(error, OpenError::Tunnel(_) | OpenError::TimedOut(_));
    let error = anyhow!(error).context(format!("the hub did not take {name}"));
    if cut { Failed::Cut(error) } else { Failed::Final(error) }
}

fn not_sent(error: FileSendError, name: &str) -> Failed {
    let cut = matches!(error, FileSendError::Stream(_));
    let error = anyhow!(error).context(format!("{name} was not sent"));
    if cut { Failed::Cut(error) } else { Failed::Final(error) }
}
