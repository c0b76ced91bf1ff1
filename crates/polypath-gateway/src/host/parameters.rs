//! Parameters of the kernel: set, and put back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::HostError;
use super::record::{Earlier, Record};
use crate::plan::{Ipv6Forwarding, Parameter, Parameters};

/// Sets parameters, and gives those of an earlier plan that are not among them their values back.
///
/// What they were before is in the record, also of those that the kernel changes with them, before
/// any is changed. What the record holds already stays: it is from an earlier plan, or from before
/// a gateway that was killed.
pub(super) fn set(parameters: &Parameters, record: &Record) -> Result<(), HostError> {
    let mut earlier = record.read()?;
    let wanted = wanted(parameters, &earlier)?;
    let touched = touched(&wanted)?;
    for path in &touched {
        let Some(value) = read(path)? else { continue };
        if !earlier.iter().any(|known| known.path == *path) {
            earlier.push(Earlier { path: path.clone(), value });
        }
    }
    record.write(&earlier)?;
    let (kept, over): (Vec<_>, Vec<_>) =
        earlier.into_iter().partition(|known| touched.contains(&known.path));
    put_back(&over)?;
    for Parameter { path, value } in &wanted {
        // Interfaces that are not there have none.
        if read(path)?.is_some_and(|now| now != *value) {
            write(path, value)?;
        }
    }
    record.write(&kept)
}

/// Gives parameters the values that are in the record, and removes it. Returns how many had others.
pub(super) fn restore(record: &Record) -> Result<usize, HostError> {
    let count = put_back(&record.read()?)?;
    record.remove()?;
    Ok(count)
}

fn put_back(values: &[Earlier]) -> Result<usize, HostError> {
    let mut count = 0;
    for Earlier { path, value } in values {
        // Interfaces may have gone.
        if read(path)?.is_some_and(|now| now != *value) {
            write(path, value)?;
            count += 1;
        }
    }
    Ok(count)
}

/// What is to be set, in this order.
fn wanted(parameters: &Parameters, earlier: &[Earlier]) -> Result<Vec<Parameter>, HostError> {
    let ipv6 = match &parameters.ipv6_forwarding {
        Ipv6Forwarding::None => Vec::new(),
        Ipv6Forwarding::From(interfaces) => {
            let of = |name| Parameter::on(format!("net/ipv6/conf/{name}/force_forwarding"));
            match read("net/ipv6/conf/all/force_forwarding")? {
                Some(_) => interfaces.iter().map(of).collect(),
                None => all_ipv6(earlier)?,
            }
        }
        Ipv6Forwarding::All => all_ipv6(earlier)?,
    };
    Ok(parameters.plain.iter().cloned().chain(ipv6).collect())
}

/// Forwarding from all interfaces, after those that take router advertisements have been told to go
/// on.
fn all_ipv6(earlier: &[Earlier]) -> Result<Vec<Parameter>, HostError> {
    let mut parameters = Vec::new();
    for path in of_each_interface("net/ipv6/conf", "accept_ra")? {
        let was = earlier.iter().find(|known| known.path == path).map(|known| known.value.clone());
        let value = if was.is_some() { was } else { read(&path)? };
        if value.as_deref() == Some("1") {
            parameters.push(Parameter { path, value: "2" });
        }
    }
    parameters.push(Parameter::on("net/ipv6/conf/all/forwarding"));
    Ok(parameters)
}

/// All that changes with these parameters, in the order in which it is put back: backwards, so that
/// forwarding ends before router advertisements are taken as they were.
fn touched(wanted: &[Parameter]) -> Result<Vec<String>, HostError> {
    let mut paths = Vec::new();
    for Parameter { path, .. } in wanted.iter().rev() {
        paths.push(path.clone());
        paths.extend(followers(path)?);
    }
    Ok(paths)
}

/// The parameters that the kernel changes with one (Documentation/networking/ip-sysctl).
fn followers(path: &str) -> Result<Vec<String>, HostError> {
    match path {
        "net/ipv4/ip_forward" => of_each_interface("net/ipv4/conf", "forwarding"),
        "net/ipv6/conf/all/forwarding" => of_each_interface("net/ipv6/conf", "forwarding"),
        _ => Ok(Vec::new()),
    }
}

/// A parameter of each interface, of `all` and of `default`, if there are such.
fn of_each_interface(folder: &str, name: &str) -> Result<Vec<String>, HostError> {
    let failed = |error| HostError::Parameter { path: folder.to_owned(), error };
    let entries = match fs::read_dir(file(folder)) {
        Ok(entries) => entries,
        // A kernel without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let of = |entry: io::Result<fs::DirEntry>| {
        let interface = entry?.file_name();
        Ok(format!("{folder}/{}/{name}", interface.to_string_lossy()))
    };
    let mut paths = entries.map(of).collect::<io::Result<Vec<_>>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn file(path: &str) -> PathBuf {
    Path::new("/proc/sys").join(path)
}

/// `None` if there is no such parameter.
fn read(path: &str) -> Result<Option<String>, HostError> {
    match fs::read_to_string(file(path)) {
        Ok(value) => Ok(Some(value.trim().to_owned())),
        // What is not seen would be taken for what the kernel does not have.
        Err(error) if error.kind() == io::ErrorKind::NotFound => match file("net").is_dir() {
            true => Ok(None),
            false => Err(HostError::ParametersHidden),
        },
        Err(error) => Err(HostError::Parameter { path: path.to_owned(), error }),
    }
}

fn write(path: &str, value: &str) -> Result<(), HostError> {
    let failed = |error| HostError::Parameter { path: path.to_owned(), error };
    fs::write(file(path), value).map_err(failed)
}
