//! What Φ, Ψ and Ω have in common (Franceschetti and Bruck 1998, section 3).
//!
//! A node that loses a link proposes itself as leader to all nodes that it is linked with, if none of them is lighter: once
//! for each node that it misses (cand_down), and in Ψ and Ω for each that has come back (cand_up). A node that agrees about
//! that change, and knows nobody lighter than the candidate, accepts. A candidate leads when all have accepted all its
//! proposals: then all of them see the same network. Until then nothing changes.
//!
//! ```text
//!   3 is cut off                1 ──cand_down(3)──► 2, 4        its links went down at 1 …
//!                               1 ◄─accept_down(3)── 2, 4       … and when they have gone down at 2 and 4
//!                               1 ──view {1, 2, 4}──► 2, 4      repaired: they install it and forget what was said
//!   3 has no link left: dead, until somebody admits it (Ψ, Ω)
//! ```
//!
//! The rules are read as conditions, not as events (E-FB2): whenever anything changes, rules are applied until none applies.
//! `printed.rs` has them as the paper prints them; `repaired.rs` with views, which is ours.

pub(super) mod printed;
pub(super) mod repaired;
#[cfg(test)]
pub(super) mod rig;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use self::printed::Printed;
use self::repaired::Repaired;
use super::{Actions, Input, Setup, Variant};
use crate::canonical::Form;
use crate::ident::{ElectionId, GroupId, Incarnation, NodeId};
use crate::kind::{Kind, Message};
use crate::members::Members;
use crate::opinion::Opinion;
use crate::promise::{Promise, Property};
use crate::time::Time;

/// Which of the protocols, each of which goes beyond the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Nodes fail.
    Phi,
    /// And come back.
    Psi,
    /// And some only seem to.
    Omega,
}

/// What happened to a node, by the sender's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Change {
    /// Its link went down.
    Down,
    /// Its link came up.
    Up,
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct About {
    /// The view in which it is proposed; printed messages do not look at it.
    pub view: GroupId,
    /// What happened,
    pub change: Change,
    /// to which node.
    pub node: NodeId,
}

/// The messages of Φ, Ψ and Ω.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// cand(j): "j has failed (or is back), and I propose to lead."
    Cand(About),
    /// accept(j): "So I see it, too, and you may."
    Accept(About),
    /// cancel(j): "I was wrong about j."
    Cancel(About),
    /// Repaired: "This is the next view, and I lead it." In a box: it is rare and large, and every frame would have to be as
    /// large.
    View(Box<NextView>),
}

/// A view that its leader makes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextView {
    /// The new view.
    pub id: GroupId,
    /// The one that it follows.
    pub parent: GroupId,
    /// Who is in it.
    pub members: Members,
}

/// What Φ and Ψ promise as repaired; Ω promises more.
pub(super) const REPAIRED: &[Promise] = &[
    Promise { property: Property::ViewAgree, under: &[] },
    Promise { property: Property::OneLeaderPerView, under: &[] },
    Promise { property: Property::OneViewOrDead, under: &[] },
];

/// "Led by a unique leader" at any given instant (section 1).
pub(super) const PRINTED: &[Promise] = &[Promise { property: Property::Sle1, under: &[] }];

pub(super) const CAND_DOWN: Kind = Kind::protocol("cand_down");
pub(super) const CAND_UP: Kind = Kind::protocol("cand_up");
pub(super) const ACCEPT_DOWN: Kind = Kind::protocol("accept_down");
pub(super) const ACCEPT_UP: Kind = Kind::protocol("accept_up");
pub(super) const CANCEL_DOWN: Kind = Kind::protocol("cancel_down");
pub(super) const CANCEL_UP: Kind = Kind::protocol("cancel_up");
pub(super) const VIEW: Kind = Kind::protocol("view");

