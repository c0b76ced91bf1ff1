//! A browser in the LAN.

/// A browser is a large program to install, and takes its time to start.
mod experiments {
    use std::net::{IpAddr, TcpListener};
    use std::thread;

    use super::super::sites::{SERVER, Sites};
    use super::super::web_socket;
    use crate::http::{Server, content, sha256};
    use crate::process::{are_there, stderr, stdout};

    /// Sizes of what the page loads: more than a browser asks a server for at once (6).
    const SIZES: std::ops::Range<usize> = 50_000..50_020;
    const MESSAGES: usize = 5;

    /// A page that gets all of these, has the server say what each is, and writes that down.
    /// Messages go back and forth meanwhile.
    const PAGE: &str = r#"<!doctype html><title>page</title><pre id="report">not done</pre>
<iframe></iframe>
<script>
// The page is not loaded before this document is.
const held = document.querySelector("iframe").contentDocument;
held.open();
const lines = [];
async function load(size) {
    const got = await (await fetch("/" + size)).arrayBuffer();
    const put = await fetch("/", { method: "PUT", body: got });
    lines.push(size + " " + await put.text());
}
function talk() {
    return new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://${location.hostname}:WS_PORT/`);
        let said = 0;
        const say = () => socket.send("message " + ++said);
        socket.onopen = say;
        socket.onerror = reject;
        socket.onmessage = (event) => {
            lines.push(event.data);
            if (said < MESSAGES) { say(); } else { socket.close(); resolve(); }
        };
    });
}
const sizes = Array.from({ length: COUNT }, (_, index) => FIRST + index);
function report(text) {
    document.getElementById("report").textContent = text;
    held.close();
}
Promise.all([...sizes.map(load), talk()])
    .then(() => report(lines.sort().join("\n") + "\nall"), (error) => report("failed: " + error));
</script>
"#;

    /// What the page has at its end.
    fn expected() -> Vec<String> {
        let loaded = SIZES.map(|size| format!("{size} {}", sha256(&content(size))));
        let said = (1..=MESSAGES).map(|number| format!("message {number}"));
        loaded.chain(said).chain(["all".to_owned()]).collect()
    }

    fn page(web_socket_port: u16) -> String {
        let settings = [
            ("WS_PORT", usize::from(web_socket_port)),
            ("MESSAGES", MESSAGES),
            ("COUNT", SIZES.len()),
            ("FIRST", SIZES.start),
        ];
        let set =
            |page: String, (name, value): (&str, usize)| page.replace(name, &value.to_string());
        settings.into_iter().fold(PAGE.to_owned(), set)
    }

    /// The page at this address, as a browser in the LAN has it at the end.
    fn browse(sites: &Sites, address: IpAddr) -> String {
        let listener = sites.server.within(|| TcpListener::bind((address, 0)).unwrap());
        let page = page(listener.local_addr().unwrap().port());
        thread::spawn(move || web_socket::echo(&listener));
        let server = sites.server.within(|| Server::start_at(address, &page));
        let profile = format!("--user-data-dir={}", sites.world.path("profile"));
        let only = format!("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {address}");
        let url = server.url("");
        let arguments = [
            "--headless",
            // It runs as root in a namespace that leads nowhere but to the server.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            &profile,
            &only,
            // As it is when the page has been loaded.
            "--dump-dom",
            &url,
        ];
        let line = [&["120", "chromium"], &arguments[..]].concat();
        let shown = sites.lan.command("timeout", &line).output().unwrap();
        assert!(shown.status.success(), "{}", stderr(&shown));
        stdout(&shown).to_owned()
    }

    #[test]
    fn a_browser_loads_a_page_with_all_that_belongs_to_it() {
        let test = "a_browser_loads_a_page_with_all_that_belongs_to_it";
        if !are_there(test, &["chromium"]) {
            return;
        }
        let Some(sites) = Sites::new(test) else { return };
        let _gateway = sites.start(&[], &[]);
        for address in [SERVER.0, SERVER.1] {
            let shown = browse(&sites, address);
            let report = shown.split_once("<pre id=\"report\">").expect(&shown).1;
            let report = report.split_once("</pre>").expect(&shown).0;
            assert_eq!(report.lines().collect::<Vec<_>>(), expected());
        }
        assert!(sites.only_the_bond_left(), "{}", sites.left_beside());
    }
}
