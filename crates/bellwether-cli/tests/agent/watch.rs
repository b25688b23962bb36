//! Changes of leader as server-sent events.

use crate::cluster::{Cluster, Shape, Watch};

#[test]
fn a_watcher_hears_how_things_are_and_then_what_changes() {
    let mut cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    let id = if first == 1 { 2 } else { 1 };
    let mut watch = cluster.watch(id, None);
    let status = watch.next();
    assert_eq!((watch.status, status.name.as_str()), (200, "status"));
    assert_eq!((&status.data["node"], &status.data["leader"]), (&id.into(), &first.into()));
    cluster.kill(first);
    let mut changes = Vec::new();
    while changes.last().is_none_or(|change: &crate::cluster::Event| change.data["leader"].is_null()) {
        changes.push(watch.next());
    }
    for (place, change) in (1..).zip(&changes) {
        assert_eq!((change.name.as_str(), change.id), ("change", status.id + place));
        assert_eq!(change.data["no"], change.id);
    }
    let last = changes.last().unwrap();
    assert_ne!(last.data["leader"], first);
    assert!(last.data["epoch"].as_u64() > status.data["epoch"].as_u64(), "{last:?}");
    assert_eq!(
        (&changes[0].data["cause"]["kind"], &changes[0].data["cause"]["node"]),
        (&"gone".into(), &first.into())
    );
    resumes(&cluster, id, status.id, &changes);
}

/// Whoever was cut off hears the same changes again.
fn resumes(cluster: &Cluster, id: u32, after: u64, changes: &[crate::cluster::Event]) {
    let mut again = cluster.watch(id, Some(after));
    assert_eq!(again.next().name, "status");
    for change in changes {
        assert_eq!(again.next(), *change);
    }
    // A number from the future is a number from before the state was lost.
    assert_eq!(cluster.watch(id, Some(1_000_000)).next().id, changes.last().unwrap().id);
}

#[test]
fn there_is_room_for_so_many_watchers_and_no_more() {
    let mut cluster = Cluster::prepare(&Shape::of(1));
    // How much room there is depends on how many files it may open.
    cluster.start_node_under(1, "-n 600");
    cluster.wait_for_leader();
    let watches = std::iter::repeat_with(|| cluster.watch(1, None));
    let mut watchers: Vec<Watch> = watches.take(600).take_while(|watch| watch.status == 200).collect();
    assert!((200..300).contains(&watchers.len()), "{}", watchers.len());
    assert_eq!(cluster.watch(1, None).status, 503);
    assert_eq!(cluster.get(1, "/v1/status").status, 200);
    watchers.truncate(10);
    cluster.wait_for("there is room again", |_| cluster.watch(1, None).status == 200);
    assert_eq!(watchers[0].next().name, "status");
}
