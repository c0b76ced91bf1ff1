use super::*;
use polypath_units::Bandwidth;
use proptest::prelude::*;

fn link(name: &str, mbit_s: f64, delay_ms: u64, loss: f64) -> AdviceLink {
    let (rate, rtt) = (Bandwidth::from_mbit_per_sec(mbit_s), Duration::from_millis(2 * delay_ms));
    let queue_bytes = rate.bytes_per_sec() * rtt.as_secs_f64();
    AdviceLink {
        name: name.to_owned(),
        path: ModelPath { rate, rtt, loss, queue_bytes },
        cost_per_gb: None,
    }
}

fn costing(cost: f64, link: AdviceLink) -> AdviceLink {
    AdviceLink { cost_per_gb: Some(cost), ..link }
}

fn question(links: &[AdviceLink]) -> AdviceQuestion {
    AdviceQuestion {
        links: links.to_vec(),
        receive_buffer: 16 << 20,
        goal: Goal::Throughput,
        cap_per_gb: None,
    }
}

fn two() -> [AdviceLink; 2] {
    [link("lte", 50.0, 30, 0.0), link("wifi", 30.0, 10, 0.0)]
}

#[test]
fn with_buffer_enough_all_links_are_used_and_add_up() {
    let advice = advise(&question(&two())).unwrap();
    let choice = &advice.choice;
    assert_eq!((&choice.links[..], choice.limit), (&[0, 1][..], Limit::Rate));
    assert_eq!(choice.scheduler, SchedulerKind::Edpf, "what ships, unless another is better");
    assert_eq!(choice.congestion, CongestionKind::Polypath);
    // 1400 of 1472 bytes are payload; half a round of 10 s measures.
    let sum = 80e6 / 8.0 * 1_400.0 / 1_472.0;
    assert!((choice.bytes_per_sec / sum - 1.0).abs() < 0.005, "{choice:?}");
    assert_eq!(advice.alone.links, [0]);
    // Predicted is all that the links can carry but for what measuring takes: less than 1 % above.
    let [from, to] = choice.interval.unwrap();
    assert!(from < choice.bytes_per_sec && (to / sum - 1.0).abs() < 1e-9, "{from} {to} {sum}");
    for part in ["Use lte and wifi with the scheduler edpf", "times the fastest link alone, lte"] {
        assert!(advice.explanation.contains(part), "{}", advice.explanation);
    }
}

#[test]
fn a_link_that_the_buffer_has_no_room_for_adds_nothing_and_it_is_said() {
    let links = [link("fast", 300.0, 10, 0.0), link("sat", 10.0, 300, 0.0)];
    let small = AdviceQuestion { receive_buffer: 700_000, ..question(&links) };
    let advice = advise(&small).unwrap();
    assert_eq!((&advice.choice.links[..], &advice.choice.spare[..]), (&[0, 1][..], &[1][..]));
    assert!(advice.explanation.contains("and to stand by: sat."), "{advice:?}");
    assert_eq!(advise(&question(&links)).unwrap().choice.spare, [0; 0]);
    assert_eq!(advice.choice.receive_buffer, 700_000);
    assert_eq!(advice.choice.limit, Limit::ReceiveBuffer, "0.8 of 700 kB in 20 ms");
    assert!(advice.explanation.contains("The receive buffer limits it"));
    // Three times 80 Mbit/s in 60 ms are 1.8 MB.
    assert_eq!(advise(&question(&two())).unwrap().choice.receive_buffer, 2 << 20);
}

#[test]
fn losses_above_what_the_own_control_bears_are_for_bbr() {
    let lossy = |loss| advise(&question(&[link("radio", 50.0, 30, loss)])).unwrap().choice;
    assert_eq!(lossy(0.05).congestion, CongestionKind::Polypath);
    assert_eq!(lossy(0.12).congestion, CongestionKind::Bbr);
}

