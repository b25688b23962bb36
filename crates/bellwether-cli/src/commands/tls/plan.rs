//! Which files to write, given those that exist.

use std::fs;
use std::path::Path;

use bellwether::tls::{Authority, TlsError, Validity};
use bellwether_proto::ident::NodeId;

use crate::trouble::Trouble;

pub(super) const CA_CERT: &str = "ca.pem";
pub(super) const CA_KEY: &str = "ca.key";

pub(super) struct Plan {
    /// In the order in which to put them in place: should the machine stop in between, those that are there belong
    /// together.
    pub(super) files: Vec<NewFile>,
    /// The names of those that are there and stay.
    pub(super) kept: Vec<String>,
}

/// A file that is to be there.
pub(super) struct NewFile {
    pub(super) name: String,
    pub(super) content: String,
    pub(super) readers: Readers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    All,
    Owner,
}

impl Plan {
    /// An authority, unless there is one, and the certificates that are missing.
    pub(super) fn new(cluster: &str, nodes: &[NodeId], directory: &Path, days: u32) -> Result<Self, Trouble> {
        let mut plan = Self { files: Vec::new(), kept: Vec::new() };
        let authority = match both_there(directory, CA_CERT, CA_KEY)? {
            true => plan.keep_authority(cluster, directory)?,
            false => plan.new_authority(cluster, nodes, directory, days)?,
        };
        for node in nodes {
            let (cert, key) = node_files(*node);
            if both_there(directory, &cert, &key)? {
                plan.kept.extend([cert, key]);
            } else {
                let identity = authority.issue(*node, Validity::days(days)).map_err(unusable)?;
                plan.add(key, identity.key, Readers::Owner);
                plan.add(cert, identity.cert, Readers::All);
            }
        }
        Ok(plan)
    }

    fn keep_authority(&mut self, cluster: &str, directory: &Path) -> Result<Authority, Trouble> {
        let read = |name| {
            let path = directory.join(name);
            fs::read_to_string(&path)
                .map_err(|error| Trouble::failed(format!("cannot read {}: {error}", path.display())))
        };
        let authority = Authority::from_pem(cluster, &read(CA_CERT)?, &read(CA_KEY)?).map_err(|error| {
            let there = directory.join(CA_CERT);
            Trouble::wrong(format!("the authority in {} cannot go on: {error}", there.display()))
        })?;
        self.kept.extend([CA_CERT.to_owned(), CA_KEY.to_owned()]);
        Ok(authority)
    }

    /// A new authority does not vouch for certificates that are there already, so there must be none.
    fn new_authority(
        &mut self,
        cluster: &str,
        nodes: &[NodeId],
        directory: &Path,
        days: u32,
    ) -> Result<Authority, Trouble> {
        let names = nodes.iter().flat_map(|node| <[String; 2]>::from(node_files(*node)));
        let there: Vec<_> = names.map(|name| directory.join(name)).filter(|path| is_there(path)).collect();
        if let [first, ..] = &there[..] {
            return Err(Trouble::wrong(format!(
                "{} is there ({} in all), but no authority that could have issued it: expected {CA_CERT} and {CA_KEY} beside \
                 it, or another directory",
                first.display(),
                there.len()
            )));
        }
        let authority = Authority::create(cluster, Validity::days(days)).map_err(unusable)?;
        self.add(CA_KEY.to_owned(), authority.key_pem(), Readers::Owner);
        self.add(CA_CERT.to_owned(), authority.cert_pem().to_owned(), Readers::All);
        Ok(authority)
    }

    fn add(&mut self, name: String, content: String, readers: Readers) {
        self.files.push(NewFile { name, content, readers });
    }
}

/// A member's certificate and its key.
fn node_files(node: NodeId) -> (String, String) {
    (format!("node-{node}.pem"), format!("node-{node}.key"))
}

/// Whether a certificate and its key are there. One without the other is of no use, and not ours to replace.
fn both_there(directory: &Path, cert: &str, key: &str) -> Result<bool, Trouble> {
    let half = |there: &str, missing: &str| {
        let there = directory.join(there);
        Err(Trouble::wrong(format!(
            "{} is there without {missing}, expected both or neither",
            there.display()
        )))
    };
    match (is_there(&directory.join(cert)), is_there(&directory.join(key))) {
        (true, true) => Ok(true),
        (false, false) => Ok(false),
        (true, false) => half(cert, key),
        (false, true) => half(key, cert),
    }
}

/// Whatever is there, a dangling link too, is not to be replaced.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn unusable(error: TlsError) -> Trouble {
    Trouble::failed(error.to_string())
}
