//! How clients get what they ask for, and what they get while the hub is away.

use std::future::Future;
use std::time::Duration;

use polypath_policy::Protocol;
use tokio::time::timeout;

use super::steering::{Admission, ClientStream, Counted};
use super::{Carriage, FlowOptions, GuardedStream, OpenError, Opener, ProxyOptions, Way};
use crate::conversations::{Carried, Watched};
use crate::origin::Ends;
use crate::tunnel::Target;

/// How long a request waits for a path before the hub is said to be away. A path that comes back is
/// found within 1.3 s, however long it was dead: a failed one is probed every 0.4 s, one that joins
/// again sends a packet every 1.1 s (docs/protocol.md, 8.3 and 2.2). So this is twice that, and
/// little for who waits for a page.
const GRACE: Duration = Duration::from_secs(3);

/// What becomes of a request while no path to the hub works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAway {
    /// It fails within seconds, and the client is told so.
    #[default]
    Fail,
    /// It waits until a path works again, or the client gives up.
    Wait,
}

polypath_units::named!(WhenAway, "says nothing of requests while the hub is away", {
    Fail => "fail",
    Wait => "wait",
});

impl ProxyOptions {
    /// Connects to a target for a client, if no rule drops that.
    pub(super) async fn connect<O: Opener>(
        &self,
        client: &GuardedStream,
        opener: &O,
        target: Target,
    ) -> Result<ClientStream<O::Stream>, OpenError> {
        let ends = ends(client);
        let Admission { counters, carriage } = self.steering.admit(ends, &target)?;
        let ask = || opener.connect_as(&carriage, target.clone());
        let stream = self.open(opener.way(), self.patient(client), ask).await?;
        let source = ends.map(|ends| ends.source);
        let talk = self.steering.begin(Carried::Stream, source, target);
        talk.steer(&counters, &Carriage::default());
        Ok(Counted::new(Watched::new(stream, talk), counters, self.steering.epoch()))
    }

    /// Opens a UDP association for a client that waits for it, as datagrams are carried that no
    /// rule matches.
    pub(super) async fn associate_for<O: Opener>(
        &self,
        client: &GuardedStream,
        opener: &O,
    ) -> Result<O::Flow, OpenError> {
        let carriage = self.steering.otherwise();
        let ask = || opener.associate(self.flow_options(&carriage));
        self.open(opener.way(), self.patient(client), ask).await
    }

    /// Opens a UDP association for datagrams that are carried so. They never wait long: who sent
    /// them does not expect an answer to them minutes later.
    pub(super) async fn associate<O: Opener>(
        &self,
        opener: &O,
        carriage: &Carriage,
    ) -> Result<O::Flow, OpenError> {
        self.open(opener.way(), None, || opener.associate(self.flow_options(carriage))).await
    }

    fn flow_options(&self, carriage: &Carriage) -> FlowOptions {
        FlowOptions { idle_timeout: Some(self.udp_idle_timeout), carriage: carriage.clone() }
    }

    /// The client, if its request waits for as long as it does.
    fn patient<'a>(&self, client: &'a GuardedStream) -> Option<&'a GuardedStream> {
        match self.when_away {
            WhenAway::Fail => None,
            WhenAway::Wait => Some(client),
        }
    }

    /// Asks once the way works, and again where it is lost before there is an answer and `patient`
    /// waits for one: what was asked for on the way that was lost is given up.
    async fn open<T, F>(
        &self,
        mut way: Way,
        patient: Option<&GuardedStream>,
        ask: impl Fn() -> F,
    ) -> Result<T, OpenError>
    where
        F: Future<Output = Result<T, OpenError>>,
    {
        loop {
            self.reach(&mut way, patient).await?;
            tokio::select! {
                biased;
                answer = timeout(self.open_timeout, ask()) => {
                    return answer.unwrap_or(Err(OpenError::TimedOut(self.open_timeout)));
                }
                () = way.lost_for(GRACE) => if patient.is_none() {
                    return Err(self.away());
                },
            }
        }
    }

    /// Waits until the way works.
    async fn reach(&self, way: &mut Way, patient: Option<&GuardedStream>) -> Result<(), OpenError> {
        let Some(client) = patient else {
            return timeout(GRACE, way.restored()).await.map_err(|_| self.away());
        };
        if !way.works() {
            self.limits.tell_away("clients wait: no path to the hub works");
        }
        tokio::select! {
            biased;
            () = way.restored() => Ok(()),
            error = client.given_up(self.half_closed_timeout) => Err(OpenError::Unwanted(error)),
        }
    }

    fn away(&self) -> OpenError {
        self.limits.tell_away("requests of clients failed: no path to the hub works");
        OpenError::Away(GRACE)
    }
}

