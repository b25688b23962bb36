//! Arbiters over engines of other makes, as their packages have them.
//!
//! Run: make engines
//! Without BELLWETHER_REQUIRE_ENGINES=1 they are skipped: they need the engines, and processor time.

#[path = "../cluster/cluster.rs"]
mod cluster;
mod etcd;
#[path = "../../benches/engines/etcd.rs"]
#[allow(dead_code, reason = "only the benchmark measures")]
mod etcd_servers;
mod postgres;
mod postgres_server;
#[path = "../../benches/engines/program.rs"]
mod program;
#[path = "../../../bellwether/tests/relay/relay.rs"]
mod relay;

use std::env;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bellwether::arbiter::conformance::{Bench, Link};
use bellwether::arbiter::{Arbiter, Campaign, Candidacy, Engine, Kept};
use bellwether::elections::{Name, State};
use tokio::time::timeout;

use relay::Relay;

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(60);

async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

/// Whether engines are to be tested; they must be there then.
fn is_wanted(is_there: impl FnOnce() -> bool) -> bool {
    let is_wanted = env::var("BELLWETHER_REQUIRE_ENGINES").as_deref() == Ok("1");
    assert!(!is_wanted || is_there(), "it is not installed");
    is_wanted
}

/// All relays of one client.
#[derive(Debug)]
struct Links(Vec<Relay>);

impl Links {
    async fn to(targets: &[SocketAddr]) -> Self {
        let mut relays = Vec::new();
        for target in targets {
            relays.push(Relay::start(*target).await);
        }
        Self(relays)
    }

    fn addresses(&self) -> Vec<String> {
        self.0.iter().map(|relay| relay.address().to_string()).collect()
    }
}

impl Link for Links {
    fn cut(&self) {
        self.0.iter().for_each(Link::cut);
    }

    fn heal(&self) {
        self.0.iter().for_each(Link::heal);
    }
}

async fn bench<E: Engine>(links: Links, engine: impl FnOnce(Vec<String>) -> E) -> Bench {
    let kept = Kept::open(engine(links.addresses())).await.expect("it is there");
    Bench { arbiter: Arc::new(kept), link: Arc::new(links) }
}

fn name(of: &str) -> Name {
    Name::new(of).unwrap()
}

async fn campaigns(arbiter: &dyn Arbiter, of: &str) -> Box<dyn Campaign> {
    let candidacy = Candidacy { value: format!("for {of}").into_bytes().into(), ..Candidacy::default() };
    arbiter.campaign(name(of), candidacy).await.expect("anybody may")
}

/// Until it may act; with which token.
async fn held(campaign: &mut dyn Campaign) -> u64 {
    let sight = campaign.sight();
    soon("it is held", async {
        loop {
            match sight.state() {
                State::Held { token } if sight.check(token).is_ok() => return token,
                _ => campaign.changed().await,
            }
        }
    })
    .await
}

/// Until it waits, and so many go before it.
async fn waits(campaign: &mut dyn Campaign, before: u32) {
    let sight = campaign.sight();
    soon("it waits", async {
        while sight.state() != (State::Waiting { before: Some(before), lost: None }) {
            campaign.changed().await;
        }
    })
    .await;
}

/// Until its validity has been put off so often. It is held all the time.
async fn goes_on(campaign: &mut dyn Campaign, token: u64, renewals: u32) {
    let sight = campaign.sight();
    soon("it goes on", async {
        for _ in 0..renewals {
            let told = sight.valid_until();
            while sight.valid_until() <= told {
                assert_eq!(sight.state(), State::Held { token });
                campaign.changed().await;
            }
        }
    })
    .await;
}
