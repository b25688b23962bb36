//! The face of the library: what a program names, and what it is told when something cannot be.

#[path = "../examples/support/loopback.rs"]
mod loopback;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bellwether::member::{Descriptors, Hold, Observer, Outcome};
use bellwether::proto::leadership::Reluctance;
use bellwether::proto::tenure;
use bellwether::reorganization::Services;
use bellwether::status::{Bar, Counters, DiskStatus, Participant, Reach, Standing};
use bellwether::tls::{
    Authority, Certificate, ClusterNameError, TlsError, Validity, check_cluster_name, expiry_warning,
};
use bellwether::{
    BadConfig, Change, Config, Ended, Identity, JoinError, Leader, Leadership, Member, Refused, StateError,
    Status,
};
use bellwether::{NodeId, Peers, Protocol};
use tempfile::TempDir;
use tokio::time::timeout;

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(10);

fn config() -> (TempDir, Config) {
    let (dir, mut configs) = loopback::configs(1).unwrap();
    (dir, configs.remove(0))
}

/// A member that leads, because there is nobody else.
async fn alone() -> (TempDir, Member, Leadership) {
    let (dir, config) = config();
    let member = Member::join(config).await.unwrap();
    let leadership = timeout(PATIENCE, member.campaign()).await.expect("it leads soon").unwrap();
    (dir, member, leadership)
}

async fn refused(config: Config) -> JoinError {
    Member::join(config).await.expect_err("it cannot join")
}

#[tokio::test]
async fn a_member_tells_what_it_knows() {
    let (_dir, member, leadership) = alone().await;
    assert!(leadership.is_held());
    timeout(PATIENCE, member.awake()).await.expect("it runs");
    let status: Status = member.status();
    assert_eq!((status.id, status.protocol, status.standing), (NodeId(1), Protocol::Fjr, Standing::Leading));
    let reach: Option<Reach> = status.reach;
    assert_eq!(reach.map(Reach::needed), None, "any survivor leads");
    assert_eq!(status.bar, None::<Bar>, "nothing keeps it from leading");
    let disk: DiskStatus = status.disk;
    let longest = disk.last_write.max(disk.writing_for.unwrap_or_default());
    assert_eq!(disk.is_slow(), longest > DiskStatus::SLOW, "{disk:?}");
    let until = status.certificate_until.expect("its certificate has an end");
    assert!(expiry_warning(until, SystemTime::now()).is_some(), "it is good for a day");
    let leader: Leader = member.leader().expect("it leads");
    assert_eq!((leader.id, leader.epoch), (leadership.node(), leadership.epoch()));
    assert_eq!(leadership.clone().incarnation(), status.incarnation);
    let mut changes: Observer = member.observe_after(0);
    let change: Change = changes.next().await.expect("it was seen");
    assert_eq!((change.leader, change.epoch), (Some(NodeId(1)), leadership.epoch()));
    assert!(member.history().contains(&change) && member.history().len() <= Member::HISTORY_MAX);
    let everybody: Vec<Participant> = member.participants();
    assert!(everybody.iter().any(|participant| participant.is_self));
    let counted: Counters = member.counters();
    assert_eq!((counted.led, counted.refused_frames), (1, 0));
    assert!(member.groups().records().is_empty(), "fjr has none");
    let mut services: Services = member.service();
    assert_eq!(services.current(), None);
    assert!(member.idle() < PATIENCE && member.local_addr().port() > 0);
}

#[tokio::test]
async fn a_request_is_refused_for_a_reason_that_can_be_matched() {
    let (_dir, member, leadership) = alone().await;
    let absent = NodeId(9);
    let why = member.transfer(absent).await.unwrap_err();
    assert!(matches!(
        why,
        Refused::Cannot(tenure::Refused::HandOver { to, why: Reluctance::NotConnected }) if to == absent
    ));
    let why = member.stand().await.unwrap_err();
    assert!(matches!(why, Refused::Cannot(tenure::Refused::NotAside { me: NodeId(1) })), "{why}");
    drop(leadership);
    member.resign(Hold::UntilTold).await.unwrap();
    assert_eq!(member.status().standing, Standing::Aside);
    let mut changes = member.observe();
    member.stand().await.unwrap();
    let back = timeout(PATIENCE, changes.next()).await.expect("it leads again soon");
    assert_eq!(back.and_then(|change| change.leader), Some(NodeId(1)));
    member.leave().await;
    assert!(matches!(member.ended().await, Ended::Left));
    let why = member.resign(Hold::Default).await.unwrap_err();
    assert!(matches!(why, Refused::Ended(Ended::Left)), "{why}");
    let last = changes.next().await.expect("it ceased to lead before it left");
    assert_eq!(last.leader, None);
    assert!(changes.next().await.is_none());
}

