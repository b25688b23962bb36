//! The agent's log, on standard error.

use std::io;

use tracing_subscriber::filter::LevelFilter;

use crate::agent::config::{LogConfig, LogFormat};

/// From now on what happens is logged.
pub(super) fn start(config: &LogConfig) {
    let level: LevelFilter = config.level.parse().unwrap_or(LevelFilter::INFO);
    let log = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_writer(io::stderr);
    // Only one log can be started, and it is started here.
    let _ = match config.format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
}
