//! Congestion controls that stay loaded, and what is told of the connections that use them. Needs
//! root.

use crate::namespace::Namespace;
use crate::network::{LOOKS, Network, address, carry, connect, mptcp};
use crate::own_bpffs::with_own_bpffs;
use libbpf_rs::{MapCore as _, MapFlags, MapHandle};
use polypath_core::congestion::CongestionKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_kernel::{
    Connection, Control, KernelConfig, Outcome, Pins, PinsError, Status, Unloaded, Wanted,
};
use rustix::process::{Resource, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::thread;

const LIA: KernelConfig = KernelConfig {
    congestion: CongestionKind::Lia,
    slow_start: SlowStartKind::Standard,
    coupled: true,
};
const PINNED: &str = "/sys/fs/bpf/polypath/pp_lia";

/// What is told in a namespace of the one congestion control there.
fn control(host: &Namespace) -> Control {
    let mut controls = host.within(|| Status::read(&Pins::default()).unwrap()).controls;
    assert_eq!(controls.len(), 1, "{controls:?}");
    controls.remove(0)
}

fn subflows(control: &Control) -> usize {
    control.connections.iter().map(|of| of.subflows.len()).sum()
}

fn windows(connection: &Connection) -> Vec<(u32, f64)> {
    let told = connection.subflows.iter().map(|(subflow, state)| {
        let measured = &subflow.measured;
        assert!(measured.window > 0 && measured.mss > 0 && !measured.srtt.is_zero(), "{subflow:?}");
        (measured.window, state.map_or(0.0, |state| state.window / f64::from(measured.mss)))
    });
    told.collect()
}

#[test]
fn what_is_loaded_is_chosen_by_its_name_and_told_with_its_subflows() {
    let test = "what_is_loaded_is_chosen_by_its_name_and_told_with_its_subflows";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        let pins = Pins::default();
        assert_eq!(pins.load(LIA).unwrap().0, Outcome::Loaded);
        let (client, server) = connect(&network, "pp_lia");
        let control_of_client = control(&network.client);
        assert_eq!(control_of_client.pinned.map(|of| of.settings.coupled), Some(true));
        let [connection] = control_of_client.connections.as_slice() else {
            panic!("{control_of_client:?}")
        };
        assert!(connection.is_multipath && connection.is_coupled(), "{connection:?}");
        assert!(connection.token.is_some(), "{connection:?}");
        // The kernel's window is that of the congestion control without its fraction; on a
        // subflow that has had no data it is what the connection began with.
        for (packets, of_state) in windows(connection) {
            assert!((f64::from(packets) - of_state).abs() < 1.0, "{connection:?}");
        }
        let [(first, _), (second, _)] = connection.subflows.as_slice() else { unreachable!() };
        assert_ne!(first.local().ip(), second.local().ip());

        // Of the other host's it is told that they are there.
        let there = control(&network.server);
        assert_eq!(there.elsewhere, Some(2), "{there:?}");
        // There the token says what belongs together, before there are acknowledgements.
        assert!(
            matches!(there.connections.as_slice(), [of] if of.subflows.len() == 2),
            "{there:?}"
        );
        let with_state = there.connections.iter().flat_map(|of| &of.subflows);
        let with_state = with_state.filter(|(_, state)| state.is_some()).count();
        assert_eq!(control_of_client.elsewhere, Some(with_state));
        let unloaded = pins.unload(CongestionKind::Lia).unwrap();
        assert_eq!(unloaded, Some(Unloaded { still_use_it: 2 + with_state }));
        assert_eq!(pins.unload(CongestionKind::Lia).unwrap(), None);
        // Those that use it are told still.
        let kept = control(&network.client);
        assert!(kept.pinned.is_none() && kept.elsewhere.is_none(), "{kept:?}");
        assert_eq!(subflows(&kept), 2);
        drop((client, server));
    });
}

#[test]
fn subflows_that_are_uncoupled_are_one_connection_and_told_so() {
    let test = "subflows_that_are_uncoupled_are_one_connection_and_told_so";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        Pins::default().load(KernelConfig { coupled: false, ..LIA }).unwrap();
        let ends = connect(&network, "pp_lia");
        let told = control(&network.client);
        let [connection] = told.connections.as_slice() else { panic!("{told:?}") };
        assert_eq!(connection.subflows.len(), 2);
        assert!(connection.is_multipath && !connection.is_coupled(), "{connection:?}");
        drop(ends);
    });
}

