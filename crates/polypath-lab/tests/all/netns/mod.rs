//! `polypath emulate --netns`, `validate gateway`, `reproduce --live` and `compare --world
//! kernel` with the real binary:
//! programs, the kernel's TCP and Multipath TCP in network namespaces, and what is left of them.
//! Needs root; without it these tests are skipped.

mod command;
mod compare;
mod event;
mod gateway;
mod killed;
mod lab;
mod rate;
mod reproduce;
mod trace;
mod usage;
