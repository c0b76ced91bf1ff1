//! The state machine of the bond, driven from outside.

mod any_frames;
mod routing_feedback;