#[test]
fn settings_are_read_back_and_others_are_refused() {
    with_own_bpffs("settings_are_read_back_and_others_are_refused", || {
        let pins = Pins::default();
        assert_eq!(pins.loaded().unwrap(), []);
        let slow_start = SlowStartKind::Css;
        let config = KernelConfig { slow_start, coupled: false, ..LIA };
        assert_eq!(pins.load(config).unwrap().0, Outcome::Loaded);
        assert_eq!(pins.load(config).unwrap().0, Outcome::WasLoaded);
        let settings = pins.loaded().unwrap()[0].settings;
        assert_eq!(settings.slow_start, slow_start);
        assert!(!settings.coupled && settings.of_this_build, "{settings:?}");
        for other in [LIA, KernelConfig { coupled: true, ..config }] {
            let error = pins.load(other).unwrap_err();
            assert!(matches!(error, PinsError::OtherSettings(_)), "{error}");
            assert!(error.to_string().contains("polypath kernel unload lia"), "{error}");
        }
        // What is pinned elsewhere is in the way, too.
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = Pins::at(folder.path());
        let error = elsewhere.load(LIA).unwrap_err().to_string();
        assert!(error.contains("the kernel has a pp_lia already"), "{error}");
        assert_eq!(elsewhere.loaded().unwrap(), []);
    });
}

/// The kernel takes a while to see that a pin has gone.
fn wait_for_name_to_go() {
    let names = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let is_there = || fs::read_to_string(names).unwrap().contains("pp_lia");
    // Against hanging only.
    let mut looks = 0..1_000_000;
    while is_there() {
        assert!(looks.next().is_some(), "it does not go");
        thread::yield_now();
    }
}

#[test]
fn what_a_loader_or_unloader_that_was_killed_has_left_is_removed() {
    with_own_bpffs("what_a_loader_or_unloader_that_was_killed_has_left_is_removed", || {
        let pins = Pins::default();
        // The link is pinned last and removed first: without it, what is there is a part.
        let parts = [&["connections", "settings"][..], &["connections"], &[]];
        for left in parts {
            pins.load(LIA).unwrap();
            for name in ["link", "connections", "settings"] {
                if !left.contains(&name) {
                    fs::remove_file(Path::new(PINNED).join(name)).unwrap();
                }
            }
            wait_for_name_to_go();
            assert_eq!(pins.loaded().unwrap(), [], "{left:?}");
            assert!(!Path::new(PINNED).exists(), "{left:?}");
            fs::create_dir(PINNED).unwrap();
            assert_eq!(pins.load(LIA).unwrap().0, Outcome::Loaded, "{left:?}");
            pins.unload(LIA.congestion).unwrap();
        }
    });
}

#[test]
fn what_was_loaded_for_programs_goes_with_the_last_of_them() {
    with_own_bpffs("what_was_loaded_for_programs_goes_with_the_last_of_them", || {
        let pins = Pins::default();
        let any = Wanted { congestion: CongestionKind::Lia, slow_start: None, coupled: None };
        let [first, second] = [(); 2].map(|()| pins.hold(any).unwrap());
        let error = pins.unload(CongestionKind::Lia).unwrap_err();
        assert!(matches!(error, PinsError::InUse { .. }), "{error}");
        let css = Wanted { slow_start: Some(SlowStartKind::Css), ..any };
        assert!(matches!(pins.hold(css).unwrap_err(), PinsError::OtherSettings(_)));
        assert!(!first.release().unwrap());
        assert_eq!(pins.loaded().unwrap().len(), 1);
        assert!(second.release().unwrap());
        assert_eq!(pins.loaded().unwrap(), []);

        // What was asked for by `load`, before or meanwhile, stays.
        let held = pins.hold(any).unwrap();
        assert_eq!(pins.load(LIA).unwrap().0, Outcome::WasLoaded);
        assert!(!held.release().unwrap());
        assert_eq!(pins.loaded().unwrap().len(), 1);
    });
}

#[test]
fn a_transfer_goes_on_when_its_congestion_control_is_unloaded() {
    let test = "a_transfer_goes_on_when_its_congestion_control_is_unloaded";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        let pins = Pins::default();
        pins.load(LIA).unwrap();
        let (mut client, mut server) = connect(&network, "pp_lia");
        carry(&mut client, &mut server, 4_000_000, || {
            let left = pins.unload(CongestionKind::Lia).unwrap().unwrap();
            assert!(left.still_use_it >= 2, "{left:?}");
        });
        assert_eq!(subflows(&control(&network.client)), 2);
    });
}

