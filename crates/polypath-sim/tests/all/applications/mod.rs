//! Applications over every transport, against what the network allows them.

mod bulk;
mod constant_rate;
mod datagrams;
mod on_off;
mod request_response;
mod together;
mod video;
mod world;