impl Message for Msg {
    fn kind(&self) -> Kind {
        let one = |about: &About, down: Kind, up: Kind| match about.change {
            Change::Down => down,
            Change::Up => up,
        };
        match self {
            Self::Cand(about) => one(about, CAND_DOWN, CAND_UP),
            Self::Accept(about) => one(about, ACCEPT_DOWN, ACCEPT_UP),
            Self::Cancel(about) => one(about, CANCEL_DOWN, CANCEL_UP),
            Self::View(_) => VIEW,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        match self {
            Self::Cand(about) | Self::Accept(about) | Self::Cancel(about) => {
                form.view(about.view);
                form.node(about.node);
            }
            Self::View(next) => {
                form.view(next.id);
                form.view(next.parent);
                members_form(next.members, form);
            }
        }
    }

    fn largest_counter(&self) -> u64 {
        match self {
            Self::Cand(about) | Self::Accept(about) | Self::Cancel(about) => about.view.0.seq,
            Self::View(next) => next.id.0.seq,
        }
    }
}

/// One of the protocols, in one of its variants.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    Printed(Printed),
    Repaired(Repaired),
}

impl Engine {
    pub(super) fn new(level: Level, setup: Setup) -> Self {
        assert!(setup.roster.size() <= Members::MAX, "views name at most {} members", Members::MAX);
        match setup.variant {
            Variant::Printed => Self::Printed(Printed::new(level, setup)),
            Variant::Repaired => Self::Repaired(Repaired::new(level, setup)),
        }
    }

    pub(super) fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        match self {
            Self::Printed(engine) => engine.handle(now, input, out),
            Self::Repaired(engine) => engine.handle(now, input, out),
        }
    }

    pub(super) fn deadline(&self) -> Time {
        match self {
            Self::Printed(engine) => engine.deadline(),
            Self::Repaired(engine) => engine.deadline(),
        }
    }

    pub(super) fn opinion(&self) -> Opinion {
        match self {
            Self::Printed(engine) => engine.opinion(),
            Self::Repaired(engine) => engine.opinion(),
        }
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        match self {
            Self::Printed(engine) => engine.canonical(now, form),
            Self::Repaired(engine) => engine.canonical(now, form),
        }
    }

    pub(super) fn breach(&self, before: &Self) -> Option<&'static str> {
        match (self, before) {
            (Self::Repaired(after), Self::Repaired(before)) => after.breach(before),
            _ => None,
        }
    }
}

/// A message that was sent or received: what happened, to which node, and the other end. Nodes are given by
/// rank.
type Said = (Change, usize, usize);

/// The view of all members, led by the lightest, in which everybody is at first.
pub(super) fn first_view(lightest: NodeId) -> ElectionId {
    ElectionId { node: lightest, incarnation: Incarnation(0), seq: 0 }
}

fn said_form(said: &BTreeSet<Said>, form: &mut Form) {
    form.number(said.len() as u64);
    for (change, about, peer) in said {
        form.number(*change as u64);
        form.number(*about as u64);
        form.number(*peer as u64);
    }
}

fn members_form(Members(bits): Members, form: &mut Form) {
    form.number(bits as u64);
    form.number((bits >> 64) as u64);
}

/// An algorithm that is one level of the [`Engine`].
macro_rules! at_level {
    ($name:ident, $level:ident) => {
        /// The algorithm's state at one node.
        #[derive(Clone, Debug)]
        pub struct $name($crate::election::franceschetti::Engine);

        impl $crate::election::Election for $name {
            type Msg = $crate::election::franceschetti::Msg;

            fn new(setup: $crate::election::Setup, _tau_fd: $crate::time::Span) -> Self {
                use $crate::election::franceschetti::{Engine, Level};
                Self(Engine::new(Level::$level, setup))
            }

            fn handle(
                &mut self,
                now: $crate::time::Time,
                input: $crate::election::Input<Self::Msg>,
                out: &mut $crate::election::Actions<Self::Msg>,
            ) {
                self.0.handle(now, input, out);
            }

            fn deadline(&self) -> $crate::time::Time {
                self.0.deadline()
            }

            fn opinion(&self) -> $crate::opinion::Opinion {
                self.0.opinion()
            }

            fn canonical(&self, now: $crate::time::Time, form: &mut $crate::canonical::Form) {
                self.0.canonical(now, form);
            }

            fn breach(&self, before: &Self) -> Option<&'static str> {
                self.0.breach(&before.0)
            }
        }
    };
}
pub(super) use at_level;
