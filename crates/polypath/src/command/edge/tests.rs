//! Flags and files of `polypath edge` become options.

use super::super::installed::Installed;
use super::*;
use clap::{CommandFactory, Parser};
use polypath_bond::identity::SecretKey;
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::registry::Configured;
use polypath_core::scheduler::SchedulerKind;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: EdgeArgs,
}

pub(crate) fn join() -> String {
    let hub = SecretKey::from_seed([7; 32]).public();
    format!("polypath:1/192.0.2.1:4433/{hub}")
}

fn options(line: &[&str]) -> Result<EdgeOptions, String> {
    let line = [&["edge", "--key", "k", "--control", "c"], line].concat();
    let parsed = Line::try_parse_from(line).map_err(|error| error.to_string())?;
    parsed.args.try_into().map_err(|error: anyhow::Error| error.to_string())
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn flags_become_options() {
    let scheduler = SchedulerKind::ALL[0];
    let options = options(&[
        "--join",
        &join(),
        "--path",
        "wifi=wlan0",
        "--path",
        "lte=10.0.0.2",
        "--scheduler",
        scheduler.name(),
        "--receive-buffer",
        "4 MB",
        "--socks",
        "127.0.0.1:1080",
        "--forward",
        "udp:53=dns.example.org:53,redundant",
        "--udp-mode",
        "best",
        "--max-connections",
        "7",
        "--log",
        "json",
    ])
    .unwrap();
    let paths = ["wifi=wlan0", "lte=10.0.0.2"].map(|path| path.parse().unwrap());
    assert_eq!(options.bond.paths, Paths::Listed(paths.to_vec()));
    let scheduler = Some(scheduler.into());
    assert_eq!(
        options.bond.composition,
        CompositionArgs { scheduler, ..CompositionArgs::default() }
    );
    assert_eq!(options.bond.receive_buffer, Some(ByteCount::new(4_000_000)));
    assert_eq!(options.socks.map(ListenAddress::get), Some(([127, 0, 0, 1], 1080).into()));
    assert_eq!(options.forwards, ["udp:53=dns.example.org:53,redundant".parse().unwrap()]);
    let steering = SteeringOptions::new(None, &[], Some(FlowMode::Best)).unwrap();
    let steering = steering.among(vec!["wifi".to_owned(), "lte".to_owned()]);
    assert_eq!(options.steering, steering);
    let limits = (options.max_connections, options.max_associations);
    assert_eq!(limits, (7, ProxyLimits::ASSOCIATIONS));
    assert_eq!(options.log, LogFormat::Json);
}

#[test]
fn flags_win_over_the_file() {
    let text = format!(
        "join = {:?}\nauto = true\nreceive_buffer = \"1 MB\"\nidle_timeout = 3600\nwhen_away = \"wait\"\nhttp = \"127.0.0.1:8080\"\n",
        join()
    );
    let file = file(&text);
    let path = file.path().to_str().unwrap();
    let from_file = options(&["--config", path]).unwrap();
    assert_eq!(from_file.bond.paths, Paths::Auto);
    assert_eq!(from_file.bond.receive_buffer, Some(ByteCount::new(1_000_000)));
    assert_eq!(from_file.bond.lifetimes.idle_timeout, "3600".parse().ok());

    let flags = ["--config", path, "--receive-buffer", "2 MB", "--path", "a=eth0"];
    let flags = [&flags[..], &["--idle-timeout", "60", "--when-away", "fail"]].concat();
    let both = options(&flags).unwrap();
    assert_eq!((from_file.when_away, both.when_away), (WhenAway::Wait, WhenAway::Fail));
    assert_eq!(both.bond.lifetimes.idle_timeout, "60".parse().ok());
    assert_eq!(both.bond.paths, Paths::Listed(vec!["a=eth0".parse().unwrap()]));
    assert_eq!(both.bond.receive_buffer, Some(ByteCount::new(2_000_000)));
    assert_eq!(both.http, from_file.http);
}

#[test]
fn algorithms_take_parameters_in_flags_and_in_the_file() {
    let file = file(
        "auto = true\ncongestion = { name = \"cubic\", beta = 0.8 }\npenalisation = true\n\
         coupled = false\nscheduler = \"round_robin,num_segments=2\"\n\n\
         [failure]\nname = \"fpf\"\ntimer_margin = 5\n",
    );
    let join = join();
    let config = ["--join", &join, "--config", file.path().to_str().unwrap()];
    let from_file = CompositionArgs {
        congestion: Configured::with(CongestionKind::Cubic, &[("beta", 0.8)]).ok(),
        coupled: Some(false),
        scheduler: Configured::with(SchedulerKind::RoundRobin, &[("num_segments", 2.0)]).ok(),
        failure: Configured::with(FailureKind::Fpf, &[("timer_margin", 5.0)]).ok(),
        penalisation: Some(true),
        ..CompositionArgs::default()
    };
    assert_eq!(options(&config).unwrap().bond.composition, from_file);

    let flags = ["--congestion", "cubic,beta=0.6,c=0.2", "--penalisation", "false"];
    let options = options(&[config.as_slice(), &flags].concat()).unwrap();
    let settings = [("beta", 0.6), ("c", 0.2)];
    let congestion = Configured::with(CongestionKind::Cubic, &settings).ok();
    let expected = CompositionArgs { congestion, penalisation: Some(false), ..from_file };
    assert_eq!(options.bond.composition, expected);
}

#[test]
fn every_flag_is_a_key_of_the_file() {
    let file = file("no_such_key = 1\n");
    let allowed = options(&["--config", file.path().to_str().unwrap()]).unwrap_err();
    let command = Line::command();
    let flags: Vec<_> = command
        .get_arguments()
        .map(|flag| flag.get_id().as_str())
        .filter(|&flag| flag != "config")
        .collect();
    assert!(flags.len() >= 20, "{flags:?}");
    for flag in flags {
        assert!(allowed.contains(&format!(" {flag}")), "{flag}: {allowed}");
    }
}

#[test]
fn errors_name_file_line_key_and_what_is_allowed() {
    let join = join();
    for (text, line, expected) in [
        ("\nscheduler = \"best\"\n", 2, "scheduler: unknown scheduler \"best\"; allowed: "),
        (
            "\ncongestion = { name = \"cubic\", beta = 2 }\n",
            2,
            "beta: beta of cubic cannot be 2; allowed: numbers from 0 to 1",
        ),
        ("auto = true\n[failure]\nname = \"rto\"\nx = 1", 4, "x: rto has no parameter"),
        ("coupled = 1\n", 1, "coupled: a value of type integer is not true or false"),
        ("receive_buffer = \"4\"\n", 1, "receive_buffer: \"4\" is not a size such as \"4 MB\""),
        ("auto = true\npath = [\"wlan0\"]\n", 2, "path: \"wlan0\" is not a path"),
        ("# x\npath = [\"a=b\", \"a=c\"]", 2, "path: two paths are named \"a\""),
        ("path = [\"a=b\"]\nauto = true", 2, "auto: paths are listed too; allowed: path or"),
        ("join = \"polypath:9/h:1/x\"\n", 1, "join: the join string is for protocol version"),
        ("when_away = \"retry\"\n", 1, "when_away: \"retry\" says nothing of requests while"),
        ("idle_timeout = 4\n", 1, "idle_timeout: \"4\" is no such time; allowed: whole"),
        ("receive_buffer = \"0 B\"\n", 1, "receive_buffer: nothing fits"),
        ("\nudp_rule = [\"53: best\"]", 2, "udp_rule: \"53: best\" is not a rule for datagrams"),
        (
            "udp_rule = [\"port 1-9: best\", \"port 5: redundant\"]",
            1,
            "udp_rule: \"port 5: redundant\" is never reached, since \"port 1-9: best\"",
        ),
    ] {
        let file = file(text);
        let path = file.path().to_str().unwrap();
        let error = options(&["--join", &join, "--config", path]).unwrap_err();
        let expected = format!("{path}:{line}: {expected}");
        assert!(error.starts_with(&expected), "{error}\nexpected {expected}");
    }
}

#[test]
fn a_proxy_that_other_hosts_can_use_needs_a_password() {
    let join = join();
    let proxy = |line: &[&str]| options(&[&["--join", &join, "--auto"], line].concat());
    for (flag, address) in [
        ("--socks", "0.0.0.0:1080"),
        ("--http", "0.0.0.0:1080"),
        ("--socks", "[::]:1080"),
        ("--http", "192.0.2.1:1080"),
        ("--socks", "[::ffff:192.0.2.1]:1080"),
    ] {
        let error = proxy(&[flag, address]).unwrap_err();
        let expected = format!("{flag}: other hosts can use a proxy at {address}, ");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains("allowed: --proxy-credentials FILE"), "{error}");
        assert!(error.contains("127.0.0.1:1080, which needs none"), "{error}");
        assert!(proxy(&[flag, address, "--proxy-credentials", "f"]).is_ok());
    }
    for address in ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
        assert!(proxy(&["--socks", address, "--http", address]).is_ok(), "{address}");
    }
}

