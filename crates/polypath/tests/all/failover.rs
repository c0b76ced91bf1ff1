//! One of two emulated paths dies without a word while curl uses the proxies: what it fetches
//! arrives whole, and it sees no error.
//!
//! The fast path (200 Mbit/s) dies half-way and leaves the slow one (100 Mbit/s), so that 200 MB
//! take at least 100 MB / 300 Mbit/s + 100 MB / 100 Mbit/s = 10.7 s.

use super::emulated::Emulated;
use super::http::{Server, content, sha256};
use super::world::{curl, stderr, stdout};

/// A proxy of the edge: how it is asked for and called, and curl's option for it.
struct Proxy {
    flag: &'static str,
    surface: &'static str,
    curl: &'static str,
}

const SOCKS: Proxy = Proxy { flag: "--socks", surface: "socks5", curl: "--socks5-hostname" };
const HTTP: Proxy = Proxy { flag: "--http", surface: "http", curl: "-x" };

impl Proxy {
    /// Plays `use_it` with curl's arguments for this proxy of an edge over emulated paths.
    fn play(&self, use_it: impl FnOnce(&Emulated, &Server, [&str; 2])) {
        let server = Server::start();
        let emulated = Emulated::with(&[self.flag, "127.0.0.1:0"]);
        let address = emulated.edge.address_of(self.surface);
        use_it(&emulated, &server, [self.curl, &address]);
    }

    fn long_download(&self) {
        self.play(|emulated, server, proxy| {
            let url = server.url("half/200000000");
            std::thread::scope(|scope| {
                let fetch = scope.spawn(|| curl(&[&proxy, &[&url]]));
                server.wait_until_flowing();
                emulated.kill_the_fast_path();
                let got = fetch.join().unwrap();
                assert!(got.status.success(), "{}", stderr(&got));
                assert_eq!(sha256(&got.stdout), sha256(&content(200_000_000)));
            });
        });
    }

    fn fifty_downloads(&self) {
        self.play(|emulated, server, proxy| {
            let url = server.url("half/5000000");
            let expected = sha256(&content(5_000_000));
            std::thread::scope(|scope| {
                let fetch = || curl(&[&proxy, &[&url]]);
                let all: Vec<_> = (0..50).map(|_| scope.spawn(fetch)).collect();
                // Half of them are half-way.
                (0..25).for_each(|_| server.wait_until_flowing());
                emulated.kill_the_fast_path();
                for got in all {
                    let got = got.join().unwrap();
                    assert!(got.status.success(), "{}", stderr(&got));
                    assert_eq!(sha256(&got.stdout), expected);
                }
            });
        });
    }

    fn upload(&self) {
        self.play(|emulated, server, proxy| {
            let body = content(100_000_000);
            let (file, url) = (emulated.world.file("up.bin", &body), server.url("half"));
            std::thread::scope(|scope| {
                let put = scope.spawn(|| curl(&[&proxy, &["-T", &file, &url]]));
                server.wait_until_flowing();
                emulated.kill_the_fast_path();
                let put = put.join().unwrap();
                assert!(put.status.success(), "{}", stderr(&put));
                assert_eq!(stdout(&put), sha256(&body));
            });
        });
    }
}

#[test]
fn a_long_download_over_socks5_outlives_the_fast_path() {
    SOCKS.long_download();
}

#[test]
fn a_long_download_over_http_outlives_the_fast_path() {
    HTTP.long_download();
}

#[test]
fn fifty_downloads_at_once_over_socks5_outlive_the_fast_path() {
    SOCKS.fifty_downloads();
}

#[test]
fn fifty_downloads_at_once_over_http_outlive_the_fast_path() {
    HTTP.fifty_downloads();
}

#[test]
fn an_upload_over_socks5_outlives_the_fast_path() {
    SOCKS.upload();
}

#[test]
fn an_upload_over_http_outlives_the_fast_path() {
    HTTP.upload();
}
