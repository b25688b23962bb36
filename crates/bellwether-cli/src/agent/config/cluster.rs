//! What the configuration says about the cluster as a whole: enough to make certificates for it.

use std::path::{Path, PathBuf};

use bellwether::Peers;
use bellwether_proto::ident::NodeId;

use super::error::ConfigError;
use super::flags::Overrides;
use super::layers::{Environment, Settings};
use super::{given, peers};

/// The part of a configuration that is the same for all members. No certificate need exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterFile {
    pub(crate) cluster: String,
    /// All members; `None` if they are discovered.
    pub(crate) nodes: Option<Vec<NodeId>>,
    /// The path of the authority's certificate.
    pub(crate) ca: PathBuf,
}

impl ClusterFile {
    pub(crate) fn load(file: &Path, env: &Environment) -> Result<Self, ConfigError> {
        let mut settings = Settings::load(file, &Overrides::default(), env)?;
        let cluster = settings.need("cluster", given::cluster);
        let ca = settings.need_path("tls.ca", None);
        let nodes = peers::read(&mut settings, None).0.map(|peers| match peers {
            Peers::Listed(peers) => Some(peers.into_keys().collect()),
            Peers::Named(_) => None,
        });
        let read = cluster.zip(ca).zip(nodes);
        settings.finish(read).map(|((cluster, ca), nodes)| Self { cluster, nodes, ca })
    }
}
