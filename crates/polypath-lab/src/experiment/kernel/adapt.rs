//! A scenario as the kernel can have it.

use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::registry::{Algorithm, Configured};
use polypath_core::scheduler::SchedulerKind;
use polypath_sim::scenario::{
    CompositionOptions, Mptcp, ReceiveOptions, Scenario, Tcp, TcpOptions, Transport, WindowControl,
};
use polypath_sim::tcp::ReceiveBuffer;

/// The kernel's CUBIC has the constant after a loss that this stands for.
const CUBIC: &[(&str, f64)] = &[("late_alpha", 0.0)];

/// What becomes of a scenario.
#[derive(Clone, Debug)]
pub(super) struct Adapted {
    /// For the simulator.
    pub(super) simulator: Scenario,
    /// For the kernel: the same but for what is not its own.
    pub(super) kernel: Scenario,
    /// Whether Polypath's path manager runs at both ends: it has the rule of FPF.
    pub(super) agents: bool,
    /// Parameters of algorithms that the kernel has otherwise.
    pub(super) differences: Vec<String>,
}

/// The scenario with the kernel's TCP: options of TCP become Linux's, parameters of algorithms
/// their defaults, a receive buffer of a fixed size one that grows to it, and Multipath TCP deals
/// data to its subflows ahead, as Linux does in place of the scheduler that the simulator has if
/// nothing is said. FPF becomes the path manager.
///
/// # Errors
/// What is there that stock kernels do not have.
pub(super) fn adapted(scenario: &Scenario) -> Result<Adapted, String> {
    let mut simulator = scenario.clone();
    let (mut differences, mut agents) = (Vec::new(), false);
    for connection in &mut simulator.connections {
        match &mut connection.transport {
            Transport::Tcp(Tcp { tcp, control, receive }) => {
                adapt_tcp(tcp, receive);
                adapt_control(control, &mut differences);
            }
            Transport::Mptcp(mptcp) => agents |= adapt_mptcp(mptcp, &mut differences)?,
            other => {
                let problem = "is no transport of the kernel: \"tcp\" and \"mptcp\" are";
                return Err(format!("{:?} {problem}", other.name()));
            }
        }
    }
    let mut kernel = simulator.clone();
    for connection in &mut kernel.connections {
        if let Transport::Mptcp(mptcp) = &mut connection.transport {
            mptcp.composition.failure = None;
        }
    }
    Ok(Adapted { simulator, kernel, agents, differences })
}

fn adapt_tcp(tcp: &mut TcpOptions, receive: &mut ReceiveOptions) {
    // Network cards of namespaces do not cut bursts.
    *tcp = TcpOptions { gso: Some(false), ..TcpOptions::default() };
    if let Some(ReceiveBuffer::Fixed(size)) = receive.buffer {
        receive.buffer = Some(ReceiveBuffer::up_to(size));
    }
}

/// Returns whether Polypath's path manager is to run.
fn adapt_mptcp(mptcp: &mut Mptcp, differences: &mut Vec<String>) -> Result<bool, String> {
    let Mptcp { subflow_buffers, backup: _, tcp, composition, receive } = mptcp;
    adapt_tcp(tcp, receive);
    *subflow_buffers = Some(true);
    let CompositionOptions { control, coupled, scheduler, failure, .. } = composition;
    adapt_control(control, differences);
    if let Some(wanted) = scheduler.map(|scheduler| scheduler.kind())
        && wanted != SchedulerKind::LowRtt
    {
        return Err(format!(
            "`scheduler`: stock kernels have one for Multipath TCP, and {:?} is not it",
            wanted.name()
        ));
    }
    let agents = match failure.map(|failure| failure.kind()) {
        None => false,
        Some(FailureKind::Fpf) => true,
        Some(other) => {
            return Err(format!(
                "`failure`: {:?} is not in the kernel's world; allowed: none, and \"fpf\", which \
                 is the rule of Polypath's path manager",
                other.name()
            ));
        }
    };
    let failure = agents.then(|| FailureKind::Fpf.into());
    *composition = CompositionOptions {
        control: control.clone(),
        coupled: *coupled,
        failure,
        ..CompositionOptions::default()
    };
    Ok(agents)
}

