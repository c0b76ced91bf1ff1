//! The algorithms as worlds drive them, and the pages of the book about them.

mod citations;
mod closed_loop;
mod congestion;
mod congestion_properties;
mod coupled_increments;
mod docs;
mod milliseconds;
mod toy;
