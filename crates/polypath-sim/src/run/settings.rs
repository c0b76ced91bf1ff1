//! From the options of a connection to the parameters of its ends.

use super::RunError;
use crate::endpoint::TcpSettings;
use crate::mptcp::MptcpConfig;
use crate::scenario::{
    AlgorithmName, BondOptions, Carrier, ConnectionSpec, Mptcp, NameKind, ReceiveOptions,
    ScenarioError, Tcp, TcpOptions, Transport, Tunnel, WindowControl,
};
use crate::tcp::{LossDetection, ReceiveBuffer, TcpConfig};
use core::str::FromStr;
use polypath_bond::BondConfig;
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::registry::{Algorithm, Configured, Factory, UnknownAlgorithm};
use polypath_core::scheduler::{Scheduler, SchedulerKind};
use std::time::Duration;

/// How long arrivals are merged if `gro` is on: the poll of a busy network card.
const GRO: Duration = Duration::from_micros(20);

/// How a connection transports byte streams, with all parameters.
#[derive(Clone, Debug)]
pub(super) enum Streams {
    QuicBond(BondConfig),
    LightBond(BondConfig),
    Tcp(TcpSettings),
    Mptcp(MptcpConfig),
    Tunnel {
        tcp: TcpSettings,
        scheduler: Configured<SchedulerKind>,
        /// In place of `scheduler`.
        own_scheduler: Option<Factory<dyn Scheduler>>,
        resequencing: Duration,
    },
}

/// The parameters of a connection; `None` if it carries datagrams.
///
/// What is not said: TCP runs CUBIC; Multipath TCP is the kernel's, CUBIC on each subflow, the
/// subflow of the least RTT first; a tunnel deals in turn; a bond is as it ships.
pub(super) fn settings_of(spec: &ConnectionSpec) -> Result<Option<Streams>, RunError> {
    let streams = match &spec.transport {
        Transport::Bond(options) => {
            let config = bond_config(&spec.name, options)?;
            match options.carrier {
                Carrier::Quic => Streams::QuicBond(config),
                Carrier::Light => Streams::LightBond(config),
            }
        }
        Transport::Tcp(Tcp { tcp, control, receive }) => {
            Streams::Tcp(tcp_settings(tcp, control, *receive)?)
        }
        Transport::Mptcp(options) => Streams::Mptcp(mptcp_config(options)?),
        Transport::Tunnel(tunnel) => tunnel_settings(&spec.name, tunnel)?,
        Transport::Udp(_) => return Ok(None),
    };
    Ok(Some(streams))
}

/// The settings of the bond of this connection.
///
/// # Errors
/// When an algorithm is not known, or the receive buffer is to grow.
pub fn bond_config(connection: &str, options: &BondOptions) -> Result<BondConfig, RunError> {
    let BondOptions {
        coupled,
        scheduler,
        blocking_protection,
        failure,
        opportunistic_retransmission,
        penalisation,
        carrier: _,
        control,
        receive,
    } = options;
    let mut bond = BondConfig::default();
    set_control(&mut bond.congestion, control)?;
    set(&mut bond.scheduler, NameKind::Scheduler, scheduler.as_ref())?;
    set(&mut bond.failure, NameKind::Failure, failure.as_ref())?;
    switch([
        (&mut bond.congestion.coupled, *coupled),
        (&mut bond.blocking_protection, *blocking_protection),
        (&mut bond.opportunistic_retransmission, *opportunistic_retransmission),
        (&mut bond.penalisation, *penalisation),
    ]);
    match receive.buffer {
        None => {}
        Some(ReceiveBuffer::Fixed(bytes)) => bond.receive_buffer = bytes,
        Some(ReceiveBuffer::Auto { .. }) => {
            let problem = "a bond has a fixed `receive_buffer`; it does not grow";
            return Err(RunError::Setting { connection: connection.to_owned(), problem });
        }
    }
    Ok(bond)
}

fn mptcp_config(options: &Mptcp) -> Result<MptcpConfig, RunError> {
    let TcpSettings { tcp, mut congestion } =
        tcp_settings(&options.tcp, &options.control, options.receive)?;
    congestion.coupled = options.coupled.unwrap_or(congestion.avoidance.kind().is_coupled());
    let mut config = MptcpConfig { tcp, congestion, ..MptcpConfig::default() };
    set(&mut config.scheduler, NameKind::Scheduler, options.scheduler.as_ref())?;
    set(&mut config.failure, NameKind::Failure, options.failure.as_ref())?;
    switch([
        (&mut config.opportunistic_retransmission, options.opportunistic_retransmission),
        (&mut config.penalisation, options.penalisation),
        (&mut config.subflow_buffers, options.subflow_buffers),
        (&mut config.blocking_protection, options.blocking_protection),
    ]);
    Ok(config)
}

