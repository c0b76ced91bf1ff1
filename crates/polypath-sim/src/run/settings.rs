//! From the options of a connection to the parameters of its ends.

use super::RunError;
use crate::endpoint::{QuicConfig, TcpSettings};
use crate::mptcp::MptcpConfig;
use crate::scenario::{
    BondOptions, Carrier, CompositionOptions, ConnectionSpec, Mptcp, Quic, ReceiveOptions, Tcp,
    TcpOptions, Transport, Tunnel, WindowControl,
};
use crate::tcp::{LossDetection, ReceiveBuffer, TcpConfig};
use polypath_bond::{BondConfig, Composition};
use polypath_core::congestion::{CongestionConfig, CongestionKind, InitialWindow};
use polypath_core::registry::{Configured, Factory};
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
    Quic(QuicConfig),
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
/// What is not said: TCP and QUIC run CUBIC; Multipath TCP is the kernel's, CUBIC on each subflow,
/// the subflow of the least RTT first; a tunnel deals in turn; a bond is as it ships.
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
            Streams::Tcp(tcp_settings(tcp, control, *receive))
        }
        Transport::Quic(Quic { packet_threshold, max_packet, control }) => {
            Streams::Quic(QuicConfig {
                congestion: single_path(control),
                packet_threshold: *packet_threshold,
                // The reader of scenarios allows no larger ones than fit.
                max_packet: max_packet.get() as u32,
            })
        }
        Transport::Mptcp(options) => Streams::Mptcp(mptcp_config(options)),
        Transport::Tunnel(tunnel) => tunnel_settings(&spec.name, tunnel)?,
        Transport::Udp(_) => return Ok(None),
    };
    Ok(Some(streams))
}

/// The settings of the bond of this connection.
///
/// # Errors
/// When the receive buffer is to grow.
pub fn bond_config(connection: &str, options: &BondOptions) -> Result<BondConfig, RunError> {
    let BondOptions { carrier: _, policy: _, tcp: _, composition, receive } = options;
    let mut bond = BondConfig::default();
    set_control(&mut bond.composition.congestion, &composition.control);
    compose(&mut bond.composition, composition);
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

fn mptcp_config(options: &Mptcp) -> MptcpConfig {
    let Mptcp { subflow_buffers, backup: _, tcp, composition, receive } = options;
    let TcpSettings { tcp, mut congestion } = tcp_settings(tcp, &composition.control, *receive);
    congestion.coupled = congestion.avoidance.kind().is_coupled();
    let mut config = MptcpConfig { tcp, ..MptcpConfig::default() };
    config.composition.congestion = congestion;
    compose(&mut config.composition, composition);
    set(&mut config.subflow_buffers, *subflow_buffers);
    config
}

/// Sets what is said of a composition, but for the algorithms of its window.
fn compose(composition: &mut Composition, options: &CompositionOptions) {
    set(&mut composition.congestion.coupled, options.coupled);
    set(&mut composition.scheduler, options.scheduler);
    set(&mut composition.blocking_protection, options.blocking_protection);
    set(&mut composition.failure, options.failure);
    set(&mut composition.opportunistic_retransmission, options.opportunistic_retransmission);
    set(&mut composition.penalisation, options.penalisation);
}

fn tunnel_settings(connection: &str, tunnel: &Tunnel) -> Result<Streams, RunError> {
    if tunnel.failure.is_some() {
        let problem = "a tunnel knows nothing of its paths: it has no `failure` detector";
        return Err(RunError::Setting { connection: connection.to_owned(), problem });
    }
    let scheduler = tunnel.scheduler.unwrap_or(SchedulerKind::RoundRobin.into());
    let tcp = tcp_settings(&tunnel.tcp, &tunnel.control, tunnel.receive);
    let resequencing = tunnel.resequencing;
    Ok(Streams::Tunnel { tcp, scheduler, own_scheduler: None, resequencing })
}

fn tcp_settings(
    options: &TcpOptions,
    control: &WindowControl,
    receive: ReceiveOptions,
) -> TcpSettings {
    let initial_window =
        options.initial_window.map_or_else(InitialWindow::default, InitialWindow::Segments);
    let congestion = CongestionConfig { initial_window, ..single_path(control) };
    let mut tcp = match options.sack {
        Some(false) => TcpConfig { timestamps: true, ..TcpConfig::NEW_RENO },
        _ => TcpConfig::LINUX,
    };
    set_options(&mut tcp, options);
    tcp.receive_buffer = receive.buffer.unwrap_or(tcp.receive_buffer);
    TcpSettings { tcp, congestion }
}

/// The congestion control of what has one path: CUBIC, if nothing else is said.
fn single_path(control: &WindowControl) -> CongestionConfig {
    let mut congestion = CongestionConfig {
        avoidance: CongestionKind::Cubic.into(),
        coupled: false,
        ..CongestionConfig::default()
    };
    set_control(&mut congestion, control);
    congestion
}

fn set_control(congestion: &mut CongestionConfig, control: &WindowControl) {
    set(&mut congestion.avoidance, control.congestion);
    set(&mut congestion.slow_start, control.slow_start);
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
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
