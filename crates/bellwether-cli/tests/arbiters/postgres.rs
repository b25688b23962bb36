//! PostgreSQL: one server on loopback.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use bellwether::arbiter::conformance::passes;
use bellwether::arbiter::{Arbiter, Kept, Postgres, PostgresConfig, Trouble};
use bellwether::elections::State;

use super::postgres_server::{self, Pooler, Server};
use super::{Links, bench, campaigns, goes_on, held, is_wanted, name, soon, waits};

const TTL: Duration = Duration::from_secs(2);

fn engine(address: &str) -> Postgres {
    let mut config = PostgresConfig::new(format!("postgres://tests@{address}/postgres"));
    config.ttl = TTL;
    Postgres::new(&config).expect("that is an address")
}

/// A server with the schema.
async fn server() -> Server {
    let server = Server::start();
    let url = format!("postgres://tests@{}/postgres", server.address());
    let applied =
        Command::new(env!("CARGO_BIN_EXE_bellwether")).args(["arbiter", "init", "--url", &url]).status();
    assert!(applied.expect("it runs").success());
    engine(&server.address().to_string()).init().await.expect("it may be done again");
    server
}

async fn open(address: SocketAddr) -> Kept<Postgres> {
    Kept::open(engine(&address.to_string())).await.expect("it is there")
}

async fn all_pass(address: SocketAddr) {
    let mut benches = Vec::new();
    for _ in 0..3 {
        benches.push(bench(Links::to(&[address]).await, |at| engine(&at[0])).await);
    }
    passes(&benches.try_into().unwrap_or_else(|_| unreachable!("there are three"))).await;
}

#[tokio::test]
async fn postgres_passes() {
    if is_wanted(postgres_server::is_there) {
        all_pass(server().await.address()).await;
    }
}

/// No notification gets through, and every statement has another connection.
#[tokio::test]
async fn postgres_passes_behind_a_pooler() {
    if !is_wanted(postgres_server::is_there) {
        return;
    }
    let server = server().await;
    let pooler = Pooler::before(&server);
    all_pass(pooler.address()).await;
}

#[tokio::test]
async fn connections_that_are_cut_cost_nothing() {
    if !is_wanted(postgres_server::is_there) {
        return;
    }
    let server = server().await;
    let (one, two) = (open(server.address()).await, open(server.address()).await);
    let mut ours = campaigns(&one, "backup").await;
    let token = held(&mut *ours).await;
    let mut next = campaigns(&two, "backup").await;
    waits(&mut *next, 0).await;
    for _ in 0..3 {
        server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bellwether'",
        );
        goes_on(&mut *ours, token, 2).await;
    }
    soon("it is given back", ours.release()).await.unwrap();
    assert!(held(&mut *next).await > token);
}

#[tokio::test]
async fn a_server_that_crashes_gives_no_token_twice() {
    if !is_wanted(postgres_server::is_there) {
        return;
    }
    let mut server = server().await;
    let (one, two) = (open(server.address()).await, open(server.address()).await);
    let mut ours = campaigns(&one, "backup").await;
    let token = held(&mut *ours).await;
    server.crash();
    // Whoever holds it goes on until its validity is over, and no longer.
    let sight = ours.sight();
    soon("its validity ends", async {
        while sight.valid_until().is_some() {
            ours.changed_or(Duration::from_millis(20)).await;
        }
    })
    .await;
    server.resume();
    let mut next = campaigns(&two, "backup").await;
    let now = soon("one of them holds it", async {
        tokio::select! {
            token = held(&mut *ours) => token,
            token = held(&mut *next) => token,
        }
    })
    .await;
    assert!(now >= token, "{now} after {token}");
    drop(ours);
    assert!(held(&mut *next).await >= now);
    assert_eq!(
        server.sql("SELECT token FROM bellwether.elections WHERE name = 'backup'").parse::<u64>().unwrap(),
        held(&mut *next).await
    );
}

