//! The model file from outside: conversions of whole checkpoints, and every kind of file that must be refused.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod checkpoints;
mod conversion;
mod hostile_checkpoint;
mod hostile_gguf;
mod mutation;
