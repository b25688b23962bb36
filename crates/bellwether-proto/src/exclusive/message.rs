//! What voters, coordinators and agents say to each other.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize};

use super::configuration::Configuration;
use super::grant::{Accepted, Content, Grant, GrantKind, Holder, Name, Token};
use super::ident::{Age, Ballot, Lease, Life, Stamp, StoreId};
use super::membership::{MemberChange, Unchanged};
use crate::canonical::Form;
use crate::digest::fnv1a;
use crate::ident::{Incarnation, NodeId};
use crate::kind::Kind;
use crate::time::Span;

/// Messages of exclusive leadership.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ExclusiveMsg {
    /// To a voter.
    Ask(Asked),
    /// From a voter.
    Answer(Said),
    /// From an agent to the coordinator.
    Wish(Wish),
    /// From the coordinator to agents.
    Tell(Telling),
    /// Many of them in one frame. Only where there are many: a member of an earlier version does not know it.
    Many(Parcel),
    /// To a voter that has forgotten something. A member of an earlier version does not know it.
    Recall(Recall),
}

/// "You said that so many changes are kept in that store, and later that there are fewer."
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Recall {
    /// The store.
    pub store: StoreId,
    /// How many there were.
    pub commits: u64,
}

/// A question to a voter, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// Who asks.
    pub by: Life,
    /// What.
    pub ask: Ask,
}

/// What a voter is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ask {
    /// "Promise to take nothing of an earlier ballot."
    Prepare {
        /// The ballot.
        ballot: Ballot,
    },
    /// "What have you accepted of that name?" Whoever answers has promised the ballot.
    Read {
        /// The ballot.
        ballot: Ballot,
        /// The name.
        name: Name,
    },
    /// "Accept this."
    Write {
        /// The ballot, and which of its writes of that name it is.
        stamp: Stamp,
        /// The name.
        name: Name,
        /// What it shall hold.
        content: Content,
    },
    /// "Does the timer of that lease, or of an earlier one of its node, still run?"
    Runs {
        /// The lease.
        lease: Lease,
    },
    /// "That lease is to be dead for ever, and all earlier ones of its node."
    Bury {
        /// The lease.
        lease: Lease,
    },
    /// "I am still there."
    Renew {
        /// The lease.
        lease: Lease,
        /// Counts the renewals of that lease.
        no: u64,
        /// For how long.
        ttl: Span,
    },
    /// "Is my lease dead?" It starts no timer.
    IsDead {
        /// The lease.
        lease: Lease,
        /// Counts these questions.
        no: u64,
    },
    /// "Which names have you accepted after that one?" Whoever answers has promised the ballot.
    Names {
        /// The ballot.
        ballot: Ballot,
        /// From the first if there is none.
        after: Option<Name>,
    },
    /// "Which leases are dead, of nodes after that one?" Whoever answers has promised the ballot.
    Buried {
        /// The ballot.
        ballot: Ballot,
        /// From the first if there is none.
        after: Option<NodeId>,
    },
    /// "With which store would you vote, and what does it hold?" Whoever answers has promised the ballot.
    Store {
        /// The ballot.
        ballot: Ballot,
    },
    /// "What have you accepted of the names after that one?" Whoever answers has promised the ballot.
    Holdings {
        /// The ballot.
        ballot: Ballot,
        /// From the first if there is none.
        after: Option<Name>,
    },
    /// "What have you accepted of that name?" It promises nothing: whoever asks writes nothing.
    Peek {
        /// The name.
        name: Name,
        /// Counts these questions.
        no: u64,
    },
    /// "Forget that name: all voters know that it is deleted."
    Drop {
        /// A ballot after that of the deletion.
        ballot: Ballot,
        /// The name.
        name: Name,
        /// When the deletion was written.
        stamp: Stamp,
    },
}

/// What a voter says, and with which right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Said {
    /// The voter's store.
    pub store: StoreId,
    /// How many changes that store has kept.
    pub commits: u64,
    /// The newest configuration that the voter has accepted.
    pub configuration: Option<(Stamp, Configuration)>,
    /// The answer.
    pub answer: Answer,
}