fn adapt_control(control: &mut WindowControl, differences: &mut Vec<String>) {
    if let Some(congestion) = &mut control.congestion {
        *congestion = defaults(congestion, differences);
        if congestion.kind() == CongestionKind::Cubic {
            for (name, value) in CUBIC {
                congestion.set(name, *value).expect("CUBIC has the parameter");
            }
        }
    }
    if let Some(slow_start) = &mut control.slow_start {
        *slow_start = defaults(slow_start, differences);
    }
}

/// The same algorithm with the defaults of its parameters.
fn defaults<K: Algorithm>(
    algorithm: &Configured<K>,
    differences: &mut Vec<String>,
) -> Configured<K> {
    let description = algorithm.kind().description();
    for (name, value) in algorithm.settings() {
        let row = description.parameters.iter().find(|row| row.name == name);
        let default = row.map_or(value, |row| row.default);
        let is_kernels = CUBIC.contains(&(name, value)) && description.name == "cubic";
        if !is_kernels {
            differences.push(format!(
                "`{name}` of {} is {default} in the kernel, not {value}",
                description.name
            ));
        }
    }
    algorithm.kind().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::kernel::trial::tests::scenario;

    const PATHS: &str = "
        duration = '1 s'
        [[path]]
        name = 'a'
        rate = '10 Mbit/s'
        delay = '5 ms'
        [[path]]
        name = 'b'
        rate = '10 Mbit/s'
        delay = '20 ms'
        [connection]
        transport = 'mptcp'
        congestion = { name = 'cabe', start_share = 1 }
        slow_start = 'bess'
        scheduler = 'low_rtt'
        receive_buffer = '1 MB'
        tcp = { rack = false, pacing = 'off', mss = '1448 B' }
        [[flow]]
        kind = 'bulk'
    ";

    fn of(set: &[&str]) -> Result<Adapted, String> {
        let set: Vec<_> = set.iter().map(|&set| set.to_owned()).collect();
        adapted(&scenario(PATHS, &set))
    }

    fn mptcp(scenario: &Scenario) -> &Mptcp {
        let Transport::Mptcp(mptcp) = &scenario.connections[0].transport else { panic!("MPTCP") };
        mptcp
    }

    #[test]
    fn tcp_becomes_that_of_the_kernel() {
        let adapted = of(&[]).unwrap();
        let Mptcp { subflow_buffers, tcp, composition, receive, .. } = mptcp(&adapted.simulator);
        assert_eq!(*subflow_buffers, Some(true));
        assert_eq!(*tcp, TcpOptions { gso: Some(false), ..TcpOptions::default() });
        assert_eq!(receive.buffer, Some(ReceiveBuffer::up_to(1_000_000)));
        assert_eq!(composition.scheduler, None);
        assert_eq!(composition.control.congestion, Some(CongestionKind::Cabe.into()));
        assert_eq!(composition.control.slow_start.unwrap().kind().name(), "bess");
        assert_eq!(adapted.differences, ["`start_share` of cabe is 0.02 in the kernel, not 1"]);
        assert!(!adapted.agents);
        assert_eq!(adapted.kernel, adapted.simulator);
    }

    #[test]
    fn fpf_becomes_the_path_manager() {
        let adapted = of(&["connection.failure={ name = 'fpf', timer_margin = 10 }"]).unwrap();
        assert!(adapted.agents);
        assert_eq!(mptcp(&adapted.simulator).composition.failure, Some(FailureKind::Fpf.into()));
        assert_eq!(mptcp(&adapted.kernel).composition.failure, None);
    }

    #[test]
    fn cubic_is_the_kernels() {
        let cubic = "connection={ transport = 'tcp', congestion = 'cubic' }";
        let adapted = of(&[cubic]).unwrap();
        let Transport::Tcp(tcp) = &adapted.simulator.connections[0].transport else { panic!() };
        let settings: Vec<_> = tcp.control.congestion.iter().flat_map(|c| c.settings()).collect();
        assert_eq!(settings, CUBIC);
        assert_eq!(adapted.differences, [""; 0]);
    }

    #[test]
    fn what_stock_kernels_do_not_have_is_told() {
        for (set, expected) in [
            (
                "connection.scheduler=blest",
                "stock kernels have one for Multipath TCP, and \"blest\"",
            ),
            ("connection.failure=rto", "\"rto\" is not in the kernel's world; allowed: none, and"),
            ("connection={ transport = 'bond' }", "\"bond\" is no transport of the kernel"),
        ] {
            let problem = of(&[set]).unwrap_err();
            assert!(problem.contains(expected), "{set}: {problem}");
        }
    }
}