/// What `polypath` takes of links on which BBR is better is no measure of what they bring.
#[test]
fn choices_with_bbr_are_told_apart_by_what_bbr_takes() {
    let links = [link("a", 40.0, 25, 0.15), link("b", 20.0, 25, 0.12), link("c", 30.0, 25, 0.01)];
    let Advice { choice, others, .. } = advise(&question(&links)).unwrap();
    assert_eq!((&choice.links[..], choice.congestion), (&[0, 1, 2][..], CongestionKind::Bbr));
    let second = &others[0];
    assert_eq!((&second.links[..], second.scheduler), (&[0, 2][..], SchedulerKind::Edpf));
    assert!(second.bytes_per_sec > 0.7 * choice.bytes_per_sec, "{second:?}");
}

#[test]
fn losses_limit_where_most_of_the_rate_is_lost_to_them() {
    let limit = |rate| {
        let links = [link("lossy", rate, 20, 0.3), link("clean", 20.0, 20, 0.0)];
        advise(&question(&links)).unwrap().choice.limit
    };
    assert_eq!([limit(100.0), limit(10.0)], [Limit::Loss, Limit::Rate]);
}

/// Where losses stop the window, less rate is at times predicted to carry more.
#[test]
fn the_own_control_and_all_links_are_kept_where_the_buffer_is_small() {
    let far = [
        (1.7, 77, 0.0),
        (4.1, 73, 0.018),
        (35.0, 12, 0.013),
        (9.6, 179, 0.011),
        (50.0, 155, 0.0),
        (134.0, 108, 0.005),
        (14.6, 12, 0.0),
    ];
    let fast = [(423.9, 12, 0.0003), (173.1, 15, 0.0), (114.5, 8, 0.013), (134.2, 5, 0.0)];
    for (links, receive_buffer) in [(&far[..], 2_900_000), (&fast, 400_000)] {
        let links: Vec<_> =
            links.iter().map(|&(rate, delay, loss)| link("link", rate, delay, loss)).collect();
        let choice = advise(&AdviceQuestion { receive_buffer, ..question(&links) }).unwrap().choice;
        assert_eq!(choice.links.len(), links.len());
        assert_eq!(choice.congestion, CongestionKind::Polypath);
    }
}

#[test]
fn for_latency_the_near_link_is_taken_or_copies_where_links_lose() {
    let ask = |links: &[AdviceLink]| {
        let latency = AdviceQuestion { goal: Goal::Latency, ..question(links) };
        advise(&latency).unwrap().choice
    };
    let near = ask(&two());
    // 0.6 of 20 ms, and 1,472 bytes at 30 Mbit/s.
    let delay = Duration::from_nanos(12_000_000 + 392_533);
    assert_eq!((&near.links[..], near.delay), (&[1][..], delay));
    // A packet takes 11.8 ms at 1 Mbit/s, and the news of a loss takes as long even without
    // propagation delay.
    let slow = ask(&[link("slow", 1.0, 5, 0.0), link("fast", 100.0, 8, 0.0)]);
    assert_eq!(slow.links, [1]);
    let lossy = ask(&[link("lossy", 10.0, 0, 0.5), link("clean", 10.0, 1, 0.0)]);
    assert_eq!(lossy.links, [1]);
    let lossy = ask(&[link("a", 20.0, 10, 0.01), link("b", 20.0, 12, 0.01)]);
    assert_eq!((lossy.links, lossy.scheduler), (vec![0, 1], SchedulerKind::Redundant));
    assert_eq!(lossy.interval, None, "no simulation was held against copies");
}

#[test]
fn for_reliability_the_most_is_left_when_a_link_dies() {
    let reliable = AdviceQuestion { goal: Goal::Reliability, ..question(&two()) };
    let Advice { choice, explanation, .. } = advise(&reliable).unwrap();
    assert_eq!(choice.links, [0, 1]);
    let worst = advise(&question(&two()[1..])).unwrap().choice.bytes_per_sec;
    assert_eq!(choice.surviving_bytes_per_sec, worst);
    let left = "Whichever link dies, at least 28.5 Mbit/s are left";
    assert!(explanation.contains(left), "{explanation}");
}