/// Takes all the room that there is for connections, by keys that are the address of no socket.
fn fill_connections() {
    let map = MapHandle::from_pinned_path(Path::new(PINNED).join("connections")).unwrap();
    let value = vec![0; map.value_size() as usize];
    for key in 1..=u64::from(map.max_entries()) {
        map.update(&key.to_ne_bytes(), &value, MapFlags::NO_EXIST).unwrap();
    }
}

#[test]
fn a_subflow_for_which_there_is_no_room_grows_as_reno_does() {
    const INITIAL_WINDOW: u32 = 10;
    let test = "a_subflow_for_which_there_is_no_room_grows_as_reno_does";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        network.deliver_all();
        Pins::default().load(LIA).unwrap();
        fill_connections();
        let (mut client, mut server) = connect(&network, "pp_lia");
        carry(&mut client, &mut server, 4_000_000, || {});
        let told = control(&network.client);
        let [connection] = told.connections.as_slice() else { panic!("{told:?}") };
        assert!(connection.subflows.iter().all(|(_, state)| state.is_none()), "{connection:?}");
        let mut windows = connection.subflows.iter().map(|(subflow, _)| subflow.measured.window);
        assert!(windows.any(|window| window > INITIAL_WINDOW), "{connection:?}");
    });
}

/// Sockets of a thousand connections at both ends, and some more.
fn allow_descriptors(most: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < most) {
        let limit = rustix::process::Rlimit { current: Some(most), ..limit };
        setrlimit(Resource::Nofile, limit).unwrap();
    }
}

#[test]
fn the_state_of_a_thousand_connections_goes_with_them() {
    const CONNECTIONS: usize = 1_000;
    let test = "the_state_of_a_thousand_connections_goes_with_them";
    with_own_bpffs(test, || {
        let Some(host) = Namespace::new(test) else { return };
        allow_descriptors(4_096);
        host.ip("link set lo up");
        Pins::default().load(LIA).unwrap();
        let sockets: Vec<_> = host.within(|| {
            let listener = mptcp();
            listener.set_tcp_congestion(b"pp_lia").unwrap();
            listener.bind(&address([127, 0, 0, 1], 0).into()).unwrap();
            listener.listen(1).unwrap();
            let connect = |_| {
                let mut client = mptcp();
                client.set_tcp_congestion(b"pp_lia").unwrap();
                client.connect(&listener.local_addr().unwrap()).unwrap();
                let (mut server, _) = listener.accept().unwrap();
                // Both have had an acknowledgement of data once both have had an answer.
                for _ in 0..2 {
                    client.write_all(&[1; 100]).unwrap();
                    server.read_exact(&mut [0; 100]).unwrap();
                    server.write_all(&[1; 100]).unwrap();
                    client.read_exact(&mut [0; 100]).unwrap();
                }
                (client, server)
            };
            (0..CONNECTIONS).map(connect).collect()
        });
        let told = control(&host);
        let states = told.connections.iter().flat_map(|of| &of.subflows);
        assert_eq!(states.filter(|(_, state)| state.is_some()).count(), 2 * CONNECTIONS);
        assert_eq!(told.states, Some(2 * CONNECTIONS));
        drop(sockets);
        let looks = (0..LOOKS).map(|_| control(&host).states);
        assert!(looks.into_iter().any(|left| left == Some(0)), "{:?}", control(&host).states);
    });
}

#[test]
fn a_connection_that_falls_back_to_tcp_is_one_of_its_own() {
    let test = "a_connection_that_falls_back_to_tcp_is_one_of_its_own";
    with_own_bpffs(test, || {
        let Some(network) = Network::new(test) else { return };
        Pins::default().load(LIA).unwrap();
        let listener = network.server.within(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.bind(&address([0; 4], 0).into()).unwrap();
            socket.listen(1).unwrap();
            socket
        });
        let port = listener.local_addr().unwrap().as_socket().unwrap().port();
        let mut client = network.client.within(|| {
            let socket = mptcp();
            socket.set_tcp_congestion(b"pp_lia").unwrap();
            socket.connect(&address([10, 77, 1, 2], port).into()).unwrap();
            socket
        });
        let (mut server, _) = listener.accept().unwrap();
        carry(&mut client, &mut server, 1_000_000, || {});
        let told = control(&network.client);
        let [connection] = told.connections.as_slice() else { panic!("{told:?}") };
        assert!(!connection.is_multipath && !connection.is_coupled(), "{connection:?}");
        assert!(matches!(connection.subflows.as_slice(), [(_, Some(_))]), "{connection:?}");
    });
}
