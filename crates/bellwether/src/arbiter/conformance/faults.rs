//! What is cut off.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Bench, Ledger, campaigns, held, in_line, name, soon};
use crate::arbiter::Campaign;
use crate::elections::State;
use crate::random;

/// A link that is whole again when this goes, whatever happened.
struct Cut<'b>(&'b Bench);

impl<'b> Cut<'b> {
    fn off(bench: &'b Bench) -> Self {
        bench.link.cut();
        Self(bench)
    }
}

impl Drop for Cut<'_> {
    fn drop(&mut self) {
        self.0.link.heal();
    }
}

pub(super) async fn a_silent_holder_stops_before_the_next_begins(benches: &[Bench; 3]) {
    let name = name("silent");
    let [one, two, _] = benches;
    let mut ledger = Ledger::default();
    let mut first = campaigns(one, &name).await;
    ledger.grant(soon("nobody holds it", benches, held(&mut *first)).await, &*first);
    let mut second = campaigns(two, &name).await;
    soon("it is in line", benches, in_line(&mut *second)).await;
    let cut = Cut::off(one);
    // What was under way may have arrived, and put it off.
    let (past, clock) = (first.sight(), first.sight().uptime());
    let end = soon("its validity ends", benches, async {
        let mut last = Duration::ZERO;
        while let Some(until) = past.valid_until() {
            last = until;
            clock.reaches(until).await;
        }
        last
    });
    let next = async {
        let token = soon("the next holds it", benches, held(&mut *second)).await;
        (token, clock.now())
    };
    let (end, (token, began)) = tokio::join!(end, next);
    assert!(began >= end, "the next began {:?} before the end", end.saturating_sub(began));
    ledger.grant(token, &*second);
    drop(cut);
    soon("it is told that it has lost it", benches, async {
        while matches!(first.sight().state(), State::Held { .. }) {
            first.changed().await;
        }
    })
    .await;
    soon("it is released", benches, second.release()).await.expect("nothing is in its way");
    ledger.grant(soon("the first holds it again", benches, held(&mut *first)).await, &*first);
}

pub(super) async fn a_short_silence_costs_nothing(benches: &[Bench; 3]) {
    let name = name("pause");
    let [one, two, _] = benches;
    let mut holder = campaigns(one, &name).await;
    let token = soon("nobody holds it", benches, held(&mut *holder)).await;
    let mut waits = campaigns(two, &name).await;
    soon("it is in line", benches, in_line(&mut *waits)).await;
    let told = holder.sight().check(token).expect("it is held");
    let cut = Cut::off(one);
    sleep(one.arbiter.terms().ttl / 4).await;
    drop(cut);
    soon("its validity is put off", benches, async {
        while holder.sight().check(token).is_ok_and(|until| until <= told) {
            holder.changed().await;
        }
    })
    .await;
    assert_eq!(holder.sight().state(), State::Held { token }, "nothing was lost");
}

pub(super) async fn what_was_asked_for_in_vain_is_in_nobodys_way(benches: &[Bench; 3]) {
    let name = name("vain");
    let [one, two, _] = benches;
    for _ in 0..3 {
        let cut = Cut::off(one);
        let vain = campaigns(one, &name).await;
        sleep(Duration::from_millis(20)).await;
        drop(vain);
        drop(cut);
        let mut next = campaigns(two, &name).await;
        soon("another holds it", benches, held(&mut *next)).await;
    }
}

/// What happens in a walk.
const STEPS: usize = 40;

/// All three campaign, release and are cut off, as chance has it.
pub(super) async fn a_walk(benches: &[Bench; 3]) {
    let seed = std::env::var("BELLWETHER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from_le_bytes(random::bytes().expect("there is chance")));
    // Shown if it fails.
    let _shown = Shown(seed);
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let name = name("walk");
    let mut ledger = Ledger::default();
    let mut running: [Option<Box<dyn Campaign>>; 3] = [None, None, None];
    let mut cut: Option<Cut<'_>> = None;
    let pause = benches[0].arbiter.terms().ttl / 8;
    for _ in 0..STEPS {
        let who = (chance.next_u32() % 3) as usize;
        match chance.next_u32() % 8 {
            0 if cut.is_none() => cut = Some(Cut::off(&benches[who])),
            0 | 1 => cut = None,
            2 => running[who] = None,
            _ if running[who].is_none() => running[who] = Some(campaigns(&benches[who], &name).await),
            _ => {}
        }
        let until = Instant::now() + pause * (chance.next_u32() % 3);
        while Instant::now() <= until {
            ledger.look();
            for campaign in running.iter_mut().flatten() {
                if let State::Held { token } = campaign.sight().state()
                    && campaign.sight().check(token).is_ok()
                    && token != ledger.token()
                {
                    ledger.grant(token, &**campaign);
                }
            }
            let [one, two, three] = &mut running;
            let changes = async {
                tokio::select! {
                    () = changed(one) => {}
                    () = changed(two) => {}
                    () = changed(three) => {}
                }
            };
            let _ = timeout_at(until.max(Instant::now() + Duration::from_millis(1)), changes).await;
        }
    }
    drop(cut);
    running = [None, None, None];
    drop(running);
    let mut last = campaigns(&benches[0], &name).await;
    ledger.grant(soon("it is granted in the end", benches, held(&mut *last)).await, &*last);
}

async fn changed(campaign: &mut Option<Box<dyn Campaign>>) {
    match campaign {
        Some(campaign) => campaign.changed().await,
        None => std::future::pending().await,
    }
}

struct Shown(u64);

impl Drop for Shown {
    #[expect(clippy::print_stderr, reason = "whoever reads why a test failed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to replay: BELLWETHER_TEST_SEED={}", self.0);
        }
    }
}
