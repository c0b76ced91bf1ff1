//! The paths of a running edge, as it has measured them.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use polypath_units::Bandwidth;

use crate::command::model::ModelLink;
use polypath::control::{self, PathReport, Status};
use polypath::output;

/// The active paths of the first bond of whoever answers at this socket, or in the default places.
/// What is left out is told.
///
/// # Errors
/// When nobody answers, or nothing was measured.
pub(super) fn links(socket: Option<&Path>) -> anyhow::Result<Vec<ModelLink>> {
    measured(&control::ask(socket)?)
}

fn measured(status: &Status) -> anyhow::Result<Vec<ModelLink>> {
    let Some(bond) = status.bonds.first() else {
        bail!("there is no bond yet: nothing was measured");
    };
    let mut links = Vec::new();
    for path in &bond.paths {
        match link(path) {
            Ok(link) => links.push(link),
            Err(reason) => output::tell(&format!("path {} is left out: {reason}\n", path.name)),
        }
    }
    if links.is_empty() {
        bail!("no path was measured: advice needs paths that have carried data");
    }
    Ok(links)
}

/// A path, or why nothing can be said of it.
fn link(path: &PathReport) -> Result<ModelLink, String> {
    if path.state != "active" {
        return Err(format!("it is {}", path.state));
    }
    if path.loss >= 1.0 {
        return Err("it has lost all that was sent of late".to_owned());
    }
    let rate = Bandwidth::from_mbit_per_sec(path.mbit_s);
    let min_rtt = path.min_rtt_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
    match min_rtt.filter(|_| rate > Bandwidth::ZERO) {
        Some(min_rtt) => Ok(ModelLink::measured(path.name.clone(), rate, min_rtt, path.loss)),
        None => Err("it has carried nothing that its rate and RTT could be measured by".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_model::ModelPath;

    fn status(paths: &str) -> Status {
        let text = format!(
            r#"{{"role":"edge","version":"1","uptime_s":5.0,"bonds":[{{"id":1,"peer":"ppp1x",
            "same_key":[],"paths":[{paths}],"unsent":0,"unacked":0,"buffered":0,"gaps":0,
            "bytes_read":0,"bytes_delivered":0,"bytes_reinjected":0,"bytes_duplicate":0}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn path(name: &str, state: &str, min_rtt_ms: &str, mbit_s: f64) -> String {
        format!(
            r#"{{"id":0,"name":"{name}","state":"{state}","backup":false,"srtt_ms":null,
            "min_rtt_ms":{min_rtt_ms},"sent_mbit_s":0.0,"received_mbit_s":0.0,"mbit_s":{mbit_s},
            "cwnd_bytes":0,"in_flight_bytes":0,"loss":0.01,"packets_sent":0,"bytes_sent":0,
            "bytes_received":0,"bytes_reinjected":0,"failures":0}}"#
        )
    }

    #[test]
    fn paths_are_what_they_were_measured_as_and_others_are_left_out() {
        let paths = [
            path("lte", "active", "60.0", 42.0),
            path("idle", "active", "30.0", 0.0),
            path("new", "active", "null", 1.0),
            path("dead", "failed", "30.0", 9.0),
            path("deaf", "active", "30.0", 9.0).replace("0.01", "1.0"),
        ];
        let links = measured(&status(&paths.join(","))).unwrap();
        assert_eq!(links.len(), 1);
        assert_eq!(links[0].name, "lte");
        let ModelPath { rate, rtt, loss, .. } = links[0].path();
        assert_eq!(rate, Bandwidth::from_mbit_per_sec(42.0));
        assert_eq!((rtt, loss), (Duration::from_millis(60), 0.01));
    }

    #[test]
    fn without_measurements_there_is_no_advice() {
        let nothing = measured(&status(&path("idle", "active", "null", 0.0))).unwrap_err();
        assert!(nothing.to_string().contains("no path was measured"), "{nothing}");
        let none = measured(&Status { bonds: Vec::new(), ..status("") }).unwrap_err();
        assert!(none.to_string().contains("no bond yet"), "{none}");
    }
}
