//! The forms of files that are read, and those that are refused: the tables of the page on traces,
//! and what files have that editors, spreadsheets and other systems wrote.

use polypath_link::trace::{Columns, Recording, RecordingError};

const PAGE: &str = include_str!("../../../../docs/links/traces.md");

fn read(bytes: &[u8], said: &str) -> Result<String, RecordingError> {
    Recording::read(bytes, &columns(said)).map(|recording| told(&recording))
}

/// What is said of the columns, such as `time "in ms"`.
fn columns(said: &str) -> Columns {
    let value = |key: &str| {
        let (_, after) = said.split_once(&format!("{key} \""))?;
        Some(after.split_once('"').unwrap_or_else(|| panic!("{said}")).0)
    };
    Columns {
        time: value("time").map(|text| text.parse().unwrap()),
        rate: value("rate").map(|text| text.parse().unwrap()),
    }
}

/// Rates in Mbit/s with how long they hold.
fn told(recording: &Recording) -> String {
    let rates = match recording {
        Recording::Trace(trace) => {
            let period = trace.period().as_millis();
            return format!("{} packets in {period} ms", trace.opportunities());
        }
        Recording::Pings(log) => return format!("{:?} ms", log.delays_ms()),
        Recording::Rates(rates) => rates,
    };
    let mut start = std::time::Duration::ZERO;
    let pieces = rates.pieces().iter().map(|piece| {
        let length = (piece.until - core::mem::replace(&mut start, piece.until)).as_secs_f64();
        format!("{} for {length} s", piece.rate.mbit_per_sec())
    });
    pieces.collect::<Vec<_>>().join(", ")
}

/// The rows of the table below a heading, without its head.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, section) = PAGE.split_once(&format!("### {heading}\n")).expect("the heading");
    let section = section.split("\n#").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    let cells = |row: &'static str| row.split('|').map(str::trim);
    rows.map(|row| cells(row.trim_matches('|')).collect()).collect()
}

/// The lines of an example: each in code marks, with breaks between them and `⇥` for a tab.
fn example(cell: &str) -> String {
    let lines = cell.split("<br>").map(|line| line.trim().trim_matches('`'));
    lines.map(|line| line.replace('⇥', "\t") + "\n").collect()
}

#[test]
fn the_forms_of_the_page_are_read() {
    let rows = table("What is read");
    assert!(rows.len() > 20, "{rows:?}");
    for row in rows {
        let [name, text, said, expected] = row[..] else { panic!("{row:?}") };
        let text = example(text);
        let read = read(text.as_bytes(), said).unwrap_or_else(|e| panic!("{name}\n{text}\n{e}"));
        assert_eq!(read, expected, "{name}\n{text}");
    }
}

#[test]
fn what_the_page_calls_wrong_is_refused_and_what_it_calls_right_is_read() {
    let rows = table("What is refused");
    assert!(rows.len() > 12, "{rows:?}");
    for row in rows {
        let [wrong, why, right, said] = row[..] else { panic!("{row:?}") };
        let error = read(example(wrong).as_bytes(), "").expect_err(why).to_string();
        assert!(error.starts_with("line ") || error.starts_with("this is "), "{error}");
        if let Err(error) = read(example(right).as_bytes(), said) {
            panic!("{why}\n{right}\n{error}");
        }
    }
}

/// Whatever wrote the file, its values are the same.
#[test]
fn encodings_line_ends_and_separators_make_no_difference() {
    let plain = "time (s),rate [kbit/s]\n0,1500\n0.5,3000\n2,";
    let expected = "1.5 for 0.5 s, 3 for 1.5 s";
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    };
    let marked = format!("\u{feff}{plain}");
    let comma = plain.replace(',', ";").replace("0.5", "0,5");
    for bytes in [
        plain.into(),
        marked.clone().into_bytes(),
        utf16(&marked.replace(',', "\t"), u16::to_le_bytes),
        utf16(&marked, u16::to_be_bytes),
        utf16(plain, u16::to_le_bytes),
        plain.replace('\n', "\r\n").into_bytes(),
        plain.replace('\n', "\r").into_bytes(),
        plain.replace('\n', "\n\n").into_bytes(),
        plain.replace('\n', " \u{a0}\t\n").into_bytes(),
        plain.replace('\n', ",,\n").into_bytes(),
        plain.replace(',', "\t").into_bytes(),
        plain.replace(',', " , ").into_bytes(),
        comma.clone().into_bytes(),
        comma.replace(';', "\t").into_bytes(),
        format!("sep=;\n{comma}\n;;\n;;\n").into_bytes(),
        format!("# by hand\n{plain}\n// the end\n\x1a").into_bytes(),
        format!("caf\u{e9},{plain}").replace('\n', "\nx,").chars().map(|c| c as u8).collect(),
        plain.replace("0.5", "\"5E-1\"").replace("1500", "\"1.5e3\"").into_bytes(),
    ] {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(read(&bytes, "").as_deref(), Ok(expected), "{shown:?}");
    }
}

