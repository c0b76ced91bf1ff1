//! The link model: rates, queues, losses, radio, traces.

mod common;
mod htb;
mod link;
mod properties;
mod queues;
mod radio;
mod trace_formats;
mod trace_generator;
mod trace_properties;
mod trace_recordings;
