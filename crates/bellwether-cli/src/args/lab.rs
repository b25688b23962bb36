//! The arguments of `lab`.

use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct LabArgs {
    /// Scenario files to choose from, beside the examples that are built in
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Serve the page at this address of this machine; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
}

/// Whoever can ask the laboratory can have this machine compute.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.parse().ok();
    address.filter(|address| address.ip().is_loopback()).ok_or_else(|| {
        "expected an address of this machine for itself and a port, such as 127.0.0.1:8080".to_owned()
    })
}
