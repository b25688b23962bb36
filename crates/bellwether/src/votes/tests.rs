use std::time::Duration;

use bellwether_proto::exclusive::ident::{Life, LifeId, StoreId};
use bellwether_proto::ident::{Incarnation, NodeId};
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

fn met(incarnation: u64) -> Change {
    Change::Met(Life { node: NodeId(1), incarnation: Incarnation(incarnation), id: LifeId(1) })
}

/// Changes are kept in order, many of them with one sync, and the directory is free when all are.
#[tokio::test]
async fn what_waits_goes_with_the_next_commit() {
    const CHANGES: u64 = 5_000;
    let dir = TempDir::new().unwrap();
    let (store, closed, _) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let (file, _) = store.votes(|| Some(StoreId(1))).unwrap();
    let mut votes = Votes::behind(file, Arc::new(store)).unwrap();
    (1..=CHANGES).for_each(|incarnation| votes.keep(met(incarnation)));
    let mut commits = Vec::new();
    while commits.last() != Some(&CHANGES) {
        commits.push(timeout(PATIENCE, votes.done()).await.expect("it is kept soon").unwrap().commits);
    }
    assert!(commits.is_sorted() && commits.len() < 100, "{} commits", commits.len());
    votes.keep(met(CHANGES + 1));
    drop(votes);
    closed.wait(PATIENCE);
    let (store, ..) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let (_, kept) = store.votes(|| None).unwrap();
    assert_eq!((kept.commits, kept.lives.len()), (CHANGES + 1, 1), "what was asked for last is kept, too");
}
