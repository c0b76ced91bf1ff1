//! WebSockets (RFC 6455) from a host of the LAN to a server behind the hub.

use std::net::{TcpListener, TcpStream};
use std::thread;

use tungstenite::{Message, WebSocket};

use super::sites::{SERVER, Sites};
use super::{PATIENCE, idle};

/// Answers each message with the same, until the client closes.
pub(super) fn echo(listener: &TcpListener) {
    let (stream, _) = listener.accept().unwrap();
    let mut socket = tungstenite::accept(stream).unwrap();
    // An error tells that it is closed.
    while let Ok(message) = socket.read() {
        if message.is_text() || message.is_binary() {
            socket.send(message).unwrap();
        }
    }
}

fn says(socket: &mut WebSocket<TcpStream>, message: &Message) {
    socket.send(message.clone()).unwrap();
    assert_eq!(socket.read().unwrap(), *message);
}

#[test]
fn web_sockets_carry_messages_between_which_nothing_happens() {
    let test = "web_sockets_carry_messages_between_which_nothing_happens";
    let Some(sites) = Sites::new(test) else { return };
    let _gateway = sites.start(&[], &[]);
    for server in [SERVER.0, SERVER.1] {
        let listener = sites.server.within(|| TcpListener::bind((server, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let served = thread::spawn(move || echo(&listener));
        let stream = sites.lan.within(|| TcpStream::connect(address).unwrap());
        stream.set_read_timeout(PATIENCE).unwrap();
        let url = format!("ws://{address}/");
        let (mut socket, _) = tungstenite::client(url, stream).unwrap();
        for round in 0..3_usize {
            says(&mut socket, &Message::text(format!("message {round}")));
            says(&mut socket, &Message::binary(vec![round as u8; 100_000]));
            idle();
        }
        socket.close(None).unwrap();
        // The server closes as well, and nothing more comes.
        while socket.read().is_ok() {}
        served.join().unwrap();
    }
}
