use super::*;

fn pieces(text: &str) -> Vec<(u128, u64)> {
    let series = RateSeries::parse_csv(text).unwrap();
    let piece = |p: &Piece| (p.until.as_micros(), p.rate.bits_per_sec());
    series.pieces().iter().map(piece).collect()
}

fn problem(text: &str) -> (usize, CsvProblem) {
    let CsvError { line, problem } = RateSeries::parse_csv(text).unwrap_err();
    (line, problem)
}

#[test]
fn a_rate_holds_until_the_next_line_and_the_last_as_long_as_the_one_before() {
    let text = "time_s,rate_mbit_s\n10,1.5\r\n\n10.25, 2 \n10.75,1e-3\n";
    assert_eq!(pieces(text), [(250_000, 1_500_000), (750_000, 2_000_000), (1_250_000, 1_000)]);
    assert_eq!(pieces("time_s,rate_mbit_s\n7,1\n"), [(1_000_000, 1_000_000)]);
}

#[test]
fn a_line_without_a_rate_ends_the_series() {
    assert_eq!(pieces("time_s,rate_mbit_s\n0,1\n1,2\n1.5,\n")[1], (1_500_000, 2_000_000));
    let (line, after) = problem("time_s,rate_mbit_s\n0,1\n1,\n2,3\n");
    assert_eq!((line, after), (4, CsvProblem::AfterEnd));
    let only_end = problem("time_s,rate_mbit_s\n0,\n");
    assert_eq!(only_end, (2, SeriesError::Empty.into()));
}

#[test]
fn columns_are_found_by_name_and_unit() {
    let text = "cell,rate_kbit_s,time_ms\nA,8,0\nB,9,20\n";
    assert_eq!(pieces(text), [(20_000, 8_000), (40_000, 9_000)]);
    assert_eq!(pieces("rate_bit_s\n8\n9\n"), [(1_000_000, 8), (2_000_000, 9)]);
}

#[test]
fn values_with_units_come_once_a_second() {
    let text = "0.57,Mbits/sec\n997,Kbits/sec\n0,bits/sec\n1.5,Gbits/sec\n";
    let rates: Vec<_> = pieces(text).into_iter().map(|(_, rate)| rate).collect();
    assert_eq!(rates, [570_000, 997_000, 0, 1_500_000_000]);
}

#[test]
fn errors_name_the_line_and_what_is_allowed() {
    let headed = |line: &str| problem(&format!("time_s,rate_mbit_s\n0,1\n{line}\n"));
    for given in ["-1", "x", "NaN", "inf", "4294968"] {
        assert_eq!(headed(&format!("{given},1")), (3, CsvProblem::Time { given: given.into() }));
    }
    for given in ["-0.5", "x", "NaN", "inf", "1000001"] {
        assert_eq!(headed(&format!("1,{given}")), (3, CsvProblem::Rate { given: given.into() }));
    }
    assert_eq!(headed("0,1"), (3, CsvProblem::NotAscending));
    assert_eq!(headed("0.0000004,1"), (3, CsvProblem::NotAscending));
    assert_eq!(headed("1"), (3, CsvProblem::Missing { column: "the rate" }));
    assert_eq!(problem("time_s,rate_mbit_s\n5,1\n4,1\n"), (3, CsvProblem::NotAscending));
    assert_eq!(problem("rate_mbit_s\n\"\"\n").0, 2);
    assert_eq!(problem("rate_mbit_s\n1\n,\n"), (3, CsvProblem::Rate { given: String::new() }));
    assert_eq!(problem("1,Mbits/sec\n1,MB/s\n"), (2, CsvProblem::Unit { given: "MB/s".into() }));
    assert_eq!(problem("1\n"), (1, CsvProblem::Missing { column: "the unit" }));
    for header in ["time_s", "rate", "rate_bit_s,rate_mbit_s", "time_s,time_ms,rate_bit_s"] {
        assert_eq!(problem(header), (1, CsvProblem::Header), "{header}");
    }
    for empty in ["", "\n \n", "rate_mbit_s\n"] {
        assert_eq!(problem(empty), (1, SeriesError::Empty.into()), "{empty:?}");
    }
    let long = "rate_mbit_s\n".to_owned() + &"7".repeat(100);
    assert_eq!(problem(&long), (2, CsvProblem::Rate { given: "7".repeat(40) }));
}

#[test]
fn the_last_length_is_written_only_where_it_must_be() {
    let text = "time_s,rate_mbit_s\n0.000000,1.500000\n0.250000,0.000001\n";
    assert_eq!(RateSeries::parse_csv(text).unwrap().to_csv().to_string(), text);
    let ended = text.to_owned() + "0.300000,\n";
    assert_eq!(RateSeries::parse_csv(&ended).unwrap().to_csv().to_string(), ended);
}
