//! What the kernel is to do of a scenario.

use super::buffer::memory_of;
use super::congestion::{KernelCongestion, LoadedCongestion};
use super::socket::KernelTransport;
use super::transfer::{Pace, Source};
use crate::plan::{NetworkPlan, NodePlan};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::registry::{Algorithm, Configured};
use polypath_core::slow_start::SlowStartKind;
use polypath_kernel::CONGESTION;
use polypath_sim::Direction;
use polypath_sim::run::{Plan, Planned};
use polypath_sim::scenario::{
    CompositionOptions, ConstantRate, Flow, FlowKind, Mptcp, OnOff, ReceiveOptions, Spread, Tcp,
    TcpOptions, Transport, WindowControl,
};
use polypath_sim::tcp::{ReceiveBuffer, TcpConfig};
use polypath_sim::topology::{LinkId, Route};
use polypath_units::Timestamp;
use std::net::{IpAddr, SocketAddr};

/// The first port that servers listen on.
const PORT: u16 = 5_001;
/// The congestion controls of the registry that the kernel has itself.
const OWN: [CongestionKind; 3] = [CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Bbr];
/// The parameter of CUBIC of which the kernel's value is not the default.
const LATE_ALPHA: &str = "late_alpha";
/// What a sender may hold, in bytes: more than any window here, so that it is no limit, as there is
/// none in the simulator.
const SEND_BUFFER: u64 = 64 << 20;

/// What a receiver may hold at first, in bytes: the kernel's default (`tcp_rmem`).
const FIRST_RECEIVE_BUFFER: u64 = 131_072;

/// What a flow with times of silence writes at a time, in bytes.
const PACED_BLOCK: usize = 1_200;
const UNSUITED_FLOW: &str = "the kernel makes flows of the kinds \"bulk\", \"constant_rate\" without \
    a `deadline`, and \"on_off\" with a `rate` and `durations = \"constant\"`";

/// A connection that the kernel makes.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelConnection {
    /// Its name.
    pub name: String,
    /// Its protocol.
    pub transport: KernelTransport,
    /// Its congestion control.
    pub congestion: KernelCongestion,
    /// The namespace and the address that it is opened from.
    pub client: (String, SocketAddr),
    /// The namespace and the address that it is opened to.
    pub server: (String, SocketAddr),
    /// When.
    pub start: Timestamp,
    /// What it carries.
    pub flows: Vec<KernelFlow>,
}

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFlow {
    /// Up is from the client.
    pub direction: Direction,
    /// What is sent.
    pub source: Source,
    /// When it begins, after the start of the scenario.
    pub start: Timestamp,
    /// When it ends at the latest.
    pub stop: Timestamp,
}

/// Something in a scenario that the kernel cannot do, or that is not done with it here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("connection {connection:?}: {problem}")]
pub struct Unsuited {
    /// The connection.
    pub connection: String,
    /// What is wrong, and what is allowed.
    pub problem: String,
}

/// The connections of a plan.
///
/// # Errors
/// At the first that is not the kernel's.
pub fn connections(plan: &Plan, network: &NetworkPlan) -> Result<Vec<KernelConnection>, Unsuited> {
    let numbered = plan.connections().iter().zip(PORT..);
    let connection = |(planned, port): (&Planned, u16)| {
        connection(plan, planned, network, port)
            .map_err(|problem| Unsuited { connection: planned.name.clone(), problem })
    };
    numbered.map(connection).collect()
}

fn connection(
    plan: &Plan,
    planned: &Planned,
    network: &NetworkPlan,
    port: u16,
) -> Result<KernelConnection, String> {
    let spec = &plan.scenario().connections[planned.spec];
    let (transport, congestion) = protocol(&spec.transport)?;
    if transport == KernelTransport::Mptcp && !spec.paths.is_empty() {
        return Err("`paths`: the kernel opens a subflow over each link of the host".to_owned());
    }
    let [client, server] = ends(plan, &planned.routes[0], network);
    let flow = |(_, flow): (usize, &Flow)| kernel_flow(flow, planned);
    Ok(KernelConnection {
        name: planned.name.clone(),
        transport,
        congestion,
        client: (client.0, SocketAddr::new(client.1, 0)),
        server: (server.0, SocketAddr::new(server.1, port)),
        start: planned.start,
        flows: plan.flows_of(planned).map(flow).collect::<Result<_, _>>()?,
    })
}