/// An answer of a voter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// The ballot is promised, and none that is later.
    Promised {
        /// The ballot.
        ballot: Ballot,
    },
    /// A later ballot is promised.
    Outbid {
        /// The ballot that was asked for.
        ballot: Ballot,
        /// The one that is promised.
        promised: Ballot,
    },
    /// What was accepted of that name.
    Holds {
        /// The ballot that was asked for. It is promised.
        ballot: Ballot,
        /// The name.
        name: Name,
        /// The latest, if there is any.
        accepted: Option<Accepted>,
    },
    /// It is accepted.
    Wrote {
        /// Which write.
        stamp: Stamp,
        /// The name.
        name: Name,
    },
    /// The voter does not accept that configuration: its own list of voters is another, or names another store.
    Unacceptable {
        /// Which write.
        stamp: Stamp,
        /// What the voter would accept.
        why: Objection,
    },
    /// A timer runs.
    Runs {
        /// The lease.
        lease: Lease,
        /// For so long, by the voter's clock.
        left: Span,
    },
    /// No timer runs.
    Stopped {
        /// The lease.
        lease: Lease,
    },
    /// It is dead, and all earlier ones of its node.
    Buried {
        /// The lease.
        lease: Lease,
    },
    /// The timer runs anew.
    Renewed {
        /// The lease.
        lease: Lease,
        /// The renewal that is answered.
        no: u64,
    },
    /// The lease is not dead.
    Lives {
        /// The lease.
        lease: Lease,
        /// The question that is answered.
        no: u64,
    },
    /// The lease is dead: no renewal of it is answered any more.
    Dead {
        /// The lease.
        lease: Lease,
    },
    /// The voter knows another life of that node with this incarnation. Whoever asked must take a higher one.
    Outlived {
        /// The life that asked.
        life: Life,
        /// The incarnation that the voter knows.
        known: Incarnation,
    },
    /// Names that were accepted, in order.
    Names {
        /// The ballot that was asked for. It is promised.
        ballot: Ballot,
        /// After which name.
        after: Option<Name>,
        /// The next.
        #[serde(deserialize_with = "page")]
        names: Vec<Name>,
        /// Whether there are more.
        more: bool,
    },
    /// Leases that are dead, in the order of their nodes.
    TheBuried {
        /// The ballot that was asked for. It is promised.
        ballot: Ballot,
        /// After which node.
        after: Option<NodeId>,
        /// Up to which lease all of that node are dead.
        #[serde(deserialize_with = "page")]
        dead: Vec<(NodeId, Age)>,
        /// Whether there are more.
        more: bool,
    },
    /// What the store holds.
    Store {
        /// The ballot that was asked for. It is promised.
        ballot: Ballot,
        /// Whether it holds no name and no burial.
        empty: bool,
        /// The largest token in it.
        largest: Token,
    },
    /// What was accepted of names, in their order.
    Holdings {
        /// The ballot that was asked for. It is promised.
        ballot: Ballot,
        /// After which name.
        after: Option<Name>,
        /// The next.
        #[serde(deserialize_with = "page")]
        held: Vec<(Name, Accepted)>,
        /// Whether there are more.
        more: bool,
    },
    /// What was accepted of that name.
    Peeked {
        /// The name.
        name: Name,
        /// The question that is answered.
        no: u64,
        /// The latest, if there is any.
        accepted: Option<Accepted>,
    },
}

/// No more names, or nodes, are told at once.
pub const PAGE: usize = 64;

fn page<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    crate::bounded::list::<PAGE, D, T>(deserializer)
}

/// Why a voter does not accept a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Objection {
    /// Its own file lists other voters.
    OtherList,
    /// Its store is another than the one that is listed.
    OtherStore,
    /// The voters were rescued since.
    Rescued,
}

/// What an agent wants of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Wish {
    /// "I would hold that name." Repeated while it waits, and while it holds.
    Campaign {
        /// The name.
        name: Name,
        /// What makes the grant valid.
        kind: GrantKind,
        /// Which campaign of which session of which agent.
        holder: Holder,
        /// For how long it has waited: whoever has waited longest goes first.
        waited: Span,
        /// Higher goes first.
        priority: u32,
        /// Whether the lease is valid: of kind `lease` only such a campaign counts.
        valid: bool,
        /// The token that it knows to hold; `None` while it waits.
        holds: Option<Token>,
        /// What it would proclaim.
        #[serde(deserialize_with = "value")]
        value: Arc<[u8]>,
    },
    /// "I hold that name no more, or no longer want to."
    Release {
        /// The name.
        name: Name,
        /// The token, if it was told one.
        token: Option<Token>,
        /// Which campaign.
        holder: Holder,
        /// Who shall hold it next, if it campaigns.
        next: Option<NodeId>,
    },
    /// "The voters are to change." Repeated until it is told to be settled, or refused.
    Change {
        /// Who asks.
        by: Life,
        /// Tells what it asks for apart.
        no: u64,
        /// The configuration that it knew then: what has happened since may be what it asks for.
        since: u64,
        /// What is to change.
        change: MemberChange,
    },
    /// "I am there, and all that I have said of my sessions is this." Repeated instead of all of it.
    Present {
        /// The lease.
        lease: Lease,
        /// Whether it is valid.
        valid: bool,
        /// What sessions campaign for and hold, as a number that tells two such sets apart.
        digest: u64,
    },
    /// "What I held with that token in an earlier life is to go on with this campaign." After the campaign, and with it.
    Adopt {
        /// The name.
        name: Name,
        /// Which campaign.
        holder: Holder,
        /// What the same session of an earlier life of this node held.
        token: Token,
    },
    /// "I hold that name, and proclaim this."
    Proclaim {
        /// The name.
        name: Name,
        /// Which campaign.
        holder: Holder,
        /// Counts what it proclaims.
        edition: u64,
        /// What.
        #[serde(deserialize_with = "value")]
        value: Arc<[u8]>,
    },
    /// "That name is to be forgotten." Repeated until it is answered.
    Delete {
        /// Who asks.
        by: Life,
        /// Tells what it asks for apart.
        no: u64,
        /// The name.
        name: Name,
    },
    /// "See to it that what that name holds is decided." For one that found no majority that agrees.
    Settle {
        /// The name.
        name: Name,
    },
    /// "Which names are there after that one?" From one that does not know all.
    List {
        /// From the first if there is none.
        after: Option<Name>,
    },
}

