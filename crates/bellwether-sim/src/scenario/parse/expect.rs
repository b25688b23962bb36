//! `[expect]`.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::promise::Property;
use toml::Spanned;

use super::cluster::{Cluster, is_kind, named, unknown_kind, within};
use super::error::{Wrong, one_of};
use super::raw::RawExpect;
use super::values::{Limit, List, Whole};
use crate::scenario::{Bound, Expect};

/// What can be counted besides the kinds of messages.
const TOTALS: [&str; 3] = ["total", "protocol", "detector"];

impl Cluster {
    pub(super) fn expect(&self, raw: RawExpect) -> Result<Expect, Wrong> {
        let holds = properties(&raw.holds)?;
        let violates = properties(&raw.violates)?;
        let torn = violates.iter().zip(&raw.violates.0).find(|(property, _)| holds.contains(property));
        if let Some((property, item)) = torn {
            let message = format!("`{property}` is in `holds` as well, expected it in one of them");
            return Err(Wrong::at(item.span(), message));
        }
        Ok(Expect {
            leader: raw
                .leader
                .0
                .iter()
                .map(|entry| self.leader(entry))
                .collect::<Result<BTreeMap<_, _>, _>>()?,
            epoch: raw
                .epoch
                .0
                .iter()
                .map(|entry| self.epoch(entry))
                .collect::<Result<BTreeMap<_, _>, _>>()?,
            holds,
            violates,
            messages: raw.messages.0.into_iter().map(|entry| self.count(entry)).collect::<Result<_, _>>()?,
        })
    }

    fn leader(&self, (node, leader): &(Spanned<String>, Spanned<Whole>)) -> Result<(NodeId, NodeId), Wrong> {
        Ok((self.node_key(node)?, self.node(leader)?))
    }

    fn epoch(&self, (node, epoch): &(Spanned<String>, Spanned<Whole>)) -> Result<(NodeId, u64), Wrong> {
        Ok((self.node_key(node)?, within("epoch", epoch, 1..=u64::MAX)?))
    }

    fn count(&self, (name, limit): (Spanned<String>, Spanned<Limit>)) -> Result<(String, Bound), Wrong> {
        if !TOTALS.contains(&name.get_ref().as_str()) && !is_kind(name.get_ref()) {
            let known = [&TOTALS[..], &self.kind_names()].concat();
            return Err(unknown_kind(&name, &one_of(&known)));
        }
        Ok((name.into_inner(), limit.into_inner().0))
    }
}

fn properties(names: &List<String>) -> Result<Vec<Property>, Wrong> {
    let known = Property::ALL.map(Property::name);
    names.0.iter().map(|name| named("property", name, Property::by_name, &known)).collect()
}