#[tokio::test]
async fn a_disk_that_cannot_be_used_is_told_from_a_state_that_is_not_the_members() {
    let (dir, config) = config();
    let member = Member::join(config.clone()).await.unwrap();
    let error = refused(config.clone()).await;
    assert!(matches!(error, JoinError::Disk(_)) && error.to_string().contains("in use"), "{error}");
    assert!(!error.is_bad_input());
    member.leave().await;
    drop(member);

    fs::write(config.data_dir.join("state"), "nothing of the kind").unwrap();
    let error = refused(config.clone()).await;
    assert!(matches!(error, JoinError::State(_)) && error.is_bad_input(), "{error}");

    let mut elsewhere = config;
    elsewhere.data_dir = dir.path().join("file");
    fs::write(&elsewhere.data_dir, "no directory").unwrap();
    let error = refused(elsewhere).await;
    let JoinError::Disk(state) = &error else { panic!("{error}") };
    let state: &StateError = state;
    assert!(state.source().is_some_and(|source| source.is::<std::io::Error>()), "{error}");
}

#[tokio::test]
async fn what_the_system_refuses_is_kept_as_the_source() {
    let (_dir, config) = config();
    let taken = TcpListener::bind(config.listen).unwrap();
    let error = refused(config.clone()).await;
    assert!(matches!(error, JoinError::Address { address, .. } if address == config.listen), "{error}");
    assert!(error.source().is_some() && !error.is_bad_input());
    drop(taken);

    let mut traced = config;
    traced.trace = Some(PathBuf::from("no/such/directory/trace.jsonl"));
    let error = refused(traced.clone()).await;
    assert!(
        matches!(&error, JoinError::Trace { path, .. } if Some(path) == traced.trace.as_ref()),
        "{error}"
    );
    assert!(error.source().is_some());
}

#[tokio::test]
async fn certificates_are_issued_kept_and_checked() {
    let (dir, mut config) = config();
    let authority = Authority::create("example", Validity::days(1)).unwrap();
    let again = Authority::from_pem("example", authority.cert_pem(), &authority.key_pem()).unwrap();
    assert_eq!(again.cluster(), "example");
    let Identity { ca, cert, key, .. } = again.issue(NodeId(2), Validity::days(1)).unwrap();
    let files = [("ca.pem", ca), ("cert.pem", cert), ("key.pem", key)]
        .map(|(name, text)| (dir.path().join(name), text));
    files.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    let [ca, cert, key] = files.map(|(path, _)| path);
    config.identity = Identity::load(&ca, &cert, &key).unwrap();
    let error = refused(config).await;
    assert!(matches!(error, JoinError::Tls(TlsError::NotOurs { id: NodeId(1), .. })), "{error}");
    let missing = Identity::load(Path::new("no/such.pem"), &cert, &key).unwrap_err();
    assert!(matches!(missing, TlsError::Read { .. }), "{missing}");
    let bad: ClusterNameError = check_cluster_name("Not a name").unwrap_err();
    let error = Authority::create("Not a name", Validity::days(1)).unwrap_err();
    assert_eq!(error.to_string(), bad.to_string());
}

