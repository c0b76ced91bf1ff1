//! What a QUIC connection and a tunnelled TCP connection have of a bond that they go through,
//! beside each of its paths alone: drawn profiles, a download of 15 s each.
//!
//! `cargo run --release -p polypath-lab --example inner -- [FAMILY [COUNT [DRAW_SEED]]]`

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use polypath_lab::compare::drawn::{Family, Profile};
use polypath_sim::run::{Keep, Plan};
use polypath_sim::scenario::Scenario;
use std::error::Error;
use std::io;
use std::path::Path;
use std::thread;

const KINDS: [(&str, &str); 2] = [
    ("QUIC", "transport = \"quic\"\ncongestion = \"cubic\"\nslow_start = \"standard\"\n"),
    ("TCP", "transport = \"tcp\"\ncongestion = \"cubic\"\nslow_start = \"hystart\"\n"),
];
const FLOW: &str =
    "\n[[flow]]\nconnection = \"inner\"\nkind = \"bulk\"\ndirection = \"down\"\nstart = \"1 s\"\n";

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut given = std::env::args().skip(1);
    let family: Family = given.next().as_deref().unwrap_or("grid").parse()?;
    let count: u32 = given.next().as_deref().unwrap_or("24").parse()?;
    let seed: u64 = given.next().as_deref().unwrap_or("450933").parse()?;
    let profiles: Vec<_> = (0..count).map(|number| family.profile(seed, number)).collect();
    for (kind, transport) in KINDS {
        let mut factors = Vec::new();
        for chunk in profiles.chunks(2) {
            let rows = thread::scope(|scope| {
                let runs: Vec<_> =
                    chunk.iter().map(|p| scope.spawn(move || row(p, transport))).collect();
                runs.into_iter()
                    .map(|run| run.join().unwrap_or_else(|_| Err("panicked".into())))
                    .collect::<Result<Vec<_>, Failure>>()
            })?;
            for (profile, (bond, alone)) in chunk.iter().zip(rows) {
                let best = alone.iter().copied().fold(0.0, f64::max);
                factors.push(bond / best);
                println!(
                    "{kind} {:>5.2} bond {bond:7.2} alone {} | {}",
                    bond / best,
                    alone.iter().map(|rate| format!("{rate:.2}")).collect::<Vec<_>>().join(" "),
                    profile.parameters()
                );
            }
        }
        factors.sort_by(f64::total_cmp);
        let at = |share: f64| factors[(share * (factors.len() - 1) as f64).round() as usize];
        let below = factors.iter().filter(|&&factor| factor < 1.0).count();
        println!(
            "{kind}: {} profiles, least {:.2}, quartiles {:.2} {:.2} {:.2}, most {:.2}; {below} below 1\n",
            factors.len(),
            at(0.0),
            at(0.25),
            at(0.5),
            at(0.75),
            at(1.0)
        );
    }
    Ok(())
}

/// What the connection has through the bond, and over each path alone, in Mbit/s.
fn row(profile: &Profile, transport: &str) -> Result<(f64, Vec<f64>), Failure> {
    let text = profile.text();
    let network = text.split("\n[[connection]]").next().unwrap_or_default();
    let lines = network.lines().filter(|line| !line.starts_with("duration"));
    let network = "duration = \"16 s\"\n".to_owned() + &lines.collect::<Vec<_>>().join("\n");
    let names: Vec<_> = network.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    let through = format!(
        "{network}\n[[connection]]\nname = \"bond\"\ntransport = \"bond\"\ncarrier = \"light\"\n\
         tcp = \"tunnel\"\n[[connection]]\nname = \"inner\"\nthrough = \"bond\"\n{transport}{FLOW}"
    );
    let alone = |name: &&str| {
        goodput(&format!(
            "{network}\n[[connection]]\nname = \"inner\"\npaths = [{name}]\n{transport}{FLOW}"
        ))
    };
    Ok((goodput(&through)?, names.iter().map(alone).collect::<Result<_, _>>()?))
}

fn goodput(text: &str) -> Result<f64, Failure> {
    let no_file = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let plan = Plan::new(Scenario::parse(text, Path::new("drawn.toml"), no_file)?)?;
    let report = plan.run(1, Keep::default(), &mut |_| {})?.report;
    let inner = report.connections.iter().find(|connection| connection.name == "inner");
    let inner = inner.ok_or("there is no such connection")?;
    Ok(inner.delivered_bytes as f64 * 8e-6 / (report.sim_s - 1.0))
}
