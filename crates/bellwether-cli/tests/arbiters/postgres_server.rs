//! A PostgreSQL server on loopback, as its package has it, and a pooler before it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nix::unistd::{Gid, Uid, User};
use tempfile::TempDir;

use super::cluster::{Process, wait_until};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server with a database `postgres` and two users: `tests` needs no password, `guarded` has the password `secret`.
pub(crate) struct Server {
    address: SocketAddr,
    process: Option<Process>,
    dir: TempDir,
}

fn program(name: &str) -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<_> =
        versions.filter_map(|version| Some(version.ok()?.path().join("bin").join(name))).collect();
    found.retain(|path| path.exists());
    found.sort();
    found.pop()
}

/// Whether there is such a server here.
pub(crate) fn is_there() -> bool {
    program("initdb").is_some() && program("postgres").is_some() && Path::new("/usr/sbin/pgbouncer").exists()
}

fn free() -> SocketAddr {
    let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    held.local_addr().expect("it is bound")
}

/// No server runs as root.
fn as_nobody(command: &mut Command) -> &mut Command {
    if Uid::effective().is_root() {
        let (user, group) = nobody();
        command.uid(user.as_raw()).gid(group.as_raw());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn nobody() -> (Uid, Gid) {
    let user = User::from_name("postgres").ok().flatten().expect("the package makes this user");
    (user.uid, user.gid)
}

fn give_away(path: &Path) {
    if Uid::effective().is_root() {
        let (user, group) = nobody();
        chown(path, Some(user.as_raw()), Some(group.as_raw())).expect("root may");
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("bellwether-pg-").tempdir().expect("there is room");
        give_away(dir.path());
        let data = dir.path().join("data");
        let mut init = Command::new(program("initdb").expect("it is installed"));
        init.args(["-A", "trust", "-U", "tests", "--no-sync", "-D"]).arg(&data).current_dir(dir.path());
        assert!(as_nobody(&mut init).status().expect("initdb runs").success(), "initdb failed");
        let rules = data.join("pg_hba.conf");
        let others = fs::read_to_string(&rules).expect("initdb wrote it");
        let guarded = "host all guarded 127.0.0.1/32 scram-sha-256\n";
        fs::write(&rules, format!("{guarded}{others}")).expect("there is room");
        let mut server = Self { address: free(), process: None, dir };
        server.resume();
        server.sql("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'secret'");
        server
    }

    /// Where it is asked.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it again.
    pub(crate) fn resume(&mut self) {
        let mut command = Command::new(program("postgres").expect("it is installed"));
        command.arg("-D").arg(self.dir.path().join("data")).current_dir(self.dir.path());
        command.arg("-k").arg(self.dir.path()).args(["-c", "listen_addresses=127.0.0.1", "-p"]);
        command.arg(self.address.port().to_string());
        self.process = Some(Process::start(as_nobody(&mut command)));
        assert!(wait_until(PATIENCE, || self.psql("SELECT 1").status.success()), "it does not answer");
    }

    /// Kills it, and everything that it had in memory.
    pub(crate) fn crash(&mut self) {
        self.process = None;
    }

    pub(crate) fn psql(&self, sql: &str) -> Output {
        let mut psql = Command::new("psql");
        psql.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-U",
            "tests",
            "-d",
            "postgres",
            "-p",
        ]);
        psql.arg(self.address.port().to_string()).args(["-c", sql]).output().expect("psql runs")
    }

    /// Does that; what it says.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let said = self.psql(sql);
        assert!(said.status.success(), "{sql}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }
}

/// A pooler that gives every transaction another connection.
pub(crate) struct Pooler {
    address: SocketAddr,
    _process: Process,
    _dir: TempDir,
}

impl Pooler {
    pub(crate) fn before(server: &Server) -> Self {
        let dir = tempfile::Builder::new().prefix("bellwether-pool-").tempdir().expect("there is room");
        let (address, to) = (free(), server.address());
        let file = dir.path().join("pgbouncer.ini");
        let settings = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user=tests\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 5\nserver_lifetime = 1\n",
            to.port(),
            address.port()
        );
        fs::write(&file, settings).expect("there is room");
        give_away(dir.path());
        give_away(&file);
        let mut command = Command::new("/usr/sbin/pgbouncer");
        let process = Process::start(as_nobody(command.arg(&file).current_dir(dir.path())));
        let answers = || std::net::TcpStream::connect(address).is_ok();
        assert!(wait_until(PATIENCE, answers), "the pooler does not answer");
        Self { address, _process: process, _dir: dir }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
