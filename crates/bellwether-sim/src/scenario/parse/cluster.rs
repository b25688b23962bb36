//! What values mean in a cluster of a given size: nodes, pairs, kinds, times.

use std::fmt::Display;
use std::ops::RangeInclusive;

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::Kind;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::kinds;
use bellwether_toml::{Spanned, Wrong, nearest, one_of, unknown};

use super::values::{Duration, List, Whole};

/// What the rest of the file is read against.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) protocol: Protocol,
    pub(super) nodes: u32,
    pub(super) until: Time,
    /// Whether nodes are run as an agent runs them.
    pub(super) agent: bool,
}

impl Cluster {
    /// A node that exists.
    pub(super) fn node(&self, given: &Spanned<Whole>) -> Result<NodeId, Wrong> {
        let id = u32::try_from(given.get_ref().0).ok().filter(|id| (1..=self.nodes).contains(id));
        id.map(NodeId).ok_or_else(|| Wrong::at(given.span(), self.no_such_node(given.get_ref().0)))
    }

    /// A node as the key of a table. One way of writing it, so that no node stands there twice.
    pub(super) fn node_key(&self, given: &Spanned<String>) -> Result<NodeId, Wrong> {
        let id: Option<u32> = given.get_ref().parse().ok();
        id.filter(|id| (1..=self.nodes).contains(id) && id.to_string() == *given.get_ref())
            .map(NodeId)
            .ok_or_else(|| Wrong::at(given.span(), self.no_such_node(given.get_ref())))
    }

    /// A list of at least one node.
    pub(super) fn nodes(&self, given: &Spanned<List<Whole>>) -> Result<Vec<NodeId>, Wrong> {
        let nodes = &given.get_ref().0;
        if nodes.is_empty() {
            return Err(Wrong::at(given.span(), "found an empty list, expected at least one node"));
        }
        nodes.iter().map(|node| self.node(node)).collect()
    }

    /// A list of at least one pair.
    pub(super) fn pairs(&self, given: &Spanned<List<List<Whole>>>) -> Result<Vec<(NodeId, NodeId)>, Wrong> {
        let pairs = &given.get_ref().0;
        if pairs.is_empty() {
            return Err(Wrong::at(given.span(), "found an empty list, expected at least one pair of nodes"));
        }
        pairs.iter().map(|pair| self.pair(pair)).collect()
    }

    fn pair(&self, given: &Spanned<List<Whole>>) -> Result<(NodeId, NodeId), Wrong> {
        match &given.get_ref().0[..] {
            [one, other] => self.link(one, other),
            nodes => {
                let found = nodes.len();
                Err(Wrong::at(
                    given.span(),
                    format!("found a list of {found}, expected a pair of nodes such as [1, 2]"),
                ))
            }
        }
    }

    /// The two ends of a link.
    pub(super) fn link(&self, from: &Spanned<Whole>, to: &Spanned<Whole>) -> Result<(NodeId, NodeId), Wrong> {
        let ends = (self.node(from)?, self.node(to)?);
        if ends.0 == ends.1 {
            let message = format!("a link from node {} to itself, expected two different nodes", ends.0);
            return Err(Wrong::at(to.span(), message));
        }
        Ok(ends)
    }

    /// The name of a kind of message, of any protocol: a file may be run with another than it names.
    pub(super) fn kind(&self, given: &Spanned<String>) -> Result<String, Wrong> {
        if is_kind(given.get_ref()) {
            return Ok(given.get_ref().clone());
        }
        let expected = format!("{} of {}", one_of(&self.kind_names()), self.protocol.name());
        Err(unknown_kind(given, &expected))
    }

    /// The kinds of messages of the file's protocol.
    pub(super) fn kind_names(&self) -> Vec<&'static str> {
        self.protocol.spec().kinds.iter().map(|kind| kind.name()).collect()
    }

    fn no_such_node(&self, found: impl Display) -> String {
        match self.nodes {
            1 => format!("there is no node {found}, expected node 1, the only one"),
            nodes => format!("there is no node {found}, expected one from 1 to {nodes}"),
        }
    }
}

/// A number within its range.
pub(crate) fn within<N>(key: &str, given: &Spanned<Whole>, range: RangeInclusive<N>) -> Result<N, Wrong>
where
    N: TryFrom<i128> + PartialOrd + Display,
{
    let number = N::try_from(given.get_ref().0).ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let message = format!(
            "`{key}` is {}, expected a whole number from {} to {}",
            given.get_ref().0,
            range.start(),
            range.end()
        );
        Wrong::at(given.span(), message)
    })
}

/// A time that is not zero.
pub(crate) fn positive(key: &str, given: &Spanned<Duration>) -> Result<Span, Wrong> {
    match given.get_ref().0 {
        Span::ZERO => {
            Err(Wrong::at(given.span(), format!("`{key}` is zero, expected a longer time such as \"10ms\"")))
        }
        span => Ok(span),
    }
}

/// Something that has a name.
pub(crate) fn named<T>(
    what: &str,
    given: &Spanned<String>,
    by_name: impl Fn(&str) -> Option<T>,
    names: &[&str],
) -> Result<T, Wrong> {
    by_name(given.get_ref()).ok_or_else(|| Wrong::at(given.span(), unknown(what, given.get_ref(), names)))
}

/// What to say of a kind of message that there is not, where these were expected.
pub(crate) fn unknown_kind(given: &Spanned<String>, expected: &str) -> Wrong {
    let name = given.get_ref();
    let message = match nearest(name, &kinds().map(Kind::name).collect::<Vec<_>>()) {
        Some(near) => format!("unknown kind of message `{name}`, did you mean `{near}`?"),
        None => {
            format!("unknown kind of message `{name}`, expected {expected}, or one of a failure detector")
        }
    };
    Wrong::at(given.span(), message)
}

/// Whether a kind of that name exists, in any protocol or below it.
pub(crate) fn is_kind(name: &str) -> bool {
    kinds().any(|known| known.name() == name)
}
