//! etcd: clusters of three, on loopback.

use std::time::Duration;

use bellwether::arbiter::conformance::passes;
use bellwether::arbiter::{Arbiter, Etcd, EtcdConfig, Kept, Trouble};
use bellwether::elections::{Lost, State};

use super::etcd_servers::{self, Etcd as Servers};
use super::{Links, bench, campaigns, goes_on, held, is_wanted, name, soon, waits};

/// The shortest that etcd grants.
const TTL: Duration = Duration::from_secs(2);

fn config(endpoints: Vec<String>) -> EtcdConfig {
    let mut config = EtcdConfig::new(endpoints);
    config.ttl = TTL;
    config
}

fn engine(endpoints: Vec<String>) -> Etcd {
    Etcd::new(config(endpoints)).expect("they are endpoints")
}

async fn open(servers: &Servers) -> Kept<Etcd> {
    let endpoints = servers.clients().iter().map(ToString::to_string).collect();
    Kept::open(engine(endpoints)).await.expect("it is there")
}

#[tokio::test]
async fn etcd_passes() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let servers = Servers::start();
    let mut benches = Vec::new();
    for _ in 0..3 {
        benches.push(bench(Links::to(servers.clients()).await, engine).await);
    }
    passes(&benches.try_into().unwrap_or_else(|_| unreachable!("there are three"))).await;
}

#[tokio::test]
async fn its_own_tools_see_ours_and_we_see_theirs() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let servers = Servers::start();
    let arbiter = open(&servers).await;
    // Theirs first: it holds the lock until its process is told to end.
    let mut theirs = servers.runs(&["lock", "bellwether/backup", "--ttl", "2"]);
    let (key, _) = theirs.until("bellwether/backup/");
    let mut ours = campaigns(&arbiter, "backup").await;
    waits(&mut *ours, 0).await;
    let seen = arbiter.read(name("backup")).await.unwrap().expect("it is held");
    assert_eq!(
        seen.holder.map(|holder| format!("bellwether/backup/{}", holder.session)).as_deref(),
        Some(key.trim_end())
    );
    theirs.interrupt();
    let token = held(&mut *ours).await;
    assert!(token > seen.token);

    // Ours first: they wait for it, and are in line.
    let mut theirs = servers.runs(&["lock", "bellwether/backup", "--ttl", "2"]);
    let mut observer = arbiter.observe(&name("backup"));
    soon("it is in line", async {
        while observer.next().await.flatten().is_none_or(|seen| seen.waiting == 0) {}
    })
    .await;
    let listens =
        servers.ctl().args(["elect", "-l", "bellwether/backup"]).stdout(std::process::Stdio::piped()).spawn();
    let mut listens = listens.expect("etcdctl runs");
    let mut lines =
        std::io::BufRead::lines(std::io::BufReader::new(listens.stdout.take().expect("it is piped")));
    let said: Vec<_> = (&mut lines).take(2).map(|line| line.expect("it is text")).collect();
    let _ = (listens.kill(), listens.wait());
    assert!(said[0].starts_with("bellwether/backup/") && said[1] == "for backup", "{said:?}");
    soon("it is given back", ours.release()).await.unwrap();
    theirs.until("bellwether/backup/");

    // A candidate of theirs that is killed: its lease runs out.
    let mut next = campaigns(&arbiter, "backup").await;
    waits(&mut *next, 0).await;
    drop(theirs);
    assert!(held(&mut *next).await > token);
    let mut candidate = servers.runs(&["elect", "bellwether/backup", "them"]);
    soon("it is in line", async {
        while observer.next().await.flatten().is_none_or(|seen| seen.waiting == 0) {}
    })
    .await;
    drop(next);
    candidate.until("bellwether/backup/");
    let seen = arbiter.read(name("backup")).await.unwrap().expect("it is held");
    assert_eq!(*seen.value, *b"them");
}

