//! The bytes of the state file.

use std::sync::Arc;

use bellwether_proto::group::Kept;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::io::Durable;

use super::Fault;

/// The version that this build writes.
pub(super) const VERSION: u32 = 2;

/// The oldest that it still reads: without what the group layer keeps.
pub(super) const OLDEST: u32 = 1;

/// No state file is longer.
pub(super) const LEN_MAX: usize = 1024 + Kept::LEN_MAX;

const MAGIC: &[u8; 8] = b"BWSTATE\0";
const HEADER: usize = MAGIC.len() + 4 + 4;
const CHECKSUM: usize = 4;

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) cluster: String,
    pub(super) id: NodeId,
}

pub(super) fn encode(owner: &Owner, kept: &Durable) -> Vec<u8> {
    let mut payload = Vec::new();
    // Cluster names are short; a longer one would have been refused before anything was opened.
    payload.extend((owner.cluster.len() as u32).to_le_bytes());
    payload.extend(owner.cluster.as_bytes());
    payload.extend(owner.id.0.to_le_bytes());
    for number in [kept.incarnation.0, kept.count, kept.epoch] {
        payload.extend(number.to_le_bytes());
    }
    let group = kept.group.as_ref().map(|kept| kept.to_bytes()).unwrap_or_default();
    payload.extend((group.len() as u32).to_le_bytes());
    payload.extend(group);
    seal(VERSION, &payload)
}

/// The envelope that all versions share.
pub(super) fn seal(version: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

pub(super) fn decode(owner: &Owner, bytes: &[u8]) -> Result<Durable, Fault> {
    let (version, payload) = open(bytes)?;
    if version > VERSION {
        return Err(Fault::Newer { found: version });
    }
    if version < OLDEST {
        return Err(Fault::Older { found: version });
    }
    let (found, kept) = read(version, payload).ok_or(Fault::Torn { what: "its fields do not fill it" })?;
    if found.cluster != owner.cluster {
        return Err(Fault::OtherCluster { found: found.cluster });
    }
    if found.id != owner.id {
        return Err(Fault::OtherNode { found: found.id });
    }
    Ok(kept)
}

/// The version and the payload, if all bytes are those that were written.
fn open(bytes: &[u8]) -> Result<(u32, &[u8]), Fault> {
    let len = bytes.len();
    let shown = len.min(MAGIC.len());
    if bytes[..shown] != MAGIC[..shown] {
        return Err(Fault::Foreign);
    }
    let mut rest = Fields(bytes.get(MAGIC.len()..).unwrap_or_default());
    let (Some(version), Some(length)) = (rest.u32(), rest.u32()) else {
        return Err(Fault::Truncated { len });
    };
    let whole = HEADER.saturating_add(length as usize).saturating_add(CHECKSUM);
    if len < whole {
        return Err(Fault::Truncated { len });
    }
    if len > whole {
        return Err(Fault::Torn { what: "it goes on after its end" });
    }
    let (content, checksum) = bytes.split_at(len - CHECKSUM);
    if crc32fast::hash(content).to_le_bytes() != checksum {
        return Err(Fault::Torn { what: "its checksum is wrong" });
    }
    Ok((version, &content[HEADER..]))
}

fn read(version: u32, payload: &[u8]) -> Option<(Owner, Durable)> {
    let mut fields = Fields(payload);
    let len = fields.u32()? as usize;
    let cluster = String::from_utf8(fields.take(len)?.to_vec()).ok()?;
    let owner = Owner { cluster, id: NodeId(fields.u32()?) };
    let (incarnation, count, epoch) = (Incarnation(fields.u64()?), fields.u64()?, fields.u64()?);
    let group = if version == OLDEST { None } else { fields.group()? };
    let kept = Durable { incarnation, count, epoch, group };
    (fields.0.is_empty() && kept.incarnation <= Incarnation::MAX).then_some((owner, kept))
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field)
    }

    /// What the group layer keeps, if it keeps anything.
    fn group(&mut self) -> Option<Option<Arc<Kept>>> {
        let len = self.u32()? as usize;
        match self.take(len)? {
            [] => Some(None),
            bytes => Kept::from_bytes(bytes).map(|kept| Some(Arc::new(kept))),
        }
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}
