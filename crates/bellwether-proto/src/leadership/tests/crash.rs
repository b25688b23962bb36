//! How soon a crash of the leader is over.

use super::*;

/// How long five nodes take to agree on the next leader. A message, or the news of a connection's end, takes a millisecond at
/// most.
const SETTLED_WITHIN: [(Protocol, Span); 3] = [
    // The end of the connection, a heartbeat, Claim, Follow and Lead.
    (Protocol::Fjr, Span::millis(5)),
    // The end of the connection, Halt and its answer for each weaker node, Ldr, Follow and Lead.
    (Protocol::AsyncBully, Span::millis(10)),
    // The end of the connection; Check, Invitation, Accept and Ready, of which only the last has no answer to wait for, and again if
    // two have invited at once; Claim, Follow and Lead.
    (Protocol::Invitation, Span::millis(16)),
];

#[test]
fn a_crash_is_settled_within_a_few_messages() {
    for (protocol, span) in SETTLED_WITHIN {
        for seed in 0..50 {
            let mut cluster = Cluster::new(protocol, &[0; 5], None, seed);
            cluster.run(Span::secs(3));
            let (leader, epoch) = cluster.agreed().expect("a leader");
            if seed % 2 == 1 {
                // Whoever is known to be gone is not waited for.
                let follower = cluster.nodes.keys().copied().rfind(|id| *id != leader);
                cluster.kill(follower.expect("there are five"));
                cluster.run(Span::secs(1));
            }
            let killed_at = cluster.now;
            cluster.kill(leader);
            cluster.run(span);
            let (next, next_epoch) =
                cluster.agreed().unwrap_or_else(|| panic!("{protocol:?}, seed {seed}: no leader"));
            assert_eq!(next_epoch, epoch + 1, "{protocol:?}, seed {seed}");
            assert_eq!(cluster.began_since(killed_at), [(next, next_epoch, Cause::Gone(leader))]);
        }
    }
}

/// A node that has just come up waits until it has met the others. If it has followed somebody, it has.
#[test]
fn who_came_up_a_moment_ago_and_has_followed_leads_without_delay() {
    let ids = [1, 2, 3].map(NodeId);
    // With the others whoever returns and is stronger takes over.
    for (protocol, span) in SETTLED_WITHIN.into_iter().filter(|(protocol, _)| !protocol.spec().preempts()) {
        let mut cluster = Cluster::new(protocol, &[0; 3], None, 6);
        cluster.run(Span::secs(3));
        let (first, epoch) = cluster.agreed().expect("a leader");
        cluster.kill(first);
        cluster.run(Span::secs(3));
        let config = LeadershipConfig { epoch, ..config(protocol, 0, None) };
        cluster.start(first, node_in((Incarnation(2), 0), cluster.now, protocol, first, &ids, config));
        cluster.connect(&ids);
        cluster.run(SETTLE / 2);
        let (second, _) = cluster.agreed().unwrap_or_else(|| panic!("{protocol:?}: it has followed"));
        cluster.kill(second);
        cluster.run(span);
        assert!(cluster.agreed().is_some_and(|(third, _)| third != second), "{protocol:?}");
    }
}
