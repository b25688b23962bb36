//! The names that certificates carry.

use bellwether_proto::ident::NodeId;

/// No cluster's name is longer. A label of a DNS name has at most 63 characters.
const CLUSTER_NAME_MAX: usize = 40;

/// A name that no cluster can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cluster's name {name:?} {fault}; it may have 1 to {CLUSTER_NAME_MAX} of a-z, 0-9 and -")]
pub struct ClusterNameError {
    name: String,
    fault: &'static str,
}

/// Whether a cluster can have that name: it becomes part of the names in certificates.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_cluster_name(name: &str) -> Result<(), ClusterNameError> {
    let fault = if name.is_empty() {
        "is empty"
    } else if name.chars().count() > CLUSTER_NAME_MAX {
        "is longer than 40 characters"
    } else if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        "has characters other than a-z, 0-9 and -"
    } else if name.starts_with('-') || name.ends_with('-') {
        "begins or ends with -"
    } else {
        return Ok(());
    };
    Err(ClusterNameError { name: name.to_owned(), fault })
}

/// The name that all members' certificates carry.
pub(crate) fn cluster_dns_name(cluster: &str) -> String {
    format!("{cluster}.bellwether.internal")
}

/// The member that a name in a certificate is about.
pub(super) fn id_in_dns_name(cluster: &str, name: &str) -> Option<NodeId> {
    let (node, cluster_name) = name.split_once('.')?;
    let id = NodeId(node.strip_prefix("node-")?.parse().ok()?);
    // Only what would have been issued: no signs, no leading zeros.
    (cluster_name == cluster_dns_name(cluster) && name == node_dns_name(cluster, id)).then_some(id)
}

/// The name that one member's certificate carries.
pub(super) fn node_dns_name(cluster: &str, id: NodeId) -> String {
    format!("node-{id}.{}", cluster_dns_name(cluster))
}
