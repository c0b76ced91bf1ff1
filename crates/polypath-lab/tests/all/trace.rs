//! `polypath trace` as people run it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn polypath(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::program());
    command.current_dir(folder).arg("trace").args(arguments).output().unwrap()
}

/// Standard output of a run that succeeds.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = polypath(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a run complains about whose usage is wrong.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = polypath(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Generated, converted to CSV and back: each second has the bytes of the rates to a packet.
#[test]
fn a_trace_is_generated_converted_described_and_drawn() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let generate = ["generate", "drive", "--mean", "20 Mbit/s", "--duration", "2 min"];
    let generate = |extra: &[&str]| printed(folder, &[&generate[..], extra].concat());
    let trace = generate(&[]);
    assert_eq!(trace, generate(&["--seed", "1"]));
    assert_ne!(trace, generate(&["--seed", "2"]));
    assert_eq!(generate(&["--out", "drive.mahimahi"]), "");
    assert_eq!(fs::read_to_string(folder.join("drive.mahimahi")).unwrap(), trace);

    printed(folder, &["convert", "drive.mahimahi", "--out", "seconds.csv"]);
    let rates = generate(&["--to", "csv"]);
    fs::write(folder.join("rates.csv"), &rates).unwrap();
    let exact = printed(folder, &["convert", "rates.csv", "--to", "csv", "--bin", "1 s"]);
    let converted = fs::read_to_string(folder.join("seconds.csv")).unwrap();
    assert_eq!(exact.lines().count(), 121);
    for (exact, converted) in exact.lines().zip(converted.lines()).skip(1) {
        let rate = |line: &str| line.split_once(',').unwrap().1.parse::<f64>().unwrap();
        // A packet of 1500 B is 12 kbit; rates are rounded to bit/s.
        assert!((rate(exact) - rate(converted)).abs() < 0.012_002, "{exact}, {converted}");
    }
    assert_eq!(printed(folder, &["convert", "rates.csv"]), trace);

    let stats = printed(folder, &["stats", "--json", "rates.csv", "drive.mahimahi"]);
    let stats: Value = serde_json::from_str(&stats).unwrap();
    let bits = trace.lines().count() as f64 * 12_000.0;
    let mean = stats[0]["mean_mbit_s"].as_f64().unwrap();
    assert!((mean - bits / 120e6).abs() < 0.012, "{mean}");
    assert_eq!((&stats[0]["kind"], &stats[0]["seconds"]), (&"rate".into(), &120.into()));
    assert!(stats[1]["autocorrelation"]["20"].is_number());

    printed(folder, &["plot", "drive.mahimahi", "rates.csv", "--html", "page.html"]);
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert_eq!((page.matches("<svg").count(), page.matches("<polyline").count()), (2, 4));
}

/// 2.25 s of 12 Mbit/s: the last quarter of a second is no second of a lower rate.
#[test]
fn what_fills_no_second_dilutes_none() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let part = ["0.000000,12.000000", "1.000000,12.000000", "2.000000,12.000000", "2.250000,"];
    let part = format!("time_s,rate_mbit_s\n{}\n", part.join("\n"));
    fs::write(folder.join("part.csv"), &part).unwrap();
    printed(folder, &["convert", "part.csv", "--out", "part.mahimahi"]);
    assert_eq!(printed(folder, &["convert", "part.mahimahi"]), part);
    let stats = printed(folder, &["stats", "--json", "part.csv", "part.mahimahi"]);
    let stats: Value = serde_json::from_str(&stats).unwrap();
    for described in stats.as_array().unwrap() {
        let values = ["seconds", "mean_mbit_s", "cov"].map(|name| described[name].as_f64());
        assert_eq!(values, [Some(2.0), Some(12.0), Some(0.0)], "{described}");
    }
}

#[test]
fn pings_are_described() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let answer = |sequence: u32| format!("9 bytes: icmp_seq={sequence} time={sequence}0 ms\n");
    let log = (1..=5).map(answer).collect::<String>() + "7 packets transmitted, 5 received\n";
    fs::write(folder.join("ping.txt"), log).unwrap();
    let text = printed(folder, &["stats", "ping.txt"]);
    assert!(text.contains("2 requests without") && text.contains("30.00 ms"), "{text}");
    assert!(refused(folder, &["convert", "ping.txt"]).contains("no rates"));
    printed(folder, &["plot", "ping.txt", "--html", "page.html"]);
    assert!(fs::read_to_string(folder.join("page.html")).unwrap().contains("round-trip time"));
}

/// A log with Unix times in ms and bytes since the line before, and a spreadsheet in UTF-16.
#[test]
fn columns_are_chosen_and_any_text_is_read() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let line = |second: u64, bytes: u64| {
        format!("{}000 {second}000 51.0 3.7 {bytes} 1000\n", 1_450_000_000 + second)
    };
    fs::write(folder.join("bus.log"), [line(1, 9), line(2, 250_000), line(3, 500_000)].concat())
        .unwrap();
    let said = ["--time", "2 in ms", "--rate", "5 in B"];
    let csv = "time_s,rate_mbit_s\n0.000000,2.000000\n1.000000,4.000000\n";
    let convert = ["convert", "bus.log", "--to", "csv"];
    assert_eq!(printed(folder, &[&convert[..], &said].concat()), csv);
    let sheet = "\u{feff}time (s)\trate [Mbit/s]\r\n0,5\t2,0\r\n1,5\t4,0\r\n";
    let bytes: Vec<_> = sheet.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.join("sheet.txt"), bytes).unwrap();
    assert_eq!(printed(folder, &["convert", "sheet.txt", "--to", "csv"]), csv);
    let stats = printed(folder, &[&["stats", "--json", "bus.log"][..], &said].concat());
    assert!(stats.contains("\"mean_mbit_s\": 3.0"), "{stats}");
    let plot = ["plot", "bus.log", "--html", "page.html"];
    printed(folder, &[&plot[..], &said].concat());
    assert!(
        refused(folder, &convert).contains("bus.log: line 1: there are 6 columns and no header")
    );
    let unit = ["stats", "bus.log", "--rate", "5 in packets"];
    assert!(refused(folder, &unit).contains("\"packets\" is none of the units bit/s"));
}

#[test]
fn what_is_wrong_is_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    for (name, text, complaint) in [
        (
            "a.csv",
            "time_s,rate_mbit_s\n0,1\n0,2\n",
            "a.csv: line 3, column 1 (time_s): the time is not after",
        ),
        ("b.mahimahi", "5\n4\n", "line 2: 4 ms is earlier"),
        ("c.csv", "", "no line with a time and a rate"),
        ("d.txt", "icmp_seq=1 time=soon\n", "line 1"),
    ] {
        fs::write(folder.join(name), text).unwrap();
        let message = refused(folder, &["stats", name]);
        assert!(message.contains(complaint) && message.contains(name), "{message}");
    }
    fs::write(folder.join("zero.csv"), "rate_mbit_s\n0\n").unwrap();
    assert!(refused(folder, &["convert", "zero.csv"]).contains("less than one packet"));
    let long = ["generate", "train", "--duration", "9999 h"];
    assert!(refused(folder, &long).contains("duration"));
    assert!(refused(folder, &["generate", "boat"]).contains("mmwave_urban"));
    assert_eq!(polypath(folder, &["stats", "absent"]).status.code(), Some(1));
}
