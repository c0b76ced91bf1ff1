//! Name servers: one that never answers, with commands that have no other, and one that does.

use std::net::{IpAddr, UdpSocket};
use std::process::Command;

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Packet, PacketFlag, QTYPE, ResourceRecord, TYPE};

use crate::process::Process;
use crate::world::World;

/// Of the tests' own: those that run at the same time have different ones.
pub(crate) const ADDRESSES: [&str; 3] = ["127.77.0.53", "127.77.0.54", "127.77.0.55"];

/// The file of settings by which the name server at this address is the only one; it is given up
/// after 20 s.
pub(crate) fn settings(world: &World, address: &str) -> String {
    let settings = format!("nameserver {address}\noptions timeout:10 attempts:2\n");
    world.file("resolv.conf", settings.as_bytes())
}

/// What starts a command in a mount namespace of its own, where the only name server is the one of
/// the file.
pub(crate) fn runner(file: &str) -> [&str; 6] {
    let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"";
    ["unshare", "--mount", "sh", "-c", script, file]
}

/// A command that knows no other name server.
pub(crate) fn with_name_server(file: &str, args: &[&str]) -> Process {
    let [unshare, arguments @ ..] = runner(file);
    let mut command = Command::new(unshare);
    command.args(arguments).arg(crate::program()).args(args).env_remove("RUST_LOG");
    Process::spawn(command)
}

/// A name server that does not answer, for a test, unless none can be had here: that is told then.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
pub(crate) fn silent_server(test: &str, address: &str) -> Option<UdpSocket> {
    let unshared = Command::new("unshare").args(["--mount", "true"]).status();
    let socket = UdpSocket::bind((address, 53));
    match (unshared, socket) {
        (Ok(unshared), Ok(socket)) if unshared.success() => Some(socket),
        _ => {
            println!("skipped: {test}: no permission to unshare, or for port 53");
            None
        }
    }
}

/// Answers a query, whatever the name, with the address of the family that it asks for.
pub(crate) fn answer(server: &UdpSocket, addresses: (IpAddr, IpAddr)) {
    let mut message = [0; 4_096];
    let (length, from) = server.recv_from(&mut message).unwrap();
    let mut reply = Packet::parse(&message[..length]).unwrap().into_reply();
    reply.set_flags(PacketFlag::RECURSION_DESIRED | PacketFlag::RECURSION_AVAILABLE);
    let [question] = reply.questions.as_slice() else { panic!("{reply:?}") };
    let data = match (question.qtype, addresses) {
        (QTYPE::TYPE(TYPE::A), (IpAddr::V4(address), _)) => Some(RData::A(address.into())),
        (QTYPE::TYPE(TYPE::AAAA), (_, IpAddr::V6(address))) => Some(RData::AAAA(address.into())),
        _ => None,
    };
    let record = |data| ResourceRecord::new(question.qname.clone(), CLASS::IN, 300, data);
    reply.answers = data.map(record).into_iter().collect();
    server.send_to(&reply.build_bytes_vec().unwrap(), from).unwrap();
}
