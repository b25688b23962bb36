//! What every arbiter has to pass, as a test of whoever writes one: [`passes`].
//!
//! Three arbiters stand for three processes. The test has them campaign, wait, release and go, cuts them off from whatever they ask,
//! and holds them to this:
//!
//! | what | how |
//! |---|---|
//! | ONE-HOLDER | nobody is granted a name while another is told that it may act, by one clock for all |
//! | TOKEN-GROWS, TOKEN-ONCE | every grant has a larger token than all before |
//! | FREED | what is released is granted at once; what is silent, after its ttl |
//! | GRANTED | whoever waits is granted the name in the end, whatever was cut off before |
//!
//! ```no_run
//! # async fn example(benches: [bellwether::arbiter::conformance::Bench; 3]) {
//! bellwether::arbiter::conformance::passes(&benches).await;
//! # }
//! ```

mod faults;
mod ledger;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio::time::timeout;

use super::{Arbiter, Campaign, Candidacy, Seen};
use crate::elections::{Name, State};
use ledger::Ledger;

/// An arbiter as one process has it, and what it asks over.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The arbiter.
    pub arbiter: Arc<dyn Arbiter>,
    /// Between it and whatever it asks.
    pub link: Arc<dyn Link>,
}

/// A connection that can be cut.
pub trait Link: fmt::Debug + Send + Sync {
    /// From now on nothing passes, either way, and nobody is told.
    fn cut(&self);

    /// From now on everything passes, and what was said before does.
    fn heal(&self);
}

/// What takes longer than so many ttls does not happen.
const PATIENCE: u32 = 20;

/// Goes through all of it, in names that begin with `conformance`. Nobody else may campaign for these.
///
/// # Panics
/// If the arbiter does not pass; says why.
pub async fn passes(benches: &[Bench; 3]) {
    one_after_the_other(benches).await;
    whoever_waits_no_more_is_passed_over(benches).await;
    values_are_seen(benches).await;
    one_process_wants_a_name_twice(benches).await;
    many_names(benches).await;
    faults::a_silent_holder_stops_before_the_next_begins(benches).await;
    faults::a_short_silence_costs_nothing(benches).await;
    faults::what_was_asked_for_in_vain_is_in_nobodys_way(benches).await;
    faults::a_walk(benches).await;
}

fn name(of: &str) -> Name {
    Name::new(&format!("conformance-{of}")).expect("it has no odd characters")
}

async fn soon<F: Future>(what: &str, benches: &[Bench; 3], does: F) -> F::Output {
    let within = benches[0].arbiter.terms().ttl * PATIENCE;
    timeout(within, does).await.unwrap_or_else(|_| panic!("not within {within:?}: {what}"))
}

async fn campaigns(bench: &Bench, name: &Name) -> Box<dyn Campaign> {
    let begun = bench.arbiter.campaign(name.clone(), Candidacy::default()).await;
    begun.unwrap_or_else(|denied| panic!("\"{name}\" cannot be campaigned for: {denied}"))
}

/// Until a campaign may act; with which token.
async fn held(campaign: &mut dyn Campaign) -> u64 {
    let sight = campaign.sight();
    loop {
        if let State::Held { token } = sight.state()
            && sight.check(token).is_ok()
        {
            return token;
        }
        campaign.changed().await;
    }
}

/// Until it knows how many go before it.
async fn in_line(campaign: &mut dyn Campaign) -> u32 {
    let sight = campaign.sight();
    loop {
        match sight.state() {
            State::Waiting { before: Some(before), .. } => return before,
            state => assert!(!matches!(state, State::Held { .. }), "it is held by another: {state:?}"),
        }
        campaign.changed().await;
    }
}

/// Until somebody sees that of a name.
async fn seen(bench: &Bench, name: &Name, is_it: impl Fn(Option<&Seen>) -> bool) {
    let mut observer = bench.arbiter.observe(name);
    loop {
        let now = observer.next().await.expect("it does not end");
        if is_it(now.as_ref()) {
            return;
        }
    }
}