/// Through little buffer `low_rtt` or `fps` is predicted to leave a little more, within its error.
#[test]
fn for_reliability_and_cost_what_ships_is_advised() {
    let modems = [link("a", 20.0, 15, 0.01), link("b", 18.0, 40, 0.0), link("c", 9.0, 25, 0.02)];
    let paid = modems.map(|link| costing(1.0, link));
    for receive_buffer in [250_000, 350_000, 512 << 10] {
        for goal in [Goal::Reliability, Goal::Cost] {
            let question = AdviceQuestion { receive_buffer, goal, ..question(&paid) };
            let choice = advise(&question).unwrap().choice;
            assert_eq!(choice.scheduler, SchedulerKind::Edpf, "{choice:?}");
        }
    }
}

#[test]
fn cost_is_the_mean_of_what_is_carried_and_a_cap_keeps_below_it() {
    let [lte, wifi] = two();
    let links = [costing(8.0, lte), costing(0.0, wifi)];
    let fast = advise(&question(&links)).unwrap().choice;
    assert!((fast.cost_per_gb.unwrap() - 5.0).abs() < 0.02, "5 of 8 bytes for 8: {fast:?}");
    let capped = AdviceQuestion { cap_per_gb: Some(4.0), ..question(&links) };
    let advice = advise(&capped).unwrap();
    assert_eq!(advice.choice.links, [1]);
    let within = "No other choice with edpf that costs at most 4 per GB is predicted to be faster.";
    assert!(advice.explanation.contains(within), "{}", advice.explanation);
    let cheap = AdviceQuestion { goal: Goal::Cost, ..question(&links) };
    assert_eq!(advise(&cheap).unwrap().choice.cost_per_gb, Some(0.0));
    let dear = AdviceQuestion { cap_per_gb: Some(4.0), ..question(&links[..1]) };
    let error = advise(&dear).unwrap_err().to_string();
    assert_eq!(error, "no choice costs at most 4 per GB; the cheapest costs 8");
}

/// Whatever the rounding of means: the faster one of equals is advised, and a cap that all links
/// meet leaves none out.
#[test]
fn the_mean_of_equal_costs_is_their_cost() {
    for cost in [0.1, 0.3, 0.7, 7.5] {
        let links = [(50.0, 30), (30.0, 10), (20.0, 15), (33.0, 7)];
        let links = links.map(|(rate, delay)| costing(cost, link("a", rate, delay, 0.0)));
        for count in 1..=links.len() {
            let cheap = AdviceQuestion { goal: Goal::Cost, ..question(&links[..count]) };
            let capped = AdviceQuestion { cap_per_gb: Some(cost), ..question(&links[..count]) };
            for question in [cheap, capped] {
                let choice = advise(&question).unwrap().choice;
                assert_eq!((choice.links.len(), choice.cost_per_gb), (count, Some(cost)));
            }
        }
    }
}

/// Its purpose is what is left when the other one dies.
#[test]
fn a_backup_is_not_spare_where_reliability_is_wanted() {
    let [fast, near] = [link("fast", 300.0, 10, 0.0), link("near", 30.0, 60, 0.0)];
    let links = [fast.clone(), near.clone()];
    let with = |goal| AdviceQuestion { goal, receive_buffer: 300_000, ..question(&links) };
    assert_eq!(advise(&with(Goal::Throughput)).unwrap().choice.spare, [1]);
    assert_eq!(advise(&with(Goal::Reliability)).unwrap().choice.spare, [0; 0]);
    let alone = AdviceQuestion { links: vec![fast], ..with(Goal::Reliability) };
    let added = added(&alone, &near).unwrap();
    assert!(added.used && added.gain_bytes_per_sec == 0.0, "{added:?}");
    let left = "+0.0 Mbit/s, and 18.0 Mbit/s instead of 0.0 Mbit/s if a link dies.";
    assert!(added.explanation.ends_with(left), "{}", added.explanation);
}