#[tokio::test]
async fn old_tokens_are_refused_in_the_transaction_that_writes() {
    if !is_wanted(postgres_server::is_there) {
        return;
    }
    let server = server().await;
    server.sql("CREATE TABLE rows (at bigserial, token bigint)");
    let arbiter = open(server.address()).await;
    let writes = |token: u64| {
        server.psql(&format!(
            "BEGIN; SELECT bellwether.fence('backup', {token}); INSERT INTO rows (token) VALUES ({token}); COMMIT"
        ))
    };
    let mut first = campaigns(&arbiter, "backup").await;
    let old = held(&mut *first).await;
    assert!(writes(old).status.success());
    drop(first);
    let mut second = campaigns(&arbiter, "backup").await;
    let new = held(&mut *second).await;
    assert!(writes(new).status.success() && new > old);
    let refused = writes(old);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is old"), "{refused:?}");
    assert_eq!(
        server.sql("SELECT string_agg(token::text, ',' ORDER BY at) FROM rows"),
        format!("{old},{new}")
    );
}

#[tokio::test]
async fn what_cannot_be_is_said_at_once() {
    if !is_wanted(postgres_server::is_there) {
        return;
    }
    let server = Server::start();
    let address = server.address();
    let refused = |url: String| async move {
        match Postgres::new(&PostgresConfig::new(url)) {
            Ok(postgres) => soon("it is said", Kept::open(postgres)).await.expect_err("it cannot be"),
            Err(trouble) => trouble,
        }
    };
    let odd = refused("odd".to_owned()).await;
    assert!(odd.is_bad_input(), "{odd}");
    let nobody = refused("postgres://tests@127.0.0.1:1/postgres".to_owned()).await;
    assert!(matches!(nobody, Trouble::Unreachable { .. }) && !nobody.is_bad_input(), "{nobody}");
    let url = |user: &str| format!("postgres://{user}@{address}/postgres");
    let empty = refused(url("tests")).await;
    assert!(empty.is_bad_input() && empty.to_string().contains("bellwether arbiter init"), "{empty}");
    engine(&address.to_string()).init().await.unwrap();
    let wrong = refused(url("guarded:wrong")).await;
    assert!(wrong.is_bad_input() && wrong.to_string().contains("password authentication failed"), "{wrong}");
    assert!(!wrong.to_string().contains("wrong@"), "what is secret is not shown: {wrong}");
    assert!(Kept::open(Postgres::new(&PostgresConfig::new(url("guarded:secret"))).unwrap()).await.is_ok());
    server.sql("UPDATE bellwether.version SET version = 2");
    let later = refused(url("tests")).await;
    assert!(later.is_bad_input() && later.to_string().contains("found version 2"), "{later}");
    server.sql("UPDATE bellwether.version SET version = 1");

    // A database that takes no writes any more: holders stop in time.
    let arbiter = open(address).await;
    let mut ours = campaigns(&arbiter, "backup").await;
    let token = held(&mut *ours).await;
    server.sql("ALTER SYSTEM SET default_transaction_read_only = on");
    server.sql("SELECT pg_reload_conf()");
    let sight = ours.sight();
    soon("its validity ends", async {
        while sight.valid_until().is_some() {
            ours.changed_or(Duration::from_millis(20)).await;
        }
    })
    .await;
    let read_only = refused(url("tests")).await;
    assert!(read_only.to_string().contains(&address.to_string()), "{read_only}");
    server.sql("ALTER SYSTEM RESET default_transaction_read_only");
    server.sql("SELECT pg_reload_conf()");
    assert!(held(&mut *ours).await >= token);
    assert_eq!(arbiter.read(name("backup")).await.unwrap().expect("it is held").waiting, 0);
    assert!(matches!(ours.sight().state(), State::Held { .. }));
}

/// Waits for a change, or not for long.
trait ChangedOr {
    async fn changed_or(&mut self, most: Duration);
}

impl ChangedOr for Box<dyn bellwether::arbiter::Campaign> {
    async fn changed_or(&mut self, most: Duration) {
        let _ = tokio::time::timeout(most, self.changed()).await;
    }
}