/// What the coordinator tells agents. All of it is decided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Telling {
    /// Who holds that name.
    Held {
        /// The name.
        name: Name,
        /// When that was written.
        stamp: Stamp,
        /// Who holds it, with which token.
        grant: Arc<Grant>,
        /// How many others wait for it.
        waiting: u32,
    },
    /// Who votes.
    Members {
        /// When that was written.
        stamp: Stamp,
        /// The configuration in force.
        configuration: Configuration,
    },
    /// To whoever asked: the voters are not changed.
    Unchanged {
        /// Who asked.
        to: Life,
        /// What it asked for.
        no: u64,
        /// Why.
        why: Unchanged,
    },
    /// To whoever campaigns: so many go before it.
    Queued {
        /// The name.
        name: Name,
        /// Which campaign.
        holder: Holder,
        /// How many.
        before: u32,
    },
    /// To whoever campaigns: the name is of another kind, and the campaign does not count.
    Unfit {
        /// The name.
        name: Name,
        /// Which campaign.
        holder: Holder,
        /// The kind of the name.
        kind: GrantKind,
    },
    /// To whoever said that it is there: "Say all that you have said of your sessions again."
    Again {
        /// To whom.
        to: Life,
    },
    /// To an agent that holds a name for itself: sessions wait for it, and go before.
    Wanted {
        /// The name.
        name: Name,
        /// The token with which it is held.
        token: Token,
        /// Through which agent the first of them would hold it.
        by: NodeId,
    },
    /// To whoever asked for a name to be forgotten: it is, or why not.
    Deleted {
        /// Who asked.
        to: Life,
        /// What it asked for.
        no: u64,
        /// Whether it is.
        outcome: Result<(), Undeleted>,
    },
    /// To all: there is no such name any more.
    Gone {
        /// The name.
        name: Name,
        /// When that was written.
        stamp: Stamp,
    },
    /// To all: all names, as a number that tells two such sets apart.
    Census {
        /// The number.
        digest: u64,
    },
    /// To whoever asked: these are all names between those two. Each was told just before.
    Listed {
        /// After that one.
        after: Option<Name>,
        /// Up to that one; to the last if there is none.
        up_to: Option<Name>,
        /// The names.
        #[serde(deserialize_with = "page")]
        names: Vec<Name>,
    },
}

/// Why a name is not forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Undeleted {
    /// There is no such name.
    Unknown,
    /// Somebody holds it, or waits for it.
    InUse,
}

/// Many messages to one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Parcel {
    /// To its voter.
    #[serde(deserialize_with = "parcel")]
    pub asks: Vec<Asked>,
    /// From a voter.
    #[serde(deserialize_with = "parcel")]
    pub answers: Vec<Said>,
    /// To the coordinator.
    #[serde(deserialize_with = "parcel")]
    pub wishes: Vec<Wish>,
    /// From the coordinator.
    #[serde(deserialize_with = "parcel")]
    pub tellings: Vec<Telling>,
}

/// No more of a kind are in one parcel.
pub const PARCEL: usize = 128;

fn parcel<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    crate::bounded::list::<PARCEL, D, T>(deserializer)
}

fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    crate::bounded::list::<{ Grant::VALUE_MAX }, D, u8>(deserializer).map(Into::into)
}

impl Ask {
    /// How many bytes of a value it carries.
    pub(super) fn value_len(&self) -> usize {
        match self {
            Self::Write { content, .. } => content.value_len(),
            _ => 0,
        }
    }
}

