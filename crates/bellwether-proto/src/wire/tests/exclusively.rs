//! Messages of exclusive leadership, at least one of each.

use alloc::sync::Arc;

use super::*;
use crate::exclusive::configuration::{Address, Configuration};
use crate::exclusive::grant::{Accepted, Content, Grant, GrantKind, Holder, Name, Token};
use crate::exclusive::ident::{Ballot, Lease, Life, LifeId, Stamp, StoreId};
use crate::exclusive::membership::{MemberChange, Unchanged};
use crate::exclusive::message::{
    Answer, Ask, Asked, ExclusiveMsg, Objection, Parcel, Recall, Said, Telling, Undeleted, Wish,
};

pub(super) fn asked_and_said() -> Vec<Body<AnyMsg>> {
    let by = LIFE;
    let asks = asks().into_iter().map(|ask| ExclusiveMsg::Ask(Asked { by, ask }));
    let answers = answers().into_iter().enumerate().map(|(no, answer)| {
        let configuration = (no % 2 == 0).then(|| (STAMP, configuration()));
        ExclusiveMsg::Answer(Said { store: StoreId(7), commits: 300, configuration, answer })
    });
    let wishes = wishes().into_iter().map(ExclusiveMsg::Wish);
    let (name, grant) = (Name::leader(), grant(Some(holder())));
    let held = ExclusiveMsg::Tell(Telling::Held { name, stamp: STAMP, grant: grant.into(), waiting: 2 });
    let members = Telling::Members { stamp: STAMP, configuration: configuration().settled() };
    let unchanged =
        Telling::Unchanged { to: LIFE, no: 3, why: Unchanged::NoMajority { reachable: 1, needed: 2 } };
    let told = [members, unchanged].map(ExclusiveMsg::Tell);
    let told = told.into_iter().chain(tellings().into_iter().map(ExclusiveMsg::Tell));
    let recall = ExclusiveMsg::Recall(Recall { store: StoreId(7), commits: 300 });
    let all = asks.chain(answers).chain(wishes).chain([held]).chain(told).chain([parcel(), recall]);
    all.map(|msg| Body::Exclusive(Box::new(msg))).collect()
}

const LIFE: Life = Life { node: NodeId(2), incarnation: Incarnation(300), id: LifeId(1 << 100) };
const BALLOT: Ballot = Ballot { round: 9, of: LIFE };
const STAMP: Stamp = Stamp { ballot: BALLOT, write: 4 };
const LEASE: Lease = Lease { life: LIFE, number: 3 };

fn holder() -> Holder {
    Holder { lease: LEASE, session: 0, campaign: 6 }
}

fn address() -> Address {
    Address::new("db-1:7000").expect("it is short")
}

fn configuration() -> Configuration {
    let seat = |node, store| (NodeId(node), StoreId(store), address());
    Configuration::founding([seat(1, 7), seat(2, 8)]).founded()
}

fn grant(holder: Option<Holder>) -> Grant {
    Grant { kind: GrantKind::Lease, token: Token(1000), holder, value: Arc::from(*b"here") }
}

fn asks() -> Vec<Ask> {
    let (ballot, stamp, lease, no) = (BALLOT, STAMP, LEASE, 11);
    vec![
        Ask::Prepare { ballot },
        Ask::Read { ballot, name: Name::leader() },
        Ask::Write { stamp, name: Name::leader(), content: Content::Grant(grant(Some(holder())).into()) },
        Ask::Write { stamp, name: Name::leader(), content: Content::Grant(grant(None).into()) },
        Ask::Write {
            stamp,
            name: Name::configuration(),
            content: Content::Configuration(configuration().into()),
        },
        Ask::Runs { lease },
        Ask::Bury { lease },
        Ask::Renew { lease, no, ttl: Span::secs(1) },
        Ask::IsDead { lease, no },
        Ask::Names { ballot, after: None },
        Ask::Buried { ballot, after: Some(NodeId(2)) },
        Ask::Store { ballot },
        Ask::Write {
            stamp,
            name: Name::configuration(),
            content: Content::Configuration(configuration().with(NodeId(4), StoreId(9), address()).into()),
        },
        Ask::Write { stamp, name: Name::leader(), content: Content::Deleted },
        Ask::Write { stamp, name: Name::floor(), content: Content::Floor(Token(1000)) },
        Ask::Holdings { ballot, after: Some(Name::leader()) },
        Ask::Peek { name: Name::leader(), no },
        Ask::Drop { ballot, name: Name::leader(), stamp },
    ]
}

