//! The advice in words, made from its numbers.

use super::{AdviceQuestion, Advisor, Choice, Goal};
use crate::Limit;
use polypath_units::{Bandwidth, millis};

/// A paragraph: what to use and what it gives, compared with what, why the others are left out, and
/// what keeps it from being faster.
pub(super) fn paragraph(
    advisor: &Advisor,
    choice: &Choice,
    runner_up: Option<&Choice>,
    alone: &Choice,
) -> String {
    let sentences = [
        Some(what(advisor, choice)),
        Some(why(advisor.question, choice)),
        beside_alone(advisor, choice, alone),
        runner_up.map(|second| next(advisor, second)),
        spare(advisor, choice),
        left_out(advisor, choice),
        Some(limit(advisor, choice)),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

pub(super) fn rate(bytes_per_sec: f64) -> String {
    format!("{:.1} Mbit/s", bytes_per_sec * 8e-6)
}

fn what(advisor: &Advisor, choice: &Choice) -> String {
    let how_sure = match choice.interval {
        Some([from, to]) => format!("{} to {} in eight of ten simulations", rate(from), rate(to)),
        None => "which no simulation was held against".to_owned(),
    };
    format!(
        "Use {} with the scheduler {}, the congestion control {} and a receive buffer of {:.1} MB: \
         {} are predicted, {how_sure}.",
        advisor.names(&choice.links),
        choice.scheduler,
        choice.congestion,
        choice.receive_buffer as f64 / 1e6,
        rate(choice.bytes_per_sec),
    )
}

fn why(question: &AdviceQuestion, choice: &Choice) -> String {
    let within = match question.cap_per_gb {
        Some(cap) => format!(" that costs at most {cap} per GB"),
        None => String::new(),
    };
    match question.goal {
        Goal::Throughput => {
            format!("No other choice with {}{within} is predicted to be faster.", choice.scheduler)
        }
        Goal::Latency => format!(
            "In the 99th percentile data is delivered in order after {:.0} ms; no choice{within} is \
             predicted to be quicker by more than a twentieth.",
            millis(choice.delay)
        ),
        Goal::Reliability => match choice.links[..] {
            [_] => "Nothing is left if the link dies.".to_owned(),
            _ => format!(
                "Whichever link dies, at least {} are left; no choice with {}{within} leaves more.",
                rate(choice.surviving_bytes_per_sec),
                choice.scheduler
            ),
        },
        Goal::Cost => format!(
            "A GB costs {:.2}; no choice is cheaper.",
            choice.cost_per_gb.unwrap_or(f64::NAN)
        ),
    }
}

fn beside_alone(advisor: &Advisor, choice: &Choice, alone: &Choice) -> Option<String> {
    let times = choice.bytes_per_sec / alone.bytes_per_sec;
    (choice.links != alone.links).then(|| {
        format!(
            "That is {times:.2} times the fastest link alone, {} with {}.",
            advisor.names(&alone.links),
            rate(alone.bytes_per_sec)
        )
    })
}

fn next(advisor: &Advisor, second: &Choice) -> String {
    format!(
        "The next best that differs by more than a twentieth is {} with {}: {}.",
        advisor.names(&second.links),
        second.scheduler,
        rate(second.bytes_per_sec)
    )
}

fn spare(advisor: &Advisor, choice: &Choice) -> Option<String> {
    (!choice.spare.is_empty()).then(|| {
        format!("Predicted to add nothing, and to stand by: {}.", advisor.names(&choice.spare))
    })
}

/// What would come out with each link that is left out.
fn left_out(advisor: &Advisor, choice: &Choice) -> Option<String> {
    let out = (0..advisor.question.links.len()).filter(|link| !choice.links.contains(link));
    let each: Vec<_> = out
        .map(|link| {
            let with = advisor.fastest_with(&choice.links, link);
            let cost = with.cost.map_or_else(String::new, |cost| format!(" at {cost:.2} per GB"));
            format!("with {} it would be {}{cost}", advisor.name(link), rate(with.bytes_per_sec))
        })
        .collect();
    (!each.is_empty()).then(|| format!("Left out: {}.", each.join(", ")))
}

fn limit(advisor: &Advisor, choice: &Choice) -> String {
    match choice.limit {
        Limit::ReceiveBuffer => {
            let wider = advisor.unbuffered(choice);
            format!(
                "The receive buffer limits it: {:.1} MB would let these links carry {}.",
                wider.buffer(u64::MAX) as f64 / 1e6,
                rate(wider.bytes_per_sec)
            )
        }
        Limit::Loss => "The losses of the links limit it.".to_owned(),
        _ => {
            let sum: u64 = choice
                .links
                .iter()
                .filter(|link| !choice.spare.contains(link))
                .map(|&link| advisor.question.links[link].path.rate.bits_per_sec())
                .fold(0, u64::saturating_add);
            format!(
                "The rates of the links limit it, {:.1} Mbit/s together before headers and losses.",
                Bandwidth::from_bits_per_sec(sum).mbit_per_sec()
            )
        }
    }
}

/// What the last link would bring beside what is advised without it.
pub(super) fn added(advisor: &Advisor, choice: &Choice, used: bool, before: &Choice) -> String {
    let name = advisor.question.links.last().map_or("", |link| &link.name);
    let (total, more) = (rate(choice.bytes_per_sec), choice.bytes_per_sec - before.bytes_per_sec);
    match used {
        true => format!(
            "{name} more would be used: {total} with {} over {}, {:+.1} Mbit/s{}.",
            choice.scheduler,
            advisor.names(&choice.links),
            more * 8e-6,
            worth(advisor.question.goal, choice, before)
        ),
        false => format!("{name} more would add nothing: {total} as without it."),
    }
}

/// What that is worth for a goal other than throughput.
fn worth(goal: Goal, choice: &Choice, before: &Choice) -> String {
    match goal {
        Goal::Throughput => String::new(),
        Goal::Latency => format!(
            ", data in order after {:.0} instead of {:.0} ms",
            millis(choice.delay),
            millis(before.delay)
        ),
        Goal::Reliability => format!(
            ", and {} instead of {} if a link dies",
            rate(choice.surviving_bytes_per_sec),
            rate(before.surviving_bytes_per_sec)
        ),
        Goal::Cost => match (choice.cost_per_gb, before.cost_per_gb) {
            (Some(now), Some(then)) => format!(", a GB at {now:.2} instead of {then:.2}"),
            _ => String::new(),
        },
    }
}