/// The protocol of a transport and its congestion control, if they are the kernel's with the
/// kernel's options.
fn protocol(transport: &Transport) -> Result<(KernelTransport, KernelCongestion), String> {
    match transport {
        Transport::Tcp(Tcp { tcp, control, receive }) => {
            only_defaults(tcp, *receive)?;
            Ok((KernelTransport::Tcp, congestion(control, false)?))
        }
        Transport::Mptcp(options) => {
            let Mptcp { composition, tcp, backup, receive, subflow_buffers: _ } = options;
            only_defaults(tcp, *receive)?;
            let CompositionOptions { control, coupled, .. } = composition;
            let is_coupled = coupled.unwrap_or_else(|| kind(control).kind().is_coupled());
            let congestion = congestion(control, is_coupled)?;
            let coupled = match congestion {
                KernelCongestion::Own(_) => *coupled,
                KernelCongestion::Loaded(_) => None,
            };
            let control = WindowControl::default();
            let rest = CompositionOptions { control, coupled, ..*composition };
            // `subflow_buffers` says that the simulator is to do as the kernel does.
            match rest != CompositionOptions::default() || !backup.is_empty() {
                true => Err("the kernel's Multipath TCP has none of the options `coupled` (but \
                    with what Polypath brings), `scheduler`, `failure`, \
                    `opportunistic_retransmission`, `penalisation`, `blocking_protection`, \
                    `backup`"
                    .to_owned()),
                false => Ok((KernelTransport::Mptcp, congestion)),
            }
        }
        other => {
            let name = other.name();
            Err(format!("{name:?} is no transport of the kernel: \"tcp\" and \"mptcp\" are"))
        }
    }
}

fn only_defaults(tcp: &TcpOptions, receive: ReceiveOptions) -> Result<(), String> {
    let defaults = TcpOptions { gso: tcp.gso.filter(|on| !on), ..TcpOptions::default() };
    if *tcp != defaults {
        let problem = "`tcp`: the kernel's TCP runs with its defaults, and with `gso = false`";
        return Err(problem.to_owned());
    }
    match receive.buffer {
        None | Some(ReceiveBuffer::Auto { .. }) => Ok(()),
        Some(ReceiveBuffer::Fixed(_)) => {
            Err("`receive_buffer`: the kernel's grows, up to `receive_buffer_max`".to_owned())
        }
    }
}

/// Up to which size the receive buffers of a plan grow, in bytes: a host has one for all.
fn largest_receive_buffer(plan: &Plan) -> Result<u64, Unsuited> {
    let mut sizes = plan.scenario().connections.iter().map(|spec| {
        let receive = match &spec.transport {
            Transport::Tcp(tcp) => tcp.receive,
            Transport::Mptcp(mptcp) => mptcp.receive,
            _ => ReceiveOptions::default(),
        };
        match receive.buffer.unwrap_or(TcpConfig::LINUX.receive_buffer) {
            ReceiveBuffer::Auto { max: size, .. } | ReceiveBuffer::Fixed(size) => (spec, size),
        }
    });
    let (_, first) = sizes.next().expect("a plan has flows, and these have a connection");
    match sizes.find(|(_, size)| *size != first) {
        None => Ok(first),
        Some((spec, size)) => Err(Unsuited {
            connection: spec.name.clone(),
            problem: format!(
                "`receive_buffer_max`: {size} bytes here and {first} before; the connections of a \
                 host have one in the kernel"
            ),
        }),
    }
}

fn kind(control: &WindowControl) -> Configured<CongestionKind> {
    control.congestion.unwrap_or(CongestionKind::Cubic.into())
}

