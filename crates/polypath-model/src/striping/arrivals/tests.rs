use super::*;
use std::time::Duration;

fn links(n: usize) -> Vec<StripedLink> {
    let rate = polypath_units::Bandwidth::from_mbit_per_sec(1.0);
    vec![StripedLink { rate, delay: Duration::from_millis(20) }; n]
}

fn options(segments_per_ack: u32) -> StripingOptions {
    StripingOptions { segments_per_ack, ..StripingOptions::default() }
}

fn close(given: f64, expected: f64) {
    assert!((given - expected).abs() < 1e-7 * expected.abs().max(1.0), "{given}, not {expected}");
}

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<usize>| {
        (0..=order.len()).map(move |place| {
            let mut longer = order.clone();
            longer.insert(place, n - 1);
            longer
        })
    };
    orders(n - 1).into_iter().flat_map(insert).collect()
}

/// What the first new ACK acknowledges when segments arrive in this order.
fn acknowledged(order: &[usize], segments_per_ack: usize) -> usize {
    if order[0] == 0 {
        let in_order = order.iter().enumerate().take_while(|(place, segment)| place == *segment);
        return in_order.count().min(segments_per_ack);
    }
    let before: Vec<_> = order.iter().take_while(|&&segment| segment != 0).collect();
    (1..order.len()).take_while(|segment| before.contains(&segment)).count() + 1
}

#[test]
fn t_model_1() {
    let (two, options) = (links(2), options(2));
    let arrivals = Arrivals::new(&two, 536.0, &options).unwrap();
    let shares: Vec<_> = arrivals.in_order(4.0).collect();
    close(1.0 - shares[1], 2.0 / 3.0);
    close(shares.iter().sum(), 4.0 / 3.0);
    close(1.0 + 4.0 / 3.0 * (harmonic(4.0) - 1.0), 22.0 / 9.0);
    close(arrivals.acknowledged(4.0), 13.0 / 6.0);
    close(arrivals.acknowledged(6.0), 2.483_333_3);
    close(arrivals.acknowledged(2.0), 2.0);
    close(arrivals.acknowledged(3.0), 2.0);
}

#[test]
fn t_model_2() {
    let ms = Duration::from_millis;
    let link = |mbit, delay| {
        let rate = polypath_units::Bandwidth::from_mbit_per_sec(mbit);
        StripedLink { rate, delay: ms(delay) }
    };
    let (pair, mut options) = ([link(1.0, 20), link(0.5, 40)], options(2));
    options.phase = Phase::Exact;
    let exact = Arrivals::new(&pair, 536.0, &options).unwrap();
    close(exact.arrival(1, 0), 0.024_288);
    close(exact.arrival(2, 0), 0.048_576);
    close(exact.duration(3.0, 0), 0.028_336);
    close(exact.duration(3.0, 1), 0.044_528);
    options.phase = Phase::Mean;
    close(Arrivals::new(&pair, 536.0, &options).unwrap().duration(3.0, 0), 0.036_432);
}

#[test]
fn closed_forms_are_the_enumeration() {
    let two = links(2);
    for c in 2..=8 {
        let orders = orders(c);
        for segments_per_ack in 1..=9 {
            let options = options(segments_per_ack);
            let arrivals = Arrivals::new(&two, 536.0, &options).unwrap();
            let each = orders.iter().map(|order| acknowledged(order, segments_per_ack as usize));
            let mean = each.sum::<usize>() as f64 / orders.len() as f64;
            close(arrivals.acknowledged(c as f64), mean);
        }
    }
}

/// The mean of `D_A` over all orders in which segment 1 is first, and of `D_1` over the others.
#[test]
fn durations_are_the_enumeration() {
    let three = links(3);
    for c in 2..=7 {
        let orders = orders(c);
        for segments_per_ack in 1..=8 {
            let options = options(segments_per_ack);
            let arrivals = Arrivals::new(&three, 536.0, &options).unwrap();
            let ends = orders.iter().map(|order| match order[0] {
                0 => arrivals.arrival(acknowledged(order, segments_per_ack as usize) as u64, 0),
                _ => arrivals.arrival(1, 0),
            });
            close(arrivals.duration(c as f64, 0), ends.sum::<f64>() / orders.len() as f64);
        }
    }
}

/// Without the factorial the probabilities of 8 segments add up to 0.689.
#[test]
fn the_printed_form_of_equation_11_loses_a_third() {
    let (two, mut options) = (links(2), options(2));
    options.acknowledged = Reading::Printed;
    let printed = Arrivals::new(&two, 536.0, &options).unwrap();
    // C = 4: (1/3 + 2 * 2/9 + 4 * 1/3) without 3 * 1/9.
    close(printed_late(4.0), 19.0 / 9.0);
    close(printed.acknowledged(4.0), 19.0 / 9.0 + (4.0 / 3.0 - 19.0 / 9.0) / 4.0);
    // 3/7 + 8/7 + 8/7 * sum of left / left! / (k + 1), instead of 2.963.
    close(printed_late(8.0), 2.102_947_8);
}

#[test]
fn harmonic_numbers_have_all_digits() {
    let mut sum = 0.0;
    for c in 1..=1_000 {
        sum += 1.0 / f64::from(c);
        assert!((harmonic(f64::from(c)) - sum).abs() < 1e-12 * sum, "{c}");
    }
    close(harmonic(0.5), 2.0 - 2.0 * 2.0_f64.ln());
    close(harmonic(1e6), 14.392_726_722_865_7);
}

#[test]
fn huge_rounds_do_not_overflow() {
    let many = links(64);
    for segments_per_ack in [1, 2, 1_000_000, u32::MAX] {
        for acknowledged in [Reading::Corrected, Reading::Printed] {
            let options = StripingOptions { acknowledged, ..options(segments_per_ack) };
            let arrivals = Arrivals::new(&many, 536.0, &options).unwrap();
            for c in [1.0, 1.5, 2.0, 169.0, 171.5, 1e6] {
                let (acknowledged, time) = (arrivals.acknowledged(c), arrivals.duration(c, 0));
                assert!(acknowledged.is_finite() && acknowledged >= 0.0, "{c}: {acknowledged}");
                assert!(time.is_finite() && time > 0.0, "{c}: {time}");
            }
        }
    }
}
