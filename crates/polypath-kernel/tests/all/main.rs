//! The C of the kernel world against polypath-core: the same events, and what comes out of them.
//!
//! The C is compiled with the system's C compiler and run as programs of user space, in which
//! undefined behaviour ends the program (`-fsanitize=undefined`).

#![allow(clippy::print_stdout, reason = "tests tell figures that a page has")]

mod arithmetic;
mod differential;
mod event;
mod link;
mod program;
mod table;
mod tap;
mod trace;