/// Sets the switches that are given.
fn switch(switches: [(&mut bool, Option<bool>); 4]) {
    for (switch, option) in switches {
        *switch = option.unwrap_or(*switch);
    }
}

fn tunnel_settings(connection: &str, tunnel: &Tunnel) -> Result<Streams, RunError> {
    if tunnel.failure.is_some() {
        let problem = "a tunnel knows nothing of its paths: it has no `failure` detector";
        return Err(RunError::Setting { connection: connection.to_owned(), problem });
    }
    let mut scheduler = SchedulerKind::RoundRobin.into();
    set(&mut scheduler, NameKind::Scheduler, tunnel.scheduler.as_ref())?;
    let tcp = tcp_settings(&tunnel.tcp, &tunnel.control, tunnel.receive)?;
    let resequencing = tunnel.resequencing;
    Ok(Streams::Tunnel { tcp, scheduler, own_scheduler: None, resequencing })
}

fn tcp_settings(
    options: &TcpOptions,
    control: &WindowControl,
    receive: ReceiveOptions,
) -> Result<TcpSettings, RunError> {
    let mut congestion = CongestionConfig {
        avoidance: CongestionKind::Cubic.into(),
        coupled: false,
        initial_segments: options.initial_window,
        ..CongestionConfig::default()
    };
    set_control(&mut congestion, control)?;
    let mut tcp = match options.sack {
        Some(false) => TcpConfig { timestamps: true, ..TcpConfig::NEW_RENO },
        _ => TcpConfig::LINUX,
    };
    set_options(&mut tcp, options);
    tcp.receive_buffer = receive.buffer.unwrap_or(tcp.receive_buffer);
    Ok(TcpSettings { tcp, congestion })
}

fn set_control(
    congestion: &mut CongestionConfig,
    control: &WindowControl,
) -> Result<(), ScenarioError> {
    set(&mut congestion.avoidance, NameKind::Congestion, control.congestion.as_ref())?;
    set(&mut congestion.slow_start, NameKind::SlowStart, control.slow_start.as_ref())
}

/// Replaces an algorithm by the one of this name and settings, if a name is given.
fn set<K: Algorithm + FromStr<Err = UnknownAlgorithm>>(
    algorithm: &mut Configured<K>,
    kind: NameKind,
    name: Option<&AlgorithmName>,
) -> Result<(), ScenarioError> {
    if let Some(name) = name {
        *algorithm = name.configured(kind)?;
    }
    Ok(())
}

fn set_options(tcp: &mut TcpConfig, options: &TcpOptions) {
    let &TcpOptions { mss, sack, timestamps, ecn, dupack_threshold, .. } = options;
    let &TcpOptions { rack, tlp, min_rto, delayed_ack, pacing, idle_restart, gso, gro, .. } =
        options;
    // The reader of scenarios allows no larger ones than fit.
    tcp.mss = mss.map_or(tcp.mss, |mss| mss.get() as u32);
    tcp.sack = sack.unwrap_or(tcp.sack);
    tcp.timestamps = timestamps.unwrap_or(tcp.timestamps);
    tcp.ecn = ecn.unwrap_or(tcp.ecn);
    tcp.dupack_threshold = dupack_threshold.unwrap_or(tcp.dupack_threshold);
    // RACK and probes stand on SACK (RFC 8985 section 3).
    let by_time = rack.unwrap_or(tcp.sack);
    tcp.loss_detection = if by_time { LossDetection::Rack } else { LossDetection::DupackThreshold };
    tcp.tlp = tlp.unwrap_or(by_time);
    if let Some(min) = min_rto {
        (tcp.rto.min, tcp.rto.variation_min) = (min, min);
    }
    match delayed_ack {
        None => {}
        Some(Duration::ZERO) => (tcp.ack_every, tcp.delayed_ack) = (1, Duration::ZERO),
        Some(delay) => tcp.delayed_ack = delay,
    }
    tcp.pacing = pacing.unwrap_or(tcp.pacing);
    tcp.idle_restart = idle_restart.unwrap_or(tcp.idle_restart);
    if gso == Some(false) {
        (tcp.pacing_quantum, tcp.min_burst) = (Duration::ZERO, 1);
    }
    tcp.gro = gro.map_or(tcp.gro, |on| if on { GRO } else { Duration::ZERO });
}
