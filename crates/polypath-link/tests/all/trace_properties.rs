//! What holds for every series of rates and every trace.

use polypath_link::trace::{Columns, Piece, RateSeries, Recording};
use polypath_link::{OPPORTUNITY_BYTES, Trace};
use polypath_units::Bandwidth;
use proptest::prelude::*;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Pieces from a microsecond to three seconds long, of rates from nothing to 300 Mbit/s.
fn series() -> impl Strategy<Value = RateSeries> {
    let length = prop_oneof![1..1_000_u64, (1..30_u64).prop_map(|n| n * 100_000), 1..3_000_000_u64];
    let rate = prop_oneof![Just(0), 1..20_000_u64, 0..300_000_000_u64];
    prop::collection::vec((length, rate), 1..20).prop_map(|pieces| {
        let mut until = 0;
        let pieces = pieces.into_iter().map(|(length, rate)| {
            until += length;
            Piece { until: Duration::from_micros(until), rate: Bandwidth::from_bits_per_sec(rate) }
        });
        RateSeries::new(pieces.collect()).unwrap()
    })
}

/// How a program writes a table.
#[derive(Clone, Copy, Debug)]
struct Style {
    separator: char,
    comma: bool,
    quoted: bool,
    end: &'static str,
    utf16: bool,
    millis: bool,
    kilobits: bool,
    /// Seconds before the first time.
    origin: u32,
}

fn style() -> impl Strategy<Value = Style> {
    let separator =
        prop::sample::select(vec![('\t', false), (';', true), (';', false), (',', false)]);
    let end = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    let origin = prop_oneof![Just(0), any::<u32>()];
    let flags = any::<(bool, bool, bool, bool)>();
    (separator, end, origin, flags).prop_map(|((separator, comma), end, origin, flags)| {
        let (quoted, utf16, millis, kilobits) = flags;
        Style { separator, comma, quoted, end, utf16, millis, kilobits, origin }
    })
}

impl Style {
    fn write(self, series: &RateSeries) -> Vec<u8> {
        let time = if self.millis { "Time (ms)" } else { "time_s" };
        let rate = if self.kilobits { "DL [kbit/s]" } else { "rate_bit_s" };
        let mut text = String::from("\u{feff}");
        let mut line = |cells: [String; 2]| {
            let quote = |cell: String| if self.quoted { format!("\"{cell}\"") } else { cell };
            let [time, rate] = cells.map(quote);
            text += &format!("{time}{}{rate}{}", self.separator, self.end);
        };
        line([time.to_owned(), rate.to_owned()]);
        let mut start = 0;
        for piece in series.pieces() {
            let rate = piece.rate.bits_per_sec();
            line([
                self.time(start),
                if self.kilobits { self.thousandths(rate.into()) } else { rate.to_string() },
            ]);
            start = piece.until.as_micros();
        }
        line([self.time(start), String::new()]);
        match self.utf16 {
            true => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            false => text.into_bytes(),
        }
    }

    fn time(self, micros: u128) -> String {
        let micros = micros + u128::from(self.origin) * 1_000_000;
        match self.millis {
            true => self.thousandths(micros),
            false => self.number(format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)),
        }
    }

    /// With a zero at the end, so that the mark is none of thousands.
    fn thousandths(self, count: u128) -> String {
        self.number(format!("{}.{:03}0", count / 1_000, count % 1_000))
    }

    fn number(self, text: String) -> String {
        if self.comma { text.replace('.', ",") } else { text }
    }
}

fn read(bytes: &[u8]) -> RateSeries {
    match Recording::read(bytes, &Columns::default()) {
        Ok(Recording::Rates(rates)) => rates,
        other => panic!("{other:?}"),
    }
}

fn trace() -> impl Strategy<Value = Trace> {
    (prop::collection::vec(0..400_u32, 0..200), 1..400_u32).prop_map(|(gaps, last)| {
        let mut at = 0;
        let times = gaps.into_iter().chain([last]).map(|gap| {
            at += gap;
            at
        });
        Trace::from_millis(times.collect()).unwrap()
    })
}

