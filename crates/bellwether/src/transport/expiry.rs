//! Warns of a certificate that is about to expire, once a day.

use std::time::SystemTime;

use tokio::sync::watch;
use tokio::time::timeout;

use super::dial::stopped;
use crate::tls::{DAY, expiry_warning};

/// Until the transport stops.
pub(super) async fn watch(until: Option<SystemTime>, mut stop: watch::Receiver<bool>) {
    let Some(until) = until else { return };
    loop {
        if let Some(warning) = expiry_warning(until, SystemTime::now()) {
            tracing::warn!("{warning}");
        }
        if timeout(DAY, stopped(&mut stop)).await.is_ok() {
            return;
        }
    }
}
