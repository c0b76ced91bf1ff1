//! Networks of namespaces, made and removed for real. Needs root; without it the tests are skipped.

mod clean;
mod network;
mod traffic;