#[test]
fn an_authority_has_a_successor_and_takes_certificates_back() {
    let (dir, _) = config();
    let authority = Authority::create("example", Validity::days(2)).unwrap();
    let [good, bad] = [1, 2].map(|id| authority.issue(NodeId(id), Validity::days(1)).unwrap());
    let list = authority.revoke(None, &[&bad.cert]).unwrap();
    assert_eq!([&good, &bad].map(|of| authority.has_revoked(&list, &of.cert).unwrap()), [false, true]);
    let path = dir.path().join("crl.pem");
    fs::write(&path, &list).unwrap();
    assert_eq!(good.clone().with_revoked(&path).unwrap().revoked.as_ref(), Some(&list));
    let is_taken = |of: &Identity, id| {
        Certificate::check(&of.cert, authority.cert_pem(), Some(&list), "example", NodeId(id)).is_ok()
    };
    assert_eq!([is_taken(&good, 1), is_taken(&bad, 2)], [true, false]);
    let next = authority.successor(Validity::days(3)).unwrap();
    assert_eq!([&authority, &next].map(Authority::succeeds_another), [false, true]);
    assert_eq!(next.cert_pem(), format!("{}{}", next.own_pem(), authority.own_pem()), "both are trusted");
    let [own, before]: [Certificate; 2] = Certificate::all_in(next.cert_pem()).unwrap().try_into().unwrap();
    assert!(own.until > before.until);
}

#[tokio::test]
async fn a_member_takes_other_certificates_while_it_runs() {
    let (_dir, mut config) = config();
    let authority = Authority::create("example", Validity::days(9)).unwrap();
    config.identity = authority.issue(NodeId(1), Validity::days(2)).unwrap();
    let member = Member::join(config.clone()).await.unwrap();
    let before = member.status().certificate_until;
    let later = authority.issue(NodeId(1), Validity::days(5)).unwrap();
    assert_eq!(config.identity.good_until("example", NodeId(1)).unwrap(), before);
    member.renew(&later).unwrap();
    let after = member.status().certificate_until;
    assert!(after > before && after == later.good_until("example", NodeId(1)).unwrap());
    let now = SystemTime::now();
    let past = Validity { from: now - 2 * Config::RESIGN_HOLD, until: now - Config::RESIGN_HOLD };
    for (wrong, words) in [
        (authority.issue(NodeId(2), Validity::days(1)).unwrap(), "node-1.example"),
        (authority.issue(NodeId(1), past).unwrap(), "it has expired"),
        (
            Identity {
                ca: later.ca.clone(),
                cert: "nothing".to_owned(),
                key: later.key.clone(),
                revoked: None,
            },
            "no certificate",
        ),
    ] {
        assert_eq!(
            member.renew(&wrong).unwrap_err().to_string(),
            wrong.good_until("example", NodeId(1)).unwrap_err().to_string()
        );
        assert!(member.renew(&wrong).unwrap_err().to_string().contains(words));
    }
    assert_eq!(member.status().certificate_until, after, "what is wrong changes nothing");
    member.leave().await;
}

#[test]
fn the_work_of_a_leader_may_return_nothing_or_fail() {
    assert_eq!(().failure(), None);
    assert_eq!(Ok::<_, String>(1).failure(), None);
    assert_eq!(Err::<(), _>("no disk").failure().as_deref(), Some("no disk"));
}

/// Makes a configuration one that cannot be.
type Spoil = fn(&mut Config);

