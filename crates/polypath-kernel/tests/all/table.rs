//! The table of algorithms against the files and the limits of the kernel.

use super::program::bpf;
use polypath_kernel::{CONGESTION, SLOW_STARTS};
use std::collections::BTreeSet;

#[test]
fn each_algorithm_has_a_file_and_each_file_an_algorithm() {
    let folder = std::fs::read_dir(bpf().join("congestion")).unwrap();
    let files: BTreeSet<_> = folder
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".bpf.c")?.to_owned()))
        .collect();
    assert_eq!(files, CONGESTION.iter().map(|row| row.kind.name().to_owned()).collect());
}

/// `TCP_CA_NAME_MAX` is 16, with the zero at the end.
#[test]
fn names_in_the_kernel_fit_and_differ() {
    let names: BTreeSet<_> = CONGESTION.iter().map(|row| row.kernel_name).collect();
    assert_eq!(names.len(), CONGESTION.len());
    assert!(names.iter().all(|name| name.len() <= 15 && name.starts_with("pp_")), "{names:?}");
}

#[test]
fn slow_starts_have_the_numbers_of_the_header() {
    let header = std::fs::read_to_string(bpf().join("include/connection.h")).unwrap();
    let (_, list) = header.split_once("enum pp_slow_start_kind {").unwrap();
    let (list, _) = list.split_once('}').unwrap();
    let names: Vec<_> = list.split(',').map(|name| name.trim().to_lowercase()).collect();
    let expected: Vec<_> = SLOW_STARTS.iter().map(|(kind, _)| format!("pp_{kind}")).collect();
    assert_eq!(names, expected);
    assert!(SLOW_STARTS.iter().map(|row| row.1).eq(0..4));
}
