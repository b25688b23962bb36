//! The command as its users meet it: arguments in; text, files and an exit code out.

mod arbiter;
mod check;
mod compare;
mod errors;
mod exhaustive;
mod flaws;
mod harness;
mod interrupt;
mod json;
mod lab;
mod outputs;
mod search;
mod show;
mod sim;
mod tls;
mod trace;
