//! `[expect]`.

use std::collections::BTreeSet;

use bellwether_proto::group::OpId;
use bellwether_proto::ident::{GroupId, NoGroup, NodeId};
use bellwether_proto::promise::Property;
use bellwether_toml::{Spanned, Wrong, one_of};

use super::cluster::{Cluster, is_kind, named, unknown_kind, within};
use super::raw::RawExpect;
use super::values::{Limit, List, Whole};
use crate::operations::Outcome;
use crate::scenario::{Bound, Expect, Planned, asked_for};

/// What can be counted besides the kinds of messages.
const TOTALS: [&str; 3] = ["total", "protocol", "detector"];

impl Cluster {
    /// What is expected of a run with these events.
    pub(super) fn expect(&self, raw: RawExpect, events: &[Planned]) -> Result<Expect, Wrong> {
        let asked = asked_for(events);
        let holds = properties(&raw.holds)?;
        let violates = properties(&raw.violates)?;
        let torn = violates.iter().zip(&raw.violates.0).find(|(property, _)| holds.contains(property));
        if let Some((property, item)) = torn {
            let message = format!("`{property}` is in `holds` as well, expected it in one of them");
            return Err(Wrong::at(item.span(), message));
        }
        Ok(Expect {
            leader: raw.leader.0.iter().map(|entry| self.leader(entry)).collect::<Result<_, _>>()?,
            group: raw.group.0.iter().map(|entry| self.group(entry)).collect::<Result<_, _>>()?,
            epoch: raw.epoch.0.iter().map(|entry| self.epoch(entry)).collect::<Result<_, _>>()?,
            outcome: raw.outcome.0.iter().map(|entry| operation(entry, &asked)).collect::<Result<_, _>>()?,
            holds,
            violates,
            messages: raw.messages.0.into_iter().map(|entry| self.count(entry)).collect::<Result<_, _>>()?,
        })
    }

    fn leader(&self, (node, leader): &(Spanned<String>, Spanned<Whole>)) -> Result<(NodeId, NodeId), Wrong> {
        Ok((self.node_key(node)?, self.node(leader)?))
    }

    fn group(&self, (node, group): &(Spanned<String>, Spanned<String>)) -> Result<(NodeId, GroupId), Wrong> {
        let wrong = |error: NoGroup| Wrong::at(group.span(), error.to_string());
        Ok((self.node_key(node)?, group.get_ref().parse().map_err(wrong)?))
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

/// An operation as a key, one that is asked for, and what is to become of it.
fn operation(
    (op, outcome): &(Spanned<String>, Spanned<String>),
    asked: &BTreeSet<OpId>,
) -> Result<(OpId, Outcome), Wrong> {
    let Some(number) = asked.iter().find(|asked| asked.to_string() == *op.get_ref()) else {
        let asked = asked.iter().map(OpId::to_string).collect::<Vec<_>>();
        let expected = match &asked[..] {
            [] => "expected an event with `perform`".to_owned(),
            asked => format!("expected {}", one_of(&asked.iter().map(String::as_str).collect::<Vec<_>>())),
        };
        let message = format!("no event asks for operation {}, {expected}", op.get_ref());
        return Err(Wrong::at(op.span(), message));
    };
    let names = Outcome::ALL.map(Outcome::name);
    Ok((*number, named("outcome", outcome, Outcome::by_name, &names)?))
}

fn properties(names: &List<String>) -> Result<Vec<Property>, Wrong> {
    let known = Property::ALL.map(Property::name);
    names.0.iter().map(|name| named("property", name, Property::by_name, &known)).collect()
}