fn congestion(control: &WindowControl, coupled: bool) -> Result<KernelCongestion, String> {
    let congestion = kind(control);
    only_kernels(&congestion)?;
    let slow_start = control.slow_start.unwrap_or(CongestionConfig::default().slow_start);
    only_kernels(&slow_start)?;
    let loaded = LoadedCongestion::new(congestion.kind(), slow_start.kind(), coupled)?;
    if let Some(loaded) = loaded {
        return Ok(KernelCongestion::Loaded(loaded));
    }
    let name = congestion.kind().name();
    if !OWN.contains(&congestion.kind()) {
        let own = OWN.iter().map(|kind| kind.name());
        let loaded = CONGESTION.iter().map(|row| row.kind.name());
        let allowed: Vec<_> = own.chain(loaded).collect();
        return Err(format!(
            "`congestion`: the kernel has no {name:?}; allowed: {}",
            allowed.join(", ")
        ));
    }
    if control.slow_start.is_some() && !is_kernels(slow_start.kind().name(), name) {
        let problem = "`slow_start`: that of the kernel is part of its congestion control: \
            \"hystart\" with \"cubic\", \"standard\" with others";
        return Err(problem.to_owned());
    }
    Ok(KernelCongestion::Own(name.to_owned()))
}

/// Refuses parameters of algorithms but those that say how the kernel's are.
fn only_kernels<K: Algorithm>(algorithm: &Configured<K>) -> Result<(), String> {
    let name = algorithm.kind().description().name;
    let is_kernels = |setting: &(&str, f64)| (name, *setting) == ("cubic", (LATE_ALPHA, 0.0));
    match algorithm.settings().find(|setting| !is_kernels(setting)) {
        None => Ok(()),
        Some((parameter, value)) => Err(format!(
            "`{parameter} = {value}` of {name:?}: the kernel's algorithms have the parameters of \
             the kernel; only `{LATE_ALPHA} = 0` of \"cubic\", which is what it does, may be given"
        )),
    }
}

/// Whether the kernel has a congestion control with this slow start: its own, or Polypath's.
pub fn kernel_has(congestion: CongestionKind, slow_start: SlowStartKind) -> bool {
    if OWN.contains(&congestion) {
        return is_kernels(slow_start.name(), congestion.name());
    }
    matches!(LoadedCongestion::new(congestion, slow_start, true), Ok(Some(_)))
}

/// Whether a slow start is that of a congestion control of the kernel, or has no effect there.
fn is_kernels(slow_start: &str, congestion: &str) -> bool {
    match congestion {
        "cubic" => slow_start == "hystart",
        "bbr" => true,
        _ => slow_start == "standard",
    }
}

fn kernel_flow(flow: &Flow, planned: &Planned) -> Result<KernelFlow, String> {
    let source = match &flow.kind {
        FlowKind::Bulk(bulk) => Source::Bulk(bulk.bytes.map(|bytes| bytes.get())),
        FlowKind::ConstantRate(ConstantRate { rate, packet, deadline: None }) => {
            Source::Paced(Pace { rate: *rate, block: packet.get() as usize, on_off: None })
        }
        FlowKind::OnOff(OnOff { on, off, durations: Spread::Constant, rate: Some(rate) }) => {
            Source::Paced(Pace { rate: *rate, block: PACED_BLOCK, on_off: Some((*on, *off)) })
        }
        _ => return Err(UNSUITED_FLOW.to_owned()),
    };
    let (start, stop) = planned.times(flow);
    Ok(KernelFlow { direction: flow.direction, source, start, stop })
}

/// The namespaces of both hosts, with their addresses on the first and the last link of a route.
pub(crate) fn ends(plan: &Plan, route: &Route, network: &NetworkPlan) -> [(String, IpAddr); 2] {
    let topology = plan.topology();
    // Routes of a plan have links.
    let [first, last] = [0, route.0.len() - 1].map(|link| route.0[link]);
    [(topology.edge(first).from, first), (topology.edge(last).to, last)].map(|(node, link)| {
        let node = &network.nodes[node.0 as usize];
        (node.namespace.clone(), address(node, link, network))
    })
}

/// The IPv4 address of a node on one of its links.
fn address(node: &NodePlan, link: LinkId, network: &NetworkPlan) -> IpAddr {
    let here =
        |number: usize| [network.links[number].up, network.links[number].down].contains(&link);
    let interface = node.interfaces.iter().find(|interface| here(interface.link));
    interface.expect("a node has an interface for each of its links").addresses.v4.into()
}