/// A text, what is said of its columns, and why it is here.
const WRONG: &[(&str, &str)] = &[
    // Files.
    ("", ""),
    ("\n \n# nothing\n", ""),
    ("time_s,rate_mbit_s\n", ""),
    ("PK\u{3}\u{4}xl/workbook.xml", ""),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", ""),
    ("<!DOCTYPE html>\n<html>", ""),
    ("[\n  {\"duration_ms\": 1, \"bandwidth_kbps\": 1}\n]", ""),
    ("[ ID] Interval           Transfer     Bitrate\n", ""),
    ("1 2\n3 \u{0}\n", ""),
    // Mahimahi.
    ("1\n2\nx\n", ""),
    ("800\n700\n", ""),
    ("1\n2.5\n", ""),
    ("icmp_seq=1 time=soon\n", ""),
    // Numbers.
    ("0 NaN\n", ""),
    ("0 1\n1 inf\n", ""),
    ("0 1\n1 Infinity\n", ""),
    ("0 1\n1 -1\n", ""),
    ("0 1\n-1 1\n", ""),
    ("0 1\n1 0x1F\n", ""),
    ("0 1\n1 x\n", ""),
    ("0 1\n1 5Mbit/s\n", ""),
    ("0;1\n1;1.234,5\n", ""),
    ("0;1\n1;1 234\n", ""),
    ("0;1,5\n1;1.5\n", ""),
    ("0\t1,234\n1\t2,345\n", ""),
    ("0 1e999\n", ""),
    ("0 1\n1 1000001\n", "rate \"in Mbit/s\""),
    ("time_s,rate_mbit_s\n0,1\n1,\n2,1\n", ""),
    ("time_s,rate_mbit_s\n0,1\n,1\n", ""),
    ("rate_mbit_s,x\n1,1\n,\n2,1\n", "time \"every 1 s\""),
    // Lines.
    ("time_s,rate_mbit_s\n0,5,1,5\n", ""),
    ("\"0,1\n1,2\n", ""),
    ("\"0\"s,1\n1,2\n", ""),
    // Columns.
    ("0 1 2\n1 2 3\n", ""),
    ("1.5\n2.5\n", ""),
    ("time_s,cell\n0,1\n", ""),
    ("slot,rate_mbit_s\n0,1\n", ""),
    ("time_s,DL [kbit/s],UL [kbit/s]\n0,1,2\n", ""),
    ("Timestamp,time_s,rate_mbit_s\n0,1,2\n", ""),
    ("time_s,rate_mbit_s\n0,1\n", "rate \"DL\""),
    ("time_s,rate_mbit_s\n0,1\n", "rate \"3\""),
    ("0,1\n", "rate \"DL in kbit/s\""),
    ("time_s,a,a\n0,1,2\n", "rate \"a in kbit/s\""),
    // Units.
    ("time_s,throughput\n0,1\n", ""),
    ("0 1 2\n", "time \"1\", rate \"2\""),
    ("time_s,throughput (MBPS)\n0,1\n", ""),
    ("0 4646.7\n1 4700\n", ""),
    ("0 4\n100 5\n200 4\n", ""),
    ("1700000000000 4\n1700000000500 5\n", ""),
    ("1700000000000000,4\n", ""),
    ("1700000000000000000,4\n", ""),
    ("1,Mbits/sec\n1,parsecs\n", ""),
    // Times.
    ("0 1\n1 1\n1 2\n", ""),
    ("0 1\n2 1\n1 2\n", ""),
    ("0 1\n4294968 1\n", "time \"in s\""),
    ("2024-05-31 12:30:00,1\n2024-05-31 12:30:00,2\n", ""),
    ("31/05/2024 12:30:00,1\n", ""),
    ("2024-05-31 12:30:00,1\n2024-02-30 12:30:00,2\n", ""),
    ("2024-05-31 12:30:00 PM,1\n", ""),
    ("2024-05-31 12:30:00 CDT,1\n2024-05-31 12:30:01 CST,1\n", ""),
    ("2024-05-31 12:30:00,1\n5,2\n", ""),
    ("5,2\n2024-05-31 12:30:00,1\n", ""),
    ("2024-05-31 12:30:00,1\n", "time \"in ms\""),
    ("time_s,rate_mbit_s\n0,\n", ""),
];

#[test]
fn refusals_say_where_what_and_what_would_be_right() {
    let told = WRONG.iter().map(|&(text, said)| {
        let beside = if said.is_empty() { String::new() } else { format!(" with {said}") };
        match read(text.as_bytes(), said) {
            Ok(read) => panic!("{text:?}{beside} is read: {read}"),
            Err(error) => format!("{text:?}{beside}\n  {error}\n"),
        }
    });
    insta::assert_snapshot!(told.collect::<String>());
}