#[test]
fn the_password_may_stand_in_the_file_and_the_address_in_a_flag() {
    let join = join();
    let file = file("auto = true\nproxy_credentials = \"here\"\nhttp = \"[::]:1\"\n");
    let line = ["--join", &join, "--config", file.path().to_str().unwrap()];
    let from_file = options(&[&line[..], &["--socks", "0.0.0.0:1"]].concat()).unwrap();
    assert_eq!(from_file.proxy_credentials, Some("here".into()));
    let flag = options(&[&line[..], &["--proxy-credentials", "there"]].concat()).unwrap();
    assert_eq!(flag.proxy_credentials, Some("there".into()));
}

#[test]
fn the_help_has_the_limits_that_hold_where_none_are_given() {
    let help = Line::command().render_long_help().to_string();
    for (limit, default) in [
        ("--max-connections", ProxyLimits::CONNECTIONS),
        ("--max-associations", ProxyLimits::ASSOCIATIONS),
    ] {
        let (_, said) = help.split_once(limit).unwrap();
        let said = said.split("[default: ").nth(1).unwrap();
        assert!(said.starts_with(&format!("{default}]")), "{limit}: {said}");
    }
    assert!(options(&["--max-connections", "0"]).unwrap_err().contains("--max-connections"));
}

#[test]
fn what_is_missing_or_wrong_in_flags_is_named() {
    let error = options(&["--auto"]).unwrap_err();
    assert!(error.starts_with("--join: missing"), "{error}");
    let error = options(&["--join", &join()]).unwrap_err();
    assert!(error.starts_with("--path: missing") && error.contains("--auto"), "{error}");
    let error = options(&["--join", &join(), "--path", "a=b", "--path", "a=c"]).unwrap_err();
    assert!(error.starts_with("--path: two paths"), "{error}");
    let error = options(&["--congestion", "best"]).unwrap_err();
    assert!(error.contains(CongestionKind::ALL[0].name()), "{error}");
    let error = options(&["--congestion", "cubic,beta=2"]).unwrap_err();
    assert!(error.contains("beta of cubic cannot be 2; allowed: numbers from 0"), "{error}");
    let error = options(&["--coupled", "maybe"]).unwrap_err();
    assert!(error.contains("'maybe'") && error.contains("true, false"), "{error}");
    let error = options(&["--receive-buffer", "4"]).unwrap_err();
    assert!(error.contains("--receive-buffer") && error.contains("4 MB"), "{error}");
}