/// Kernel parameters under which a host's TCP is the one that the simulator has: a receive buffer
/// that offers as large a window, which takes more memory, and no limit of the send buffer.
///
/// # Errors
/// If its connections have receive buffers that grow to different sizes.
pub fn host_sysctls(plan: &Plan) -> Result<Vec<(String, String)>, Unsuited> {
    let max = memory_of(largest_receive_buffer(plan)?);
    let first = max.min(FIRST_RECEIVE_BUFFER);
    let sysctl = |key: &str, value: String| (key.to_owned(), value);
    Ok(vec![
        sysctl("net.ipv4.tcp_rmem", format!("4096 {first} {max}")),
        sysctl("net.ipv4.tcp_wmem", format!("4096 16384 {SEND_BUFFER}")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_sim::scenario::Scenario;
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    const PATHS: &str = r#"
        duration = "9 s"
        [[path]]
        name = "slow"
        rate = "10 Mbit/s"
        delay = "40 ms"
        [[path]]
        name = "fast"
        rate = "50 Mbit/s"
        delay = "10 ms"
    "#;

    fn plan(rest: &str) -> Plan {
        let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        let text = format!("{PATHS}{rest}");
        let scenario = Scenario::parse(&text, Path::new("test.toml"), no_trace).unwrap();
        Plan::new(scenario).unwrap()
    }

    fn planned(rest: &str) -> Result<Vec<KernelConnection>, Unsuited> {
        let plan = plan(rest);
        let network = NetworkPlan::new(&"x".parse().unwrap(), plan.topology()).unwrap();
        connections(&plan, &network)
    }

    /// The second path is the faster one: its subnet is 10.0.2.0.
    #[test]
    fn tcp_takes_the_path_of_the_simulator() {
        let rest = r#"
            [connection]
            transport = "tcp"
            congestion = "reno"
            [[flow]]
            kind = "bulk"
            bytes = "1 MB"
            direction = "down"
            start = "2 s"
        "#;
        let connection = &planned(rest).unwrap()[0];
        assert_eq!(connection.transport, KernelTransport::Tcp);
        assert_eq!(connection.congestion.name(), "reno");
        assert_eq!(connection.client, ("x-client".to_owned(), "10.0.2.1:0".parse().unwrap()));
        assert_eq!(connection.server, ("x-server".to_owned(), "10.0.2.2:5001".parse().unwrap()));
        let [flow] = connection.flows[..] else { panic!("one flow") };
        let source = Source::Bulk(Some(1_000_000));
        assert_eq!((flow.direction, flow.source), (Direction::Down, source));
        assert_eq!(flow.start, Timestamp::ZERO + Duration::from_secs(2));
        assert_eq!(flow.stop, Timestamp::MAX);
    }

    #[test]
    fn connections_of_a_table_have_ports_and_times_of_their_own() {
        let rest = r#"
            [connection]
            transport = "mptcp"
            count = 2
            stagger = "3 s"
            [[flow]]
            kind = "bulk"
        "#;
        let connections = planned(rest).unwrap();
        let ports = connections.iter().map(|connection| connection.server.1.port());
        assert_eq!(ports.collect::<Vec<_>>(), [5_001, 5_002]);
        assert_eq!(connections[1].start, Timestamp::from_millis(3_000));
        assert!(connections.iter().all(|connection| connection.congestion.name() == "cubic"));
        assert!(connections.iter().all(|c| c.transport == KernelTransport::Mptcp));
    }

    #[test]
    fn what_the_kernel_does_not_do_is_refused() {
        let bulk = "\n[[flow]]\nkind = \"bulk\"\n";
        let tcp = "[connection]\ntransport = \"tcp\"\n";
        for (rest, expected) in [
            (format!("[connection]{bulk}"), "\"bond\" is no transport of the kernel"),
            (format!("{tcp}slow_start = \"standard\"{bulk}"), "`slow_start`"),
            (format!("{tcp}receive_buffer = \"1 MB\"{bulk}"), "`receive_buffer`"),
            (format!("{tcp}tcp = {{ sack = false }}{bulk}"), "`tcp`"),
            (format!("{tcp}tcp = {{ gso = true }}{bulk}"), "`tcp`"),
            (
                format!("{tcp}[[flow]]\nkind = \"on_off\"\non = \"1 s\"\noff = \"1 s\"\n"),
                "\"bulk\"",
            ),
            (format!("[connection]\ntransport = \"mptcp\"\nscheduler = \"ecf\"{bulk}"), "none of"),
            (format!("[connection]\ntransport = \"mptcp\"\npaths = [\"fast\"]{bulk}"), "`paths`"),
        ] {
            let problem = planned(&rest).unwrap_err().to_string();
            assert!(problem.starts_with("connection \"connection1\": "), "{problem}");
            assert!(problem.contains(expected), "{problem}");
        }
        assert!(planned(&format!("{tcp}tcp = {{ gso = false }}{bulk}")).is_ok());
        let reno = format!("{tcp}congestion = \"reno\"\nslow_start = ");
        assert!(planned(&format!("{reno}\"standard\"{bulk}")).is_ok());
        assert!(planned(&format!("{reno}\"hystart\"{bulk}")).is_err());
        assert!(planned(&format!("{tcp}slow_start = \"hystart\"{bulk}")).is_ok());
    }

    #[test]
    fn parameters_of_algorithms_are_the_kernels() {
        let cubic = |parameters: &str| {
            planned(&format!(
                "[connection]\ntransport = \"tcp\"\n\
                 congestion = {{ name = \"cubic\"{parameters} }}\n[[flow]]\nkind = \"bulk\"\n"
            ))
        };
        for parameters in ["", ", late_alpha = 0"] {
            assert_eq!(cubic(parameters).unwrap()[0].congestion.name(), "cubic");
        }
        for (parameters, named) in [
            (", late_alpha = 0.5", "`late_alpha = 0.5` of \"cubic\""),
            (", late_alpha = 0, beta = 0.5", "`beta = 0.5` of \"cubic\""),
        ] {
            let problem = cubic(parameters).unwrap_err().to_string();
            assert!(problem.contains(named), "{problem}");
            assert!(problem.contains("only `late_alpha = 0`"), "{problem}");
        }
    }

    /// A window is 158 of 256 bytes of memory.
    #[test]
    fn hosts_have_the_receive_window_of_the_simulator() {
        let rmem = |rest: &str| {
            let parameters = host_sysctls(&plan(&format!("{rest}[[flow]]\nkind = \"bulk\"\n")));
            let [(key, rmem), _] = &parameters.unwrap()[..] else { panic!("two parameters") };
            assert_eq!(key, "net.ipv4.tcp_rmem");
            rmem.clone()
        };
        let tcp = "[connection]\ntransport = \"tcp\"\n";
        assert_eq!(rmem(tcp), "4096 131072 10193752");
        assert_eq!(rmem(&format!("{tcp}receive_buffer_max = \"3 MiB\"\n")), "4096 131072 5096876");
        assert_eq!(rmem(&format!("{tcp}receive_buffer_max = \"50 kB\"\n")), "4096 81013 81013");
    }

    #[test]
    fn a_host_has_one_receive_buffer_for_all() {
        let connection = |name: &str, max: &str| {
            format!(
                "[[connection]]\nname = \"{name}\"\ntransport = \"tcp\"\n\
                 receive_buffer_max = \"{max}\"\n[[flow]]\nconnection = \"{name}\"\nkind = \"bulk\"\n"
            )
        };
        let two = |b: &str| host_sysctls(&plan(&(connection("a", "1 MB") + &connection("b", b))));
        assert!(two("1 MB").is_ok());
        let problem = two("2 MB").unwrap_err().to_string();
        assert!(
            problem
                .contains("connection \"b\": `receive_buffer_max`: 2000000 bytes here and 1000000"),
            "{problem}"
        );
    }

    #[test]
    fn what_the_kernel_has_is_told() {
        let of = |congestion: &str| {
            planned(&format!(
                "[connection]\ntransport = \"tcp\"\ncongestion = \"{congestion}\"\n\
                 slow_start = \"standard\"\n[[flow]]\nkind = \"bulk\"\n"
            ))
        };
        assert!(kernel_has(CongestionKind::Olia, SlowStartKind::Bess));
        assert!(!kernel_has(CongestionKind::Olia, SlowStartKind::Hystart));
        assert!(kernel_has(CongestionKind::Reno, SlowStartKind::Standard));
        assert!(!kernel_has(CongestionKind::Reno, SlowStartKind::Bess));
        assert!(!kernel_has(CongestionKind::Polypath, SlowStartKind::Standard));
        assert_eq!(of("olia").unwrap()[0].congestion.name(), "pp_olia");
        let problem = of("polypath").unwrap_err().to_string();
        assert!(
            problem.contains("the kernel has no \"polypath\"; allowed: reno, cubic, bbr, balia")
        );
    }
}