impl Answer {
    /// How many bytes of names and values it carries.
    pub(super) fn value_len(&self) -> usize {
        let len = |accepted: &Option<Accepted>| {
            accepted.as_ref().map_or(0, |accepted| accepted.content.value_len())
        };
        match self {
            Self::Holds { accepted, .. } | Self::Peeked { accepted, .. } => len(accepted),
            Self::Holdings { held, .. } => {
                held.iter().map(|(name, held)| ENTRY + name.as_str().len() + held.content.value_len()).sum()
            }
            Self::Names { names, .. } => len_of(names),
            _ => 0,
        }
    }
}

impl Telling {
    /// How many bytes of names and values it carries.
    pub(super) fn value_len(&self) -> usize {
        match self {
            Self::Held { grant, .. } => grant.value.len(),
            Self::Listed { names, .. } => len_of(names),
            _ => 0,
        }
    }
}

/// What was accepted of a name takes no more beside the name and the value: a stamp, a token and a holder.
const ENTRY: usize = 192;

/// With how long each is.
fn len_of(names: &[Name]) -> usize {
    names.iter().map(|name| name.as_str().len() + 2).sum()
}

impl ExclusiveMsg {
    /// Its content as it is: no search reduces it. Votes have a search of their own.
    pub(crate) fn canonical(&self, form: &mut Form) {
        let bytes = postcard::to_extend(self, Vec::new()).unwrap_or_default();
        form.number(fnv1a(bytes));
    }

    /// Its kind, for counting.
    pub const fn kind(&self) -> Kind {
        KINDS[self.index()]
    }

    const fn index(&self) -> usize {
        match self {
            Self::Ask(Asked { ask, .. }) => match ask {
                Ask::Prepare { .. } => 0,
                Ask::Read { .. } => 1,
                Ask::Write { .. } => 2,
                Ask::Runs { .. } => 3,
                Ask::Bury { .. } => 4,
                Ask::Renew { .. } => 5,
                Ask::IsDead { .. } => 6,
                Ask::Names { .. } => 11,
                Ask::Buried { .. } => 12,
                Ask::Store { .. } => 13,
                Ask::Holdings { .. } => 17,
                Ask::Peek { .. } => 18,
                Ask::Drop { .. } => 19,
            },
            Self::Answer(_) => 7,
            Self::Wish(Wish::Campaign { .. }) => 8,
            Self::Wish(Wish::Release { .. }) => 9,
            Self::Tell(Telling::Held { .. }) => 10,
            Self::Wish(Wish::Change { .. }) => 14,
            Self::Tell(Telling::Members { .. }) => 15,
            Self::Tell(Telling::Unchanged { .. }) => 16,
            Self::Wish(Wish::Present { .. }) => 20,
            Self::Wish(Wish::Adopt { .. }) => 21,
            Self::Wish(Wish::Proclaim { .. }) => 22,
            Self::Wish(Wish::Delete { .. }) => 23,
            Self::Wish(Wish::Settle { .. }) => 24,
            Self::Wish(Wish::List { .. }) => 25,
            Self::Tell(Telling::Queued { .. }) => 26,
            Self::Tell(Telling::Unfit { .. }) => 27,
            Self::Tell(Telling::Again { .. }) => 28,
            Self::Tell(Telling::Wanted { .. }) => 29,
            Self::Tell(Telling::Deleted { .. }) => 30,
            Self::Tell(Telling::Gone { .. }) => 31,
            Self::Tell(Telling::Census { .. }) => 32,
            Self::Tell(Telling::Listed { .. }) => 33,
            Self::Many(_) => 34,
            Self::Recall(_) => 35,
        }
    }
}

/// Every kind of message of exclusive leadership.
pub const KINDS: &[Kind] = &[
    Kind::detector("Prepare"),
    Kind::detector("Read"),
    Kind::detector("Write"),
    Kind::detector("Runs?"),
    Kind::detector("Bury"),
    Kind::detector("Renew"),
    Kind::detector("Dead?"),
    Kind::detector("Voted"),
    Kind::detector("Campaign"),
    Kind::detector("Release"),
    Kind::detector("Held"),
    Kind::detector("Names?"),
    Kind::detector("Buried?"),
    Kind::detector("Store?"),
    Kind::detector("Change"),
    Kind::detector("Members"),
    Kind::detector("Unchanged"),
    Kind::detector("Holdings?"),
    Kind::detector("Peek"),
    Kind::detector("Drop"),
    Kind::detector("Present"),
    Kind::detector("Adopt"),
    Kind::detector("Proclaim"),
    Kind::detector("Delete"),
    Kind::detector("Settle"),
    Kind::detector("List"),
    Kind::detector("Queued"),
    Kind::detector("Unfit"),
    Kind::detector("Again"),
    Kind::detector("Wanted"),
    Kind::detector("Deleted"),
    Kind::detector("Gone"),
    Kind::detector("Census"),
    Kind::detector("Listed"),
    Kind::detector("Many"),
    Kind::detector("Recall"),
];
