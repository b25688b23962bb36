//! The directory in which an authority has its files.

use std::fs;
use std::path::{Path, PathBuf};

use bellwether::tls::{Authority, TlsError};
use bellwether_proto::ident::NodeId;

use crate::agent::config::{ClusterFile, Environment};
use crate::args::tls::PlaceArgs;
use crate::trouble::Trouble;

pub(super) const CA_CERT: &str = "ca.pem";
pub(super) const CA_KEY: &str = "ca.key";
/// The key of the authority before.
pub(super) const CA_OLD_KEY: &str = "ca-old.key";
pub(super) const REVOKED: &str = "crl.pem";

/// A cluster, and the directory.
pub(super) struct Place {
    pub(super) cluster: ClusterFile,
    pub(super) directory: PathBuf,
    /// The configuration, for messages.
    file: String,
}

impl Place {
    pub(super) fn of(args: &PlaceArgs) -> Result<Self, Trouble> {
        Self::new(&args.config, args.out.as_deref())
    }

    pub(super) fn new(config: &Path, out: Option<&Path>) -> Result<Self, Trouble> {
        let cluster = ClusterFile::load(config, &Environment::of_process())
            .map_err(|error| Trouble { status: error.status(), what: error.problems().join("\nerror: ") })?;
        let directory = out.map_or_else(|| directory_of(&cluster.ca), Path::to_owned);
        Ok(Self { cluster, directory, file: config.display().to_string() })
    }

    /// The members: those that are listed, or those that are given.
    pub(super) fn members(&self, given: &[u32]) -> Result<Vec<NodeId>, Trouble> {
        match (&self.cluster.nodes, given) {
            (Some(listed), []) => Ok(listed.clone()),
            (Some(_), _) => Err(Trouble::wrong(format!(
                "--nodes is for [discovery], but {} lists its members as [[peer]]",
                self.file
            ))),
            (None, []) => Err(Trouble::wrong(format!(
                "{} does not list its members, expected --nodes such as --nodes 1,2,3",
                self.file
            ))),
            (None, ids) => Ok(unique(ids)),
        }
    }

    /// The same, but some of those that are listed may be given, too.
    pub(super) fn some_members(&self, given: &[u32]) -> Result<Vec<NodeId>, Trouble> {
        let Some(listed) = self.cluster.nodes.as_ref().filter(|_| !given.is_empty()) else {
            return self.members(given);
        };
        let given = unique(given);
        match given.iter().find(|id| !listed.contains(id)) {
            Some(stranger) => Err(Trouble::wrong(format!("{} does not list node {stranger}", self.file))),
            None => Ok(given),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The text of a file that must be there.
    pub(super) fn read(&self, name: &str) -> Result<String, Trouble> {
        read(&self.path(name))
    }

    /// The text of a file, if it is there.
    pub(super) fn read_if_there(&self, name: &str) -> Result<Option<String>, Trouble> {
        if is_there(&self.path(name)) { self.read(name).map(Some) } else { Ok(None) }
    }

    /// The authority, which must be there.
    pub(super) fn authority(&self) -> Result<Authority, Trouble> {
        let (cert, key) = (self.read(CA_CERT)?, self.read(CA_KEY)?);
        Authority::from_pem(&self.cluster.cluster, &cert, &key).map_err(|error| {
            let there = self.path(CA_CERT);
            Trouble::wrong(format!("the authority in {} cannot go on: {error}", there.display()))
        })
    }

    /// That file cannot be used.
    pub(super) fn wrong(&self, name: &str, error: &TlsError) -> Trouble {
        Trouble::wrong(format!("{}: {error}", self.path(name).display()))
    }
}

pub(super) fn read(path: &Path) -> Result<String, Trouble> {
    fs::read_to_string(path)
        .map_err(|error| Trouble::failed(format!("cannot read {}: {error}", path.display())))
}

/// A member's certificate and its key.
pub(super) fn node_files(node: NodeId) -> (String, String) {
    (format!("node-{node}.pem"), format!("node-{node}.key"))
}

/// Whatever is there, a dangling link too, is not to be taken for missing.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn unique(ids: &[u32]) -> Vec<NodeId> {
    let mut ids: Vec<_> = ids.iter().copied().map(NodeId).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}
