//! Warns of a certificate that is about to expire, once a day.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::watch;
use tokio::time::sleep;

use super::dial::stopped;
use crate::tls::{DAY, TlsConfigs, expiry_warning};

/// Until the transport stops.
pub(super) async fn watch(mut tls: watch::Receiver<Arc<TlsConfigs>>, mut stop: watch::Receiver<bool>) {
    loop {
        let until = tls.borrow_and_update().until;
        if let Some(warning) = until.and_then(|until| expiry_warning(until, SystemTime::now())) {
            tracing::warn!("{warning}");
        }
        tokio::select! {
            () = stopped(&mut stop) => return,
            // An error means that the transport is gone.
            replaced = tls.changed() => if replaced.is_err() { return },
            () = sleep(DAY) => {}
        }
    }
}