fn answers() -> Vec<Answer> {
    let (ballot, stamp, lease, no, name) = (BALLOT, STAMP, LEASE, 11, Name::leader());
    let held = Accepted { stamp, content: Content::Grant(grant(None).into()) };
    let accepted = Some(held.clone());
    vec![
        Answer::Promised { ballot },
        Answer::Outbid { ballot, promised: Ballot { round: 10, ..ballot } },
        Answer::Holds { ballot, name: name.clone(), accepted: accepted.clone() },
        Answer::Holds { ballot, name: name.clone(), accepted: None },
        Answer::Wrote { stamp, name: name.clone() },
        Answer::Unacceptable { stamp, why: Objection::OtherList },
        Answer::Unacceptable { stamp, why: Objection::OtherStore },
        Answer::Runs { lease, left: Span::millis(900) },
        Answer::Stopped { lease },
        Answer::Buried { lease },
        Answer::Renewed { lease, no },
        Answer::Lives { lease, no },
        Answer::Dead { lease },
        Answer::Outlived { life: LIFE, known: Incarnation(301) },
        Answer::Names { ballot, after: Some(Name::leader()), names: vec![Name::leader()], more: true },
        Answer::TheBuried { ballot, after: None, dead: vec![(NodeId(3), LEASE.age())], more: false },
        Answer::Store { ballot, empty: true, largest: Token(1000) },
        Answer::Unacceptable { stamp, why: Objection::Rescued },
        Answer::Holdings { ballot, after: None, held: vec![(name.clone(), held)], more: true },
        Answer::Peeked { name, no, accepted },
    ]
}

fn wishes() -> Vec<Wish> {
    let campaign = |kind, holds| Wish::Campaign {
        name: Name::leader(),
        kind,
        holder: holder(),
        waited: Span::millis(70),
        priority: 5,
        valid: true,
        holds,
        value: Arc::from(*b"there"),
    };
    let change = |change| Wish::Change { by: LIFE, no: 3, since: 1, change };
    let release = |token, next| Wish::Release { name: Name::leader(), token, holder: holder(), next };
    vec![
        campaign(GrantKind::Lease, None),
        campaign(GrantKind::Token, Some(Token(1000))),
        release(Some(Token(1000)), Some(NodeId(3))),
        release(None, None),
        change(MemberChange::Add { node: NodeId(4), address: address() }),
        change(MemberChange::Remove { node: NodeId(4) }),
        change(MemberChange::Replace { node: NodeId(4), address: address() }),
        change(MemberChange::Rescue { survivors: [NodeId(1), NodeId(2)].into() }),
        Wish::Present { lease: LEASE, valid: true, digest: 1 << 60 },
        Wish::Adopt { name: Name::leader(), holder: holder(), token: Token(1000) },
        Wish::Proclaim { name: Name::leader(), holder: holder(), edition: 2, value: Arc::from(*b"there") },
        Wish::Delete { by: LIFE, no: 3, name: Name::leader() },
        Wish::Settle { name: Name::leader() },
        Wish::List { after: Some(Name::leader()) },
    ]
}

fn tellings() -> Vec<Telling> {
    let (name, holder) = (Name::leader(), holder());
    vec![
        Telling::Queued { name: name.clone(), holder, before: 2 },
        Telling::Unfit { name: name.clone(), holder, kind: GrantKind::Token },
        Telling::Again { to: LIFE },
        Telling::Wanted { name: name.clone(), token: Token(1000), by: NodeId(3) },
        Telling::Deleted { to: LIFE, no: 3, outcome: Ok(()) },
        Telling::Deleted { to: LIFE, no: 3, outcome: Err(Undeleted::InUse) },
        Telling::Deleted { to: LIFE, no: 3, outcome: Err(Undeleted::Unknown) },
        Telling::Gone { name: name.clone(), stamp: STAMP },
        Telling::Census { digest: 1 << 60 },
        Telling::Listed { after: None, up_to: Some(name.clone()), names: vec![name] },
    ]
}

fn parcel() -> ExclusiveMsg {
    let asked = Asked { by: LIFE, ask: Ask::Prepare { ballot: BALLOT } };
    let answer = Answer::Promised { ballot: BALLOT };
    let said = Said { store: StoreId(7), commits: 300, configuration: None, answer };
    ExclusiveMsg::Many(Parcel {
        asks: vec![asked.clone(), asked],
        answers: vec![said],
        wishes: vec![Wish::Settle { name: Name::leader() }],
        tellings: vec![Telling::Again { to: LIFE }],
    })
}