/// The bytes of each bin of a series.
fn bytes(series: &RateSeries, bin: Duration) -> Vec<f64> {
    let bins = series.bins(bin).into_iter();
    bins.map(|rate| rate.bytes_per_sec() * bin.as_secs_f64()).collect()
}

proptest! {
    #[test]
    fn mahimahi_round_trips(trace in trace()) {
        prop_assert_eq!(Trace::parse(&trace.to_string()), Ok(trace));
    }

    #[test]
    fn csv_round_trips(series in series()) {
        prop_assert_eq!(read(series.to_csv().to_string().as_bytes()), series);
    }

    /// The same rates, whatever mark, separator, line end, encoding and unit they are written with,
    /// and whenever their times begin.
    #[test]
    fn any_way_of_writing_reads_the_same(series in series(), style in style()) {
        prop_assert_eq!(read(&style.write(&series)), series);
    }

    #[test]
    fn any_bytes_give_a_recording_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cells in "([0-9a-zµ.,;:/ \\t\"'#\\[\\]()+-]{0,12}[\r\n]{0,2}){0,20}",
    ) {
        for text in [&bytes[..], cells.as_bytes()] {
            for (time, rate) in [(None, None), (Some("every 1 s"), Some("1 in kbit/s")), (Some("1 in ms"), Some("2 in B"))] {
                let time = time.map(|time| time.parse().unwrap());
                let rate = rate.map(|rate| rate.parse().unwrap());
                // An error has a message of one line, which is not that of a bug.
                if let Err(error) = Recording::read(text, &Columns { time, rate }) {
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }

    /// Each whole second of the trace has the bytes of the rates to less than a packet; two rates
    /// that are rounded to bit/s add an eighth of a byte.
    #[test]
    fn every_second_is_within_a_packet_of_its_rate(series in series()) {
        prop_assume!(series.packets() > 0);
        let trace = series.to_trace().unwrap();
        prop_assert_eq!(trace.opportunities() as u128, series.packets());
        let back = RateSeries::from_trace(&trace, SECOND).unwrap();
        prop_assume!(trace.period() >= SECOND);
        let pairs = bytes(&series, SECOND).into_iter().zip(bytes(&back, SECOND));
        for (second, (wanted, given)) in pairs.enumerate() {
            let bound = OPPORTUNITY_BYTES as f64 + 0.125;
            prop_assert!((wanted - given).abs() < bound, "{second} s: {given} B for {wanted} B");
        }
    }

    /// In bins of any width a trace is as long as it was and carries what it did; each rate is
    /// rounded down to bit/s, so that their mean is too low by less than that, and rounded itself.
    #[test]
    fn bins_keep_the_length_and_the_mean(trace in trace(), width in 1..100_000_u64) {
        let series = RateSeries::from_trace(&trace, Duration::from_millis(width)).unwrap();
        prop_assert_eq!(series.duration(), trace.period());
        let (is, was) = (series.mean_rate().bits_per_sec(), trace.mean_rate().bits_per_sec());
        prop_assert!(is.abs_diff(was) <= 1, "{is} bit/s for {was}");
    }

    /// Bins of 1 ms are whole packets, from which the same opportunities come.
    #[test]
    fn a_trace_survives_as_rates_of_milliseconds(trace in trace()) {
        let series = RateSeries::from_trace(&trace, Duration::from_millis(1)).unwrap();
        let zero_counts_as_one = |at: u32| at.max(1);
        let read = |text: String| text.lines().map(|at| at.parse().unwrap()).collect::<Vec<u32>>();
        let expected: Vec<_> = read(trace.to_string()).into_iter().map(zero_counts_as_one).collect();
        prop_assert_eq!(series.to_trace().unwrap(), Trace::from_millis(expected).unwrap());
    }
}