#[tokio::test]
async fn a_holder_goes_on_while_members_die_and_stop() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let mut servers = Servers::start();
    let mut arbiters = [open(&servers).await, open(&servers).await];
    let mut ours = campaigns(&arbiters[0], "backup").await;
    let mut token = held(&mut *ours).await;
    let mut other = campaigns(&arbiters[1], "backup").await;
    waits(&mut *other, 0).await;
    for no in 0..3 {
        servers.kill(no);
        // If etcd needed longer for its next leader than the lease lasts, another holds the name by now, and nobody beside it.
        still_one(&mut ours, &mut other, &mut arbiters, &mut token).await;
        servers.restart(no);
        still_one(&mut ours, &mut other, &mut arbiters, &mut token).await;
        servers.process(no).stop();
        still_one(&mut ours, &mut other, &mut arbiters, &mut token).await;
        servers.process(no).cont();
        still_one(&mut ours, &mut other, &mut arbiters, &mut token).await;
    }
}

type Ours = Box<dyn bellwether::arbiter::Campaign>;

/// One of two holds the name, and goes on to. If it is the other one, they change places.
async fn still_one(one: &mut Ours, two: &mut Ours, arbiters: &mut [Kept<Etcd>; 2], token: &mut u64) {
    let holder = soon("one of them holds it", async {
        loop {
            match (one.sight().valid_until(), two.sight().valid_until()) {
                (Some(_), Some(_)) => panic!("both may act"),
                (Some(_), None) => return 0,
                (None, Some(_)) => return 1,
                (None, None) => {}
            }
            tokio::select! {
                () = one.changed() => {}
                () = two.changed() => {}
            }
        }
    })
    .await;
    if holder == 1 {
        std::mem::swap(one, two);
        arbiters.swap(0, 1);
    }
    let now = held(&mut **one).await;
    assert!(now >= *token, "{now} after {token}");
    *token = now;
}

#[tokio::test]
async fn a_lease_that_ends_takes_the_names_with_it() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let servers = Servers::start();
    let arbiter = open(&servers).await;
    let mut ours = campaigns(&arbiter, "backup").await;
    let token = held(&mut *ours).await;
    let seen = arbiter.read(name("backup")).await.unwrap().expect("it is held");
    let lease = seen.holder.expect("it is held").session;
    assert!(servers.ctl().args(["lease", "revoke", &lease]).status().unwrap().success());
    assert!(held_after(&mut ours, token).await > token, "it holds it again, in another session");
    // A key that somebody deletes is lost at once.
    let token = held(&mut *ours).await;
    assert!(servers.ctl().args(["del", "--prefix", "bellwether/backup/"]).status().unwrap().success());
    assert!(held_after(&mut ours, token).await > token, "it got in line again");
}

/// Until it has lost what it held with that token, and holds it again.
async fn held_after(campaign: &mut Ours, token: u64) -> u64 {
    let sight = campaign.sight();
    soon("it is lost", async {
        while sight.state() == (State::Held { token }) {
            campaign.changed().await;
        }
        if let State::Waiting { lost, .. } = sight.state() {
            assert!(matches!(lost, None | Some(Lost::Lease | Lost::Replaced)));
        }
    })
    .await;
    held(&mut **campaign).await
}

#[tokio::test]
async fn history_that_is_gone_is_not_needed() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let servers = Servers::start();
    let links = Links::to(servers.clients()).await;
    let cut = bench(links, engine).await;
    let other = open(&servers).await;
    let mut ours = campaigns(&*cut.arbiter, "backup").await;
    held(&mut *ours).await;
    let mut waits_here = campaigns(&*cut.arbiter, "other").await;
    held(&mut *waits_here).await;
    cut.link.cut();
    drop(ours);
    let mut next = campaigns(&other, "backup").await;
    let token = held(&mut *next).await;
    assert!(servers.ctl().args(["compact", &token.to_string()]).status().unwrap().success());
    cut.link.heal();
    let mut observer = cut.arbiter.observe(&name("backup"));
    soon("it is seen", async {
        while observer.next().await.flatten().is_none_or(|seen| seen.token != token) {}
    })
    .await;
    held(&mut *waits_here).await;
}