/// What cannot be is refused whoever says it, in words that name the field, what was found and what was expected.
#[tokio::test]
async fn a_configuration_that_cannot_be_is_refused_before_anything_is_written() {
    let (dir, good) = config();
    assert!(good.problems().is_empty());
    let bad: [(Spoil, &str); 13] = [
        (|c| c.cluster = "A b".to_owned(), "cluster: the cluster's name \"A b\" has characters other than"),
        (|c| c.id = NodeId(0), "id: found 0, expected a number from 1 on"),
        (|c| c.protocol = Protocol::Mmrt, "protocol: found mmrt, which is for the laboratory only: "),
        (|c| c.heartbeat = Duration::ZERO, "heartbeat: found 0s, expected at least 1ms"),
        (
            |c| c.timeout = c.heartbeat * (Config::HEARTBEATS_IN_TIMEOUT - 1),
            "timeout: found 100ms, expected at least 3 times the heartbeat, which is 50ms",
        ),
        (
            |c| c.heartbeat = Duration::MAX,
            "timeout: found 250ms, expected at least 3 times the heartbeat, which is",
        ),
        (|c| c.priority = Config::PRIORITY_MAX + 1, "priority: found 1001, expected at most 1000"),
        (
            |c| (c.priority, c.protocol) = (1, Protocol::Lfa),
            "priority: found 1, expected 0 with lfa: only fjr heeds",
        ),
        (
            |c| (c.preempt, c.protocol) = (Some(Duration::ZERO), Protocol::Lfa),
            "preempt: found 0s, expected none with lfa",
        ),
        (
            |c| c.min_peers = Some(1),
            "min_peers: found 1, expected at most 0, which is how many others are listed",
        ),
        (|c| c.peers = Peers::Named(Vec::new()), "peers: found no names, expected one at least"),
        (
            |c| c.peers = Peers::Named(vec!["here".to_owned()]),
            "peers: found \"here\", expected a host and a port",
        ),
        (
            |c| c.peers = Peers::Listed([1, 2].map(|id| (NodeId(id), "a:1".to_owned())).into()),
            "peers: found \"a:1\" for node 1 and for node 2, expected an address for each",
        ),
    ];
    for (spoil, words) in bad {
        let mut config = good.clone();
        spoil(&mut config);
        let error = refused(config.clone()).await;
        assert!(error.to_string().starts_with(words) && error.is_bad_input(), "{error}");
        let JoinError::Config(found) = error else { panic!("{error}") };
        assert_eq!(config.problems(), [found]);
    }
    let mut worse = good;
    (worse.heartbeat, worse.timeout) = (Config::HEARTBEAT_MIN / 2, Config::HEARTBEAT_MIN);
    let (found, heartbeat) = (worse.timeout, worse.heartbeat);
    let both = [BadConfig::Heartbeat { found: heartbeat }, BadConfig::Timeout { found, heartbeat }];
    assert_eq!(worse.problems(), both, "all is told");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_is_not_said_has_a_default() {
    let (_dir, config) = config();
    assert_eq!((config.heartbeat, config.timeout), (Config::HEARTBEAT, Config::TIMEOUT));
    assert_eq!((config.resign_hold, config.release_timeout), (Config::RESIGN_HOLD, Config::RELEASE_TIMEOUT));
}

/// The other is not there, and nobody has led yet.
#[tokio::test]
async fn a_member_that_waits_for_no_peers_leads_alone() {
    let (_dir, mut configs) = loopback::configs(2).unwrap();
    let mut config = configs.remove(0);
    config.min_peers = Some(0);
    let member = Member::join(config).await.unwrap();
    timeout(PATIENCE, member.campaign()).await.expect("it leads soon").unwrap();
}

/// A program that opens many files itself knows what to leave.
#[test]
fn a_member_says_how_many_descriptors_it_needs() {
    let (_dir, mut configs) = loopback::configs(3).unwrap();
    let Descriptors { least, most, .. } = Member::descriptors(&configs.remove(0));
    assert!(least < most && most < 64, "{least} to {most}");
}

/// Nothing is public that no program here needs.
#[test]
fn every_public_item_is_used_by_an_example_or_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let used: BTreeSet<String> = ["examples", "tests"]
        .iter()
        .flat_map(|dir| texts(&root.join(dir)))
        .flat_map(|text| words(&text))
        .collect();
    let public: BTreeSet<String> =
        texts(&root.join("src")).iter().flat_map(|text| public_items(text)).collect();
    assert!(public.contains("Member") && public.contains("campaign") && public.contains("HISTORY_MAX"));
    let unused: Vec<_> = public.difference(&used).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// The names of what a file declares as `pub`, its tests left out.
fn public_items(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let item = |line: &str| {
        let rest = line.trim_start().strip_prefix("pub ")?.trim_start_matches("async ");
        let (kind, rest) = rest.split_once(' ')?;
        let is_item = ["fn", "struct", "enum", "const", "type", "trait"].contains(&kind);
        is_item.then(|| words(rest).into_iter().next()).flatten()
    };
    text.lines().filter_map(item).collect()
}

fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The text of every file below a directory.
fn texts(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { texts(&path) } else { vec![fs::read_to_string(path).unwrap()] })
        .collect()
}