/// Those of a client's connection.
fn ends(client: &GuardedStream) -> Option<Ends> {
    let (source, destination) = (client.tcp().peer_addr().ok()?, client.tcp().local_addr().ok()?);
    Some(Ends { protocol: Protocol::TCP.number(), source, destination })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::pin::pin;

    use futures_util::poll;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::watch;
    use tokio::time::{Instant, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn client() -> (GuardedStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        (GuardedStream::new(near).unwrap(), far)
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_fails_without_being_asked_when_no_path_comes_back_in_time() {
        let (sender, works) = watch::channel(false);
        let options = ProxyOptions::default();
        let open = |works| options.open(Way::while_true(works), None, || async { Ok(()) });
        let start = Instant::now();
        assert!(matches!(open(works.clone()).await, Err(OpenError::Away(GRACE))));
        assert_eq!(start.elapsed(), GRACE);
        let back = async {
            sleep(SECOND).await;
            sender.send_replace(true);
        };
        tokio::join!(open(works), back).0.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_not_answered_fails_with_the_way_or_with_its_own_time() {
        let (sender, works) = watch::channel(true);
        let options = ProxyOptions::default();
        let open = |works| options.open::<(), _>(Way::while_true(works), None, pending);
        let start = Instant::now();
        assert!(matches!(open(works.clone()).await, Err(OpenError::TimedOut(_))));
        assert_eq!(start.elapsed(), options.open_timeout);
        let lost = async {
            sleep(SECOND).await;
            sender.send_replace(false);
        };
        let start = Instant::now();
        assert!(matches!(tokio::join!(open(works), lost).0, Err(OpenError::Away(GRACE))));
        assert_eq!(start.elapsed(), SECOND + GRACE);
    }

    /// The way is lost after it was asked for, and works again an hour later.
    #[tokio::test(start_paused = true)]
    async fn who_waits_is_asked_for_again_when_the_way_is_back() {
        let ((near, _far), asked) = (client().await, Cell::new(0));
        let (sender, works) = watch::channel(true);
        let options = ProxyOptions::default();
        let ask = || {
            asked.set(asked.get() + 1);
            let answered = asked.get() == 2;
            async move { if answered { Ok(()) } else { pending().await } }
        };
        let mut open = pin!(options.open(Way::while_true(works), Some(&near), ask));
        assert!(poll!(&mut open).is_pending());
        sender.send_replace(false);
        let hour = 3600 * SECOND;
        assert!(timeout(hour, &mut open).await.is_err());
        assert_eq!(asked.get(), 1);
        sender.send_replace(true);
        open.await.unwrap();
    }

    #[tokio::test]
    async fn who_has_left_is_not_waited_with() {
        let (near, far) = client().await;
        let (_sender, works) = watch::channel(false);
        let options =
            ProxyOptions { half_closed_timeout: Duration::ZERO, ..ProxyOptions::default() };
        drop(far);
        let open = options.open::<(), _>(Way::while_true(works), Some(&near), pending);
        let given_up = timeout(30 * SECOND, open).await.unwrap();
        assert!(matches!(given_up, Err(OpenError::Unwanted(_))), "{given_up:?}");
    }

    #[test]
    fn choices_have_names() {
        for choice in WhenAway::ALL {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        let error = "maybe".parse::<WhenAway>().unwrap_err().to_string();
        assert!(error.ends_with("allowed: fail, wait"), "{error}");
    }
}
