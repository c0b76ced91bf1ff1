//! The product's command line: its options, its configuration files, its output.
//!
//! The binary is a thin shell around this library, so that the option types of every command can
//! be built and tested without starting a process. What further command lines share with it, such
//! as that of the laboratory, is public: [`config`], [`control`], [`output`], [`progress`]
//! and [`service`].
#![forbid(unsafe_code)]

mod allocator;
pub mod command;
pub mod config;
pub mod control;
pub mod external;
pub mod gateway;
mod metrics;
pub mod output;
pub mod progress;
pub mod quota;
pub mod service;
mod service_manager;