/// Simulated alone, 1 Mbit/s, 5 ms gave 0.57 Mbit/s, 5 Mbit/s, 1 ms 2.96, 20 Mbit/s, 1 ms 16.5.
#[test]
fn less_is_told_to_be_possible_of_links_that_hold_few_packets() {
    let from = |rate, delay| {
        let choice = advise(&question(&[link("a", rate, delay, 0.0)])).unwrap().choice;
        choice.interval.unwrap()[0] * 8e-6
    };
    assert!(from(1.0, 5) < 0.57 && from(5.0, 1) < 2.96 && from(20.0, 1) < 16.5);
    assert!(from(20.0, 10) > 16.5);
}

#[test]
fn an_added_link_brings_what_it_carries_or_is_not_used() {
    let third = added(&question(&two()), &link("5g", 40.0, 15, 0.0)).unwrap();
    assert!(third.used);
    assert!((third.gain_bytes_per_sec * 8e-6 / (40.0 * 1_400.0 / 1_472.0) - 1.0).abs() < 0.01);
    assert!(third.explanation.contains("5g more would be used"), "{}", third.explanation);
    let small = AdviceQuestion { receive_buffer: 300_000, ..question(&two()) };
    let slow = added(&small, &link("sat", 5.0, 300, 0.0)).unwrap();
    assert!(!slow.used, "{}", slow.explanation);
    assert_eq!(slow.gain_bytes_per_sec, 0.0);
}

#[test]
fn finalists_differ_and_have_three_with_each_scheduler() {
    let links = [link("a", 50.0, 10, 0.0), link("b", 60.0, 40, 0.0), link("c", 70.0, 80, 0.01)];
    let tight = AdviceQuestion { receive_buffer: 600_000, ..question(&links) };
    let Advice { choice, others, .. } = advise(&tight).unwrap();
    for scheduler in &SCHEDULERS[..3] {
        let with = others.iter().chain([&choice]).filter(|other| other.scheduler == *scheduler);
        let mut sets: Vec<_> = with.map(|other| &other.links).collect();
        sets.sort();
        sets.dedup();
        assert_eq!(sets.len(), 3, "{scheduler}");
    }
}

#[test]
fn what_cannot_be_is_named() {
    let message = |question: &AdviceQuestion| advise(question).unwrap_err().to_string();
    assert_eq!(message(&question(&[])), "no link; allowed: 1 to 64");
    let many = vec![link("a", 1.0, 1, 0.0); 65];
    assert_eq!(message(&question(&many)), "65 links; allowed: 1 to 64");
    let lossy = [link("a", 1.0, 1, 2.0)];
    assert_eq!(message(&question(&lossy)), "a: the loss is 2; allowed: from 0 to below 1");
    let still = message(&question(&[link("lte", 0.0, 1, 0.0)]));
    assert_eq!(still, "lte: the rate of a link in bytes/s is 0; allowed: above 0");
    let little = AdviceQuestion { receive_buffer: 1, ..question(&two()) };
    let least = "the receive buffer is 1 bytes; allowed: from 65536, the least that bonds have";
    assert_eq!(message(&little), least);
    let capped = AdviceQuestion { cap_per_gb: Some(1.0), ..question(&two()) };
    assert_eq!(message(&capped), "a cap needs the cost per GB of each link; lte has none");
    let cheap = AdviceQuestion { goal: Goal::Cost, ..question(&two()) };
    assert_eq!(message(&cheap), "the goal cost needs the cost per GB of each link; lte has none");
    let negative = AdviceQuestion { cap_per_gb: Some(-1.0), ..question(&two()) };
    assert_eq!(message(&negative), "the cap on the cost per GB is -1; allowed: from 0");
    let paid = [costing(f64::NAN, link("lte", 1.0, 1, 0.0))];
    assert!(message(&question(&paid)).contains("the cost per GB of lte is NaN"));
}

#[test]
fn goals_have_names() {
    for goal in Goal::ALL {
        assert_eq!(goal.name().parse(), Ok(goal));
    }
    let unknown = "speed".parse::<Goal>().unwrap_err().to_string();
    assert!(unknown.contains("\"speed\" is no goal of advice; allowed: throughput"), "{unknown}");
}