#[test]
fn the_installed_file_shows_every_option_and_each_of_them_is_allowed() {
    let installed = Installed::new(include_str!("../../../debian/edge.toml"));
    installed.assert_complete(&Line::command());
    let load = |text: &str| {
        let (file, join) = (file(text), join());
        options(&["--join", &join, "--config", file.path().to_str().unwrap()])
    };
    let as_it_is = load(installed.text()).unwrap();
    assert_eq!(as_it_is.bond.paths, Paths::Auto);
    let of_gateways: &[_] = &[
        "lan",
        "exclude",
        "dns",
        "kill_switch",
        "tcp",
        "transport",
        "mptcp_tls",
        "gateway_device",
    ];
    let needing = [("gateway", of_gateways), ("transport", &["mptcp_tls"])];
    for text in installed.with_each_option(["path", "auto"], &needing) {
        load(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    }
}

#[test]
fn what_goes_beside_the_bond_is_neither_packets_nor_counted() {
    let join = join();
    let known = ["--join", &join, "--path", "wifi=wlan0", "--transport", "mptcp"];
    let with = |more: &[&str]| options(&[&known, more].concat());
    assert!(with(&["--gateway"]).is_ok());
    let tls = with(&["--gateway", "--mptcp-tls"]).unwrap();
    assert!(tls.gateway.is_some_and(|gateway| gateway.mptcp_tls));
    let over_bond = ["--join", &join, "--path", "wifi=wlan0", "--gateway", "--mptcp-tls"];
    let error = options(&over_bond).unwrap_err().to_string();
    assert!(error.contains("--mptcp-tls") && error.contains("with --transport mptcp"), "{error}");
    for (more, expected) in [
        (&[][..], "there is no gateway; allowed: with --gateway"),
        (&["--gateway", "--tcp", "tunnel"], "allowed: bond, or mptcp with tcp = \"split\""),
        (
            &["--gateway", "--path", "lte=wwan0,quota=10GB/month"],
            "allowed: bond, or paths without quotas",
        ),
    ] {
        let error = with(more).unwrap_err().to_string();
        assert!(error.contains("transport") && error.contains(expected), "{error}");
    }
}

#[test]
fn quotas_are_kept_beside_the_key_unless_another_file_is_named() {
    let join = join();
    let line = ["--join", &join, "--path", "lte=wwan0,quota=10GB/month", "--path", "wifi=wlan0"];
    let from_line = options(&line).unwrap();
    assert_eq!(from_line.quota_file, PathBuf::from("k.quotas"));
    let quotas: Vec<_> = from_line.bond.quotas().into_iter().collect();
    assert_eq!(quotas, [("lte".to_owned(), "10GB/month".parse().unwrap())]);

    let file = file("path = [\"lte=wwan0,quota=1GB/day\"]\nquota_file = \"q\"\n");
    let config = ["--join", &join, "--config", file.path().to_str().unwrap()];
    let from_file = options(&config).unwrap();
    assert_eq!(from_file.quota_file, PathBuf::from("q"));
    assert_eq!(from_file.bond.quotas()["lte"], "1GB/day".parse().unwrap());
    let given = options(&[config.as_slice(), &["--quota-file", "r"]].concat()).unwrap();
    assert_eq!(given.quota_file, PathBuf::from("r"));
}
