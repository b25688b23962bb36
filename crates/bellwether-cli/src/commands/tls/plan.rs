//! Which files to write, given those that exist.

use std::path::Path;

use bellwether::tls::{Authority, TlsError, Validity};
use bellwether_proto::ident::NodeId;

use super::place::{CA_CERT, CA_KEY, Place, is_there, node_files};
use crate::trouble::Trouble;

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
    pub(super) fn new(
        place: &Place,
        nodes: &[NodeId],
        days: u32,
        authority_days: u32,
    ) -> Result<Self, Trouble> {
        let mut plan = Self { files: Vec::new(), kept: Vec::new() };
        let directory = &place.directory;
        let authority = if both_there(directory, CA_CERT, CA_KEY)? {
            let authority = place.authority()?;
            plan.kept.extend([CA_CERT.to_owned(), CA_KEY.to_owned()]);
            authority
        } else {
            plan.new_authority(&place.cluster.cluster, nodes, directory, authority_days)?
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

pub(super) fn unusable(error: TlsError) -> Trouble {
    Trouble::failed(error.to_string())
}