fn any_link() -> impl Strategy<Value = AdviceLink> {
    let numbers = (1_u64..100_000_000_000, 0_u64..10_000_000, 0.0..0.999_f64, 0.0..100_f64);
    numbers.prop_map(|(bits, micros, loss, cost)| AdviceLink {
        name: "link".to_owned(),
        path: ModelPath {
            rate: Bandwidth::from_bits_per_sec(bits),
            rtt: Duration::from_micros(micros),
            loss,
            queue_bytes: 1e5,
        },
        cost_per_gb: Some(cost),
    })
}

fn any_question() -> impl Strategy<Value = AdviceQuestion> {
    let goals = prop::sample::select(&Goal::ALL[..]);
    let links = prop_oneof![
        8 => prop::collection::vec(any_link(), 1..=6),
        1 => prop::collection::vec(any_link(), 11..=20),
    ];
    let buffers = AdviceQuestion::LEAST_RECEIVE_BUFFER..1 << 34;
    (links, buffers, goals).prop_map(|(links, receive_buffer, goal)| AdviceQuestion {
        links,
        receive_buffer,
        goal,
        cap_per_gb: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn advice_is_of_given_links_and_within_what_they_carry(question in any_question()) {
        let advice = advise(&question).unwrap();
        for choice in advice.others.iter().chain([&advice.choice, &advice.alone]) {
            prop_assert!(!choice.links.is_empty());
            prop_assert!(choice.links.windows(2).all(|two| two[0] < two[1]));
            prop_assert!(choice.links.iter().all(|&link| link < question.links.len()));
            let rates = choice.links.iter().map(|&link| question.links[link].path.rate);
            let sum: f64 = rates.map(Bandwidth::bytes_per_sec).sum();
            prop_assert!(choice.bytes_per_sec > 0.0 && choice.bytes_per_sec <= sum);
            prop_assert!(choice.interval.is_none_or(|[from, to]| from <= to && to <= sum));
            prop_assert!(choice.receive_buffer <= question.receive_buffer);
            prop_assert!(choice.surviving_bytes_per_sec >= 0.0);
        }
        if question.goal == Goal::Throughput {
            prop_assert!(advice.choice.bytes_per_sec >= advice.alone.bytes_per_sec * 0.99);
        }
    }

    #[test]
    fn a_cap_never_makes_it_dearer(question in any_question(), cap in 0.0..100_f64) {
        let free = advise(&question).unwrap().choice.cost_per_gb.unwrap();
        let capped = AdviceQuestion { cap_per_gb: Some(cap), ..question };
        match advise(&capped) {
            Ok(advice) => {
                let cost = advice.choice.cost_per_gb.unwrap();
                prop_assert!(cost <= cap && cost <= free, "{cost} {free} {cap}");
            }
            Err(error) => prop_assert!(matches!(error, AdviceError::TooDear { .. }), "{error}"),
        }
    }

    #[test]
    fn an_added_link_never_slows_what_is_advised_for_throughput(
        question in any_question(),
        link in any_link(),
    ) {
        let question = AdviceQuestion { goal: Goal::Throughput, ..question };
        let all_sets_are_looked_at = question.links.len() < 10;
        let added = added(&question, &link).unwrap();
        let loss = -added.gain_bytes_per_sec / added.choice.bytes_per_sec;
        prop_assert!(!all_sets_are_looked_at || loss < 0.006, "rates of one step: {loss}");
    }
}

/// Through a buffer that neither of the fast links can fill, each of them is considered alone as
/// well; through a large one all together carry much more.
#[test]
fn links_that_may_be_as_good_alone_are_looked_at() {
    let links = [link("a", 100.0, 40, 0.0), link("b", 90.0, 30, 0.0), link("c", 10.0, 30, 0.0)];
    let singles = |receive_buffer| {
        let advice = advise(&AdviceQuestion { receive_buffer, ..question(&links) }).unwrap();
        let all = advice.others.into_iter().chain([advice.choice]).map(|choice| choice.links);
        let mut singles: Vec<_> = all.filter(|links| links.len() == 1).flatten().collect();
        singles.sort_unstable();
        singles
    };
    assert_eq!(singles(300_000), [0, 1]);
    assert_eq!(singles(16 << 20), []);
}
