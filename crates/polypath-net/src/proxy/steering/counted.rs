//! A stream that counts what passes, and keeps it to a rate.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use polypath_steering::Way;
use polypath_units::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::RuleCounters;

/// The least that passes at once, in bytes, where a rule has a rate: what a packet carries.
const LEAST: usize = 1_460;

/// The stream to a client's target, which counts for the rule that let it through.
#[derive(Debug)]
pub(in crate::proxy) struct Counted<S> {
    stream: S,
    counters: Arc<RuleCounters>,
    /// Of the clock that the rate of the rule goes by.
    epoch: Instant,
    writing: Turn,
    reading: Turn,
}

impl<S> Counted<S> {
    /// A connection that has come about.
    pub(in crate::proxy) fn new(stream: S, counters: Arc<RuleCounters>, epoch: Instant) -> Self {
        counters.begin_conversation();
        Self { stream, counters, epoch, writing: Turn::default(), reading: Turn::default() }
    }
}

fn time(epoch: Instant) -> Timestamp {
    Timestamp::ZERO + epoch.elapsed()
}

/// When the rate lets something pass again, in one direction; nothing while it does.
#[derive(Debug, Default)]
struct Turn(Option<Pin<Box<Sleep>>>);

impl Turn {
    /// How many bytes may pass now.
    fn poll(
        &mut self,
        (counters, epoch): (&RuleCounters, Instant),
        way: Way,
        cx: &mut Context<'_>,
    ) -> Poll<usize> {
        loop {
            if let Some(pause) = &mut self.0 {
                ready!(pause.as_mut().poll(cx));
                self.0 = None;
            }
            // Others may have used what there was meanwhile.
            let Some((wait, burst)) = counters.wait(way, time(epoch)) else {
                return Poll::Ready(usize::MAX);
            };
            if wait.is_zero() {
                return Poll::Ready(burst.max(LEAST));
            }
            self.0 = Some(Box::pin(sleep(wait)));
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, counters, epoch, reading, .. } = &mut *self;
        let most = ready!(reading.poll((counters, *epoch), Way::Received, cx));
        let before = buf.filled().len();
        let read = if most < buf.remaining() {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(most));
            let read = Pin::new(stream).poll_read(cx, &mut part);
            let bytes = part.filled().len();
            buf.advance(bytes);
            read
        } else {
            Pin::new(stream).poll_read(cx, buf)
        };
        let bytes = buf.filled().len() - before;
        counters.receive(bytes);
        counters.pass(Way::Received, bytes, time(*epoch));
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { stream, counters, epoch, writing, .. } = &mut *self;
        let most = ready!(writing.poll((counters, *epoch), Way::Sent, cx));
        let written = Pin::new(stream).poll_write(cx, &buf[..most.min(buf.len())]);
        if let Poll::Ready(Ok(bytes)) = written {
            counters.send(bytes);
            counters.pass(Way::Sent, bytes, time(*epoch));
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Steering, SteeringRules};
    use super::*;
    use polypath_bond::FlowMode;
    use polypath_policy::Policy;
    use std::path::Path;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
    use tokio::time::Instant;

    fn counters(rate: &str) -> Arc<RuleCounters> {
        let rules = format!("[[rule]]\nname = \"a\"\nmode = \"aggregate\"\n{rate}\n");
        let policy = Policy::parse(Path::new("p"), &rules).unwrap();
        let steering = Steering::new(SteeringRules::new(policy, FlowMode::Aggregate));
        steering.admit(None, &"192.0.2.1:80".parse().unwrap()).unwrap().counters
    }

    /// How long it takes to write so much, and the target to write as much, at the same time.
    async fn transfer(rate: &str, bytes: usize) -> Duration {
        let (near, mut target) = duplex(1 << 20);
        let (mut reading, mut writing) = split(Counted::new(near, counters(rate), Instant::now()));
        let start = Instant::now();
        let data = vec![0; bytes];
        let (mut at_target, mut here) = (vec![0; bytes], vec![0; bytes]);
        let of_target = async {
            target.write_all(&data).await.unwrap();
            target.read_exact(&mut at_target).await.unwrap();
        };
        let (sent, received, ()) =
            tokio::join!(writing.write_all(&data), reading.read_exact(&mut here), of_target);
        sent.and(received).unwrap();
        start.elapsed()
    }

    /// 1 MB at 8 Mbit/s takes 1 s, in both directions at once. Of that 50 ms and one chunk of 50 ms
    /// go ahead at the start; a timer is late by a millisecond at most.
    #[tokio::test(start_paused = true)]
    async fn streams_are_paced_in_each_direction() {
        let time = transfer("rate = \"8 Mbit/s\"", 1_000_000).await;
        let expected = Duration::from_millis(899)..=Duration::from_millis(1_001);
        assert!(expected.contains(&time), "{time:?}");
        assert_eq!(transfer("", 1_000_000).await, Duration::ZERO);
    }

    /// Two connections have the rate together.
    #[tokio::test(start_paused = true)]
    async fn connections_share_the_rate_of_their_rule() {
        let counters = counters("rate = \"8 Mbit/s\"");
        let start = Instant::now();
        let send = || async {
            let (near, mut far) = duplex(1 << 20);
            let mut stream = Counted::new(near, Arc::clone(&counters), start);
            stream.write_all(&[0; 500_000]).await.unwrap();
            drop(stream);
            far.read_to_end(&mut Vec::new()).await.unwrap();
        };
        tokio::join!(send(), send());
        // As above, with a chunk of each.
        let expected = Duration::from_millis(849)..=Duration::from_millis(1_001);
        assert!(expected.contains(&start.elapsed()), "{:?}", start.elapsed());
    }
}