#[tokio::test]
async fn an_engine_that_is_full_lets_holders_go_on_and_go() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let servers = Servers::start_with(&["--quota-backend-bytes", "2000000"]);
    let arbiter = open(&servers).await;
    let mut ours = campaigns(&arbiter, "backup").await;
    let token = held(&mut *ours).await;
    let bulk = "x".repeat(100_000);
    let is_full = (0..60).any(|no| {
        let put = servers.ctl().args(["put", &format!("bulk-{no}"), &bulk]).output().expect("etcdctl runs");
        !put.status.success()
    });
    assert!(is_full, "it takes all");
    goes_on(&mut *ours, token, 3).await;
    let mut next = campaigns(&arbiter, "next").await;
    soon("it is given back", ours.release()).await.unwrap();
    assert!(matches!(next.sight().state(), State::Waiting { before: None, .. }), "nothing is written");
    let ctl =
        |words: &[&str]| assert!(servers.ctl().args(words).output().unwrap().status.success(), "{words:?}");
    ctl(&["del", "--prefix", "bulk-"]);
    let at = arbiter.read(name("backup")).await.unwrap().map_or(0, |seen| seen.token);
    ctl(&["compact", &(at + 1).to_string()]);
    ctl(&["defrag"]);
    ctl(&["alarm", "disarm"]);
    assert!(held(&mut *next).await > token);
}

#[tokio::test]
async fn what_cannot_be_is_said_at_once() {
    if !is_wanted(etcd_servers::is_there) {
        return;
    }
    let servers = Servers::start();
    let endpoints = || servers.clients().iter().map(ToString::to_string).collect::<Vec<_>>();
    let refused = |config: EtcdConfig| async move {
        match Etcd::new(config) {
            Ok(etcd) => soon("it is said", Kept::open(etcd)).await.expect_err("it cannot be"),
            Err(trouble) => trouble,
        }
    };
    let none = refused(config(Vec::new())).await;
    assert!(
        none.is_bad_input() && none.to_string() == "endpoints: found none, expected one at least",
        "{none}"
    );
    let odd = refused(config(vec!["ftp://here:1".to_owned()])).await;
    assert!(odd.is_bad_input(), "{odd}");
    let nobody = refused(config(vec!["127.0.0.1:1".to_owned()])).await;
    assert!(matches!(&nobody, Trouble::Unreachable { at, .. } if at == "127.0.0.1:1"), "{nobody}");
    assert!(!nobody.is_bad_input());

    let ctl =
        |words: &[&str]| assert!(servers.ctl().args(words).output().unwrap().status.success(), "{words:?}");
    ctl(&["user", "add", "root:secret"]);
    ctl(&["user", "grant-role", "root", "root"]);
    ctl(&["user", "add", "limited:secret"]);
    ctl(&["auth", "enable"]);
    let with = |user: &str, password: &str| {
        let mut config = config(endpoints());
        config.user = Some((user.to_owned(), password.to_owned()));
        config
    };
    let wrong = refused(with("root", "wrong")).await;
    assert!(wrong.is_bad_input() && wrong.to_string().contains("authentication failed"), "{wrong}");
    let nobody = refused(config(endpoints())).await;
    assert!(nobody.is_bad_input(), "{nobody}");
    let arbiter = Kept::open(Etcd::new(with("root", "secret")).unwrap()).await.expect("it is right");
    let mut ours = campaigns(&arbiter, "backup").await;
    held(&mut *ours).await;
    // Whoever may do nothing is told when it is opened or read, and not only in a log.
    match Kept::open(Etcd::new(with("limited", "secret")).unwrap()).await {
        Err(trouble) => assert!(trouble.is_bad_input(), "{trouble}"),
        Ok(arbiter) => {
            let denied = arbiter.read(name("backup")).await.expect_err("it may not");
            assert!(denied.to_string().contains("permission denied"), "{denied}");
        }
    }
}