async fn one_after_the_other(benches: &[Bench; 3]) {
    let name = name("order");
    let mut ledger = Ledger::default();
    let mut campaigns_of = Vec::new();
    for (before, bench) in benches.iter().enumerate() {
        let mut campaign = campaigns(bench, &name).await;
        match before {
            0 => ledger.grant(soon("nobody holds it", benches, held(&mut *campaign)).await, &*campaign),
            _ => {
                let waits = soon("it is in line", benches, in_line(&mut *campaign)).await;
                assert_eq!(waits as usize, before - 1, "they wait in the order in which they came");
            }
        }
        campaigns_of.push(campaign);
    }
    assert!(benches[0].arbiter.terms().is_fair, "an arbiter that is not fair cannot be held to an order");
    let mut campaigns_of = campaigns_of.into_iter();
    let mut holder = campaigns_of.next().expect("there are three");
    for mut next in campaigns_of {
        assert!(next.sight().valid_until().is_none(), "nobody acts beside the holder");
        let past = holder.sight();
        soon("it is released", benches, holder.release()).await.expect("nothing is in its way");
        assert_eq!((past.state(), past.valid_until()), (State::Over, None));
        ledger.grant(soon("the next holds it", benches, held(&mut *next)).await, &*next);
        holder = next;
    }
    drop(holder);
    let mut again = campaigns(&benches[0], &name).await;
    ledger.grant(soon("what is dropped is free", benches, held(&mut *again)).await, &*again);
}

async fn whoever_waits_no_more_is_passed_over(benches: &[Bench; 3]) {
    let name = name("withdrawn");
    let [one, two, three] = benches;
    let mut first = campaigns(one, &name).await;
    let token = soon("nobody holds it", benches, held(&mut *first)).await;
    let mut second = campaigns(two, &name).await;
    soon("it is in line", benches, in_line(&mut *second)).await;
    let mut third = campaigns(three, &name).await;
    soon("it is in line", benches, in_line(&mut *third)).await;
    drop(second);
    soon("it is released", benches, first.release()).await.expect("nothing is in its way");
    assert!(soon("the third holds it", benches, held(&mut *third)).await > token);
}

async fn values_are_seen(benches: &[Bench; 3]) {
    let name = name("value");
    let [one, two, three] = benches;
    let candidacy = Candidacy { value: b"here".as_slice().into(), ..Candidacy::default() };
    let mut holder = one.arbiter.campaign(name.clone(), candidacy).await.expect("anybody may");
    let token = soon("nobody holds it", benches, held(&mut *holder)).await;
    let is = |value: &'static [u8]| {
        move |seen: Option<&Seen>| {
            seen.is_some_and(|seen| seen.holder.is_some() && seen.token == token && *seen.value == *value)
        }
    };
    soon("it is seen", benches, seen(two, &name, is(b"here"))).await;
    soon("it is proclaimed", benches, holder.proclaim(b"there".as_slice().into())).await.expect("it is held");
    soon("it is seen", benches, seen(three, &name, is(b"there"))).await;
    let read = soon("it is read", benches, two.arbiter.read(name.clone())).await.expect("nothing is cut");
    assert!(is(b"there")(read.as_ref()), "{read:?}");
    let waits = campaigns(two, &name).await;
    let proclaimed = soon("it is refused", benches, waits.proclaim(b"mine".as_slice().into())).await;
    assert!(proclaimed.is_err(), "whoever waits proclaims nothing");
}

async fn one_process_wants_a_name_twice(benches: &[Bench; 3]) {
    let name = name("twice");
    let mut first = campaigns(&benches[0], &name).await;
    let token = soon("nobody holds it", benches, held(&mut *first)).await;
    let mut second = campaigns(&benches[0], &name).await;
    soon("it is in line", benches, in_line(&mut *second)).await;
    soon("it is released", benches, first.release()).await.expect("nothing is in its way");
    assert!(soon("the second holds it", benches, held(&mut *second)).await > token);
}

async fn many_names(benches: &[Bench; 3]) {
    const NAMES: usize = 40;
    let mut campaigns_of = Vec::new();
    for no in 0..NAMES {
        campaigns_of.push(campaigns(&benches[no % 3], &name(&format!("many-{no}"))).await);
    }
    for campaign in &mut campaigns_of {
        soon("each is held", benches, held(&mut **campaign)).await;
    }
}
