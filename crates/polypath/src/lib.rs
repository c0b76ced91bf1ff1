//! The Polypath command line: its options, its configuration files, its output.
//!
//! The binary is a thin shell around this library, so that the option types of every command can
//! be built and tested without starting a process.
#![forbid(unsafe_code)]

pub mod command;
pub mod config;
pub mod control;
mod cpu;
pub mod demo;
pub mod output;
pub mod progress;
pub mod report;
