//! Workers, and the views that they are told of.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use bellwether_rain::code::Code;
use bellwether_rain::collect::{Incomplete, collect};
use bellwether_rain::deal::deal;
use bellwether_rain::fractal;
use bellwether_rain::image::Canvas;
use bellwether_rain::job::{Job, Place};
use bellwether_rain::notice::{Notice, View};
use bellwether_rain::picture::{Picture, Tile};
use bellwether_rain::report::Report;
use bellwether_rain::rows::{Inventory, Rows};
use bellwether_rain::task::Task;
use bellwether_rain::wire::{self, Answer, Request, Secret};
use bellwether_rain::worker::{self, Config};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Nothing takes so long; what does will never come.
const DEADLINE: Duration = Duration::from_secs(30);
const SECRET: Secret = Secret([7; 16]);

pub(crate) fn place(row: u32) -> Place {
    Place { tile: Tile(0), row }
}

/// Some workers.
pub(crate) struct Crew {
    job: Job,
    grace: Duration,
    home: TempDir,
    addresses: BTreeMap<u32, SocketAddr>,
    workers: BTreeMap<u32, Worker>,
    reports: mpsc::UnboundedReceiver<(u32, Report)>,
    sender: mpsc::UnboundedSender<(u32, Report)>,
    heard: Vec<(u32, Report)>,
}

struct Worker {
    notices: mpsc::Sender<Notice>,
    task: JoinHandle<()>,
}

/// What a recovery came to.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) rows: u32,
    pub(crate) lost: u32,
    pub(crate) replaced: u32,
}

impl Crew {
    /// However busy the machine is, a row counts when all members that are not known to have failed keep it.
    pub(crate) async fn start(nodes: u32, data: u32, size: (u32, u32)) -> Self {
        Self::start_with_grace(DEADLINE, nodes, data, size).await
    }

    pub(crate) async fn start_with_grace(
        grace: Duration,
        nodes: u32,
        data: u32,
        (width, height): (u32, u32),
    ) -> Self {
        let job =
            Job { picture: Picture::new(width, height).unwrap(), code: Code::new(nodes, data).unwrap() };
        let (sender, reports) = mpsc::unbounded_channel();
        let mut crew = Self {
            job,
            grace,
            home: tempfile::tempdir().unwrap(),
            addresses: BTreeMap::new(),
            workers: BTreeMap::new(),
            reports,
            sender,
            heard: Vec::new(),
        };
        let mut listeners = Vec::new();
        for node in job.nodes() {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            crew.addresses.insert(node, listener.local_addr().unwrap());
            listeners.push((node, listener));
        }
        for (node, listener) in listeners {
            crew.run(node, listener);
        }
        crew
    }

    fn run(&mut self, node: u32, listener: TcpListener) {
        let config = Config {
            job: self.job,
            node,
            peers: self.addresses.clone(),
            secret: SECRET,
            dir: self.dir(node),
            pace: 300.0,
            grace: self.grace,
        };
        let ((notices, inbox), sender) = (mpsc::channel(8), self.sender.clone());
        let report = move |report| drop(sender.send((node, report)));
        let task = tokio::spawn(async move { worker::run(config, listener, inbox, report).await.unwrap() });
        self.workers.insert(node, Worker { notices, task });
    }

    /// Ends a worker in the middle of what it does; its disk stays.
    pub(crate) fn kill(&mut self, node: u32) {
        self.workers.remove(&node).unwrap().task.abort();
    }

    /// From now on a worker cannot write: where it would, there is a directory.
    pub(crate) fn break_disk(&self, node: u32) {
        let place = self.dir(node).join("new");
        // It may be writing there at this moment.
        while fs::create_dir_all(&place).is_err() {}
    }

    pub(crate) fn mend_disk(&self, node: u32) {
        fs::remove_dir(self.dir(node).join("new")).unwrap();
    }

    pub(crate) async fn revive(&mut self, node: u32) {
        let address = self.addresses[&node];
        let mut bound = TcpListener::bind(address).await;
        while bound.is_err() {
            // The one before lets go of its address as soon as the runtime gets to it.
            tokio::task::yield_now().await;
            bound = TcpListener::bind(address).await;
        }
        self.run(node, bound.unwrap());
        let starts = self.starts(node).count();
        while self.starts(node).count() == starts {
            self.hear().await;
        }
    }

    /// A new view, led by its first member; it is in service when this returns.
    pub(crate) async fn view(&self, number: u64, members: &[u32], failed: &[u32], readmitted: &[u32]) {
        let view = View { number, leader: members[0], members: members.to_vec() };
        let task = self.recover(number, members, failed, readmitted).await;
        let task = timeout(DEADLINE, task).await.expect("recovery ends").unwrap().unwrap();
        for member in members {
            self.tell(*member, Notice::InService { view: view.clone(), task: task.clone() }).await;
        }
    }

    /// A view that some of its members do not hear of, and that nobody had to recover.
    pub(crate) async fn view_without_telling(&self, number: u64, members: &[u32], but: &[u32]) {
        let view = View { number, leader: members[0], members: members.to_vec() };
        let plan = deal(&self.job, &Inventory::none(&self.job.picture), members, &BTreeMap::new());
        let task = Task { readmitted: Vec::new(), plan }.encode();
        for member in members.iter().filter(|member| !but.contains(member)) {
            self.tell(*member, Notice::InService { view: view.clone(), task: task.clone() }).await;
        }
    }

    /// Asks a worker until it holds so many shards.
    pub(crate) async fn wait_until_holding(&self, node: u32, count: u32) {
        let holds = async {
            loop {
                if let Ok(Answer::Have { rows, .. }) = self.ask(node, &Request::Have { view: 0 }).await
                    && rows.iter().map(|rows| rows.count()).sum::<u32>() >= count
                {
                    return;
                }
            }
        };
        timeout(DEADLINE, holds).await.expect("it gets them");
    }

    /// Has the first member recover a new view; what comes of it.
    pub(crate) async fn recover(
        &self,
        number: u64,
        members: &[u32],
        failed: &[u32],
        readmitted: &[u32],
    ) -> oneshot::Receiver<Result<Vec<u8>, String>> {
        let view = View { number, leader: members[0], members: members.to_vec() };
        let (reply, task) = oneshot::channel();
        let (failed, readmitted) = (failed.to_vec(), readmitted.to_vec());
        self.tell(members[0], Notice::Recover { view, failed, readmitted, reply }).await;
        task
    }

    pub(crate) async fn out_of_service(&self, node: u32) {
        self.tell(node, Notice::OutOfService).await;
    }

    pub(crate) async fn dead(&self, node: u32) {
        self.tell(node, Notice::Dead).await;
    }

    async fn tell(&self, node: u32, notice: Notice) {
        self.workers[&node].notices.send(notice).await.unwrap();
    }

    /// Waits until so many rows are safe, by all that was ever told.
    pub(crate) async fn wait_until_safe(&mut self, count: usize) {
        while self.safe().len() < count {
            self.hear().await;
        }
    }

    /// Waits until somebody has told that.
    pub(crate) async fn wait_for(&mut self, is: impl Fn(u32, &Report) -> bool) {
        while !self.heard.iter().any(|(node, report)| is(*node, report)) {
            self.hear().await;
        }
    }

    /// Waits until each of these has a row that it has computed, and that is not safe.
    pub(crate) async fn wait_until_in_hand(&mut self, nodes: &[u32]) {
        self.hear_what_was_told();
        while !nodes.iter().all(|node| self.has_in_hand(*node)) {
            self.hear().await;
        }
    }

    fn has_in_hand(&self, node: u32) -> bool {
        let latest = self.heard.iter().rev().find(|(from, report)| {
            *from == node && matches!(report, Report::Computed { .. } | Report::Safe { .. })
        });
        latest.is_some_and(|(_, report)| matches!(report, Report::Computed { .. }))
    }

    /// How often that has been told.
    pub(crate) fn count(&self, is: impl Fn(u32, &Report) -> bool) -> usize {
        self.heard.iter().filter(|(node, report)| is(*node, report)).count()
    }

    async fn hear(&mut self) {
        let report = timeout(DEADLINE, self.reports.recv()).await.expect("something happens");
        self.heard.push(report.unwrap());
    }

    fn hear_what_was_told(&mut self) {
        while let Ok(report) = self.reports.try_recv() {
            self.heard.push(report);
        }
    }

    fn safe(&self) -> BTreeSet<Place> {
        let told = self.heard.iter().filter_map(|(_, report)| match report {
            Report::Safe { place, .. } => Some(vec![*place]),
            Report::Recovered { known, .. } => Some(places(known)),
            _ => None,
        });
        told.flatten().collect()
    }

    /// How often a row was computed that had been computed before.
    pub(crate) fn recomputed(&self) -> usize {
        let computed = self.heard.iter().filter_map(|(_, report)| match report {
            Report::Computed { place } => Some(*place),
            _ => None,
        });
        computed.clone().count() - computed.collect::<BTreeSet<_>>().len()
    }

    /// The rows that a worker computed though it had done so before.
    pub(crate) fn computed_twice_by_one(&self) -> Vec<(u32, Place)> {
        let mut seen = BTreeSet::new();
        let computed = self.heard.iter().filter_map(|(node, report)| match report {
            Report::Computed { place } => Some((*node, *place)),
            _ => None,
        });
        computed.filter(|one| !seen.insert(*one)).collect()
    }

    pub(crate) fn recovered(&mut self, number: u64) -> Recovered {
        self.hear_what_was_told();
        let found = self.heard.iter().find_map(|(_, report)| match report {
            Report::Recovered { view, rows, lost, replaced, .. } if *view == number => {
                Some(Recovered { rows: *rows, lost: *lost, replaced: *replaced })
            }
            _ => None,
        });
        found.expect("it was told")
    }

    /// How many shards a worker's disk had when it was last started.
    pub(crate) fn held_at_start(&self, node: u32) -> u32 {
        self.starts(node).last().expect("it was started")
    }

    fn starts(&self, node: u32) -> impl Iterator<Item = u32> {
        self.heard.iter().filter_map(move |(from, report)| match report {
            Report::Up { held } if *from == node => Some(*held),
            _ => None,
        })
    }

    /// Who noticed that it was dead.
    pub(crate) fn deaths(&self) -> Vec<u32> {
        self.heard.iter().filter(|(_, report)| *report == Report::Dead).map(|(node, _)| *node).collect()
    }

    pub(crate) fn trouble(&self) -> BTreeSet<String> {
        let trouble = self.heard.iter().filter_map(|(_, report)| match report {
            Report::Trouble { what } | Report::RecoveryFailed { why: what, .. } => Some(what.clone()),
            _ => None,
        });
        trouble.collect()
    }

    pub(crate) async fn collect(&self) -> Result<Canvas, Incomplete> {
        collect(&self.job, SECRET, &self.addresses).await
    }

    /// The picture, computed here and now.
    pub(crate) fn expected(&self) -> Canvas {
        let mut canvas = Canvas::new(self.job.picture);
        for tile in self.job.picture.tiles() {
            for row in 0..self.job.picture.tile_height(tile) {
                canvas.put(Place { tile, row }, &fractal::row(&self.job.picture, tile, row));
            }
        }
        canvas
    }

    /// Asks a worker as a peer would.
    pub(crate) async fn ask(&self, node: u32, request: &Request) -> io::Result<Answer> {
        let frame = [&self.secret(), &*wire::encode(request).unwrap()].concat();
        let mut stream = TcpStream::connect(self.addresses[&node]).await?;
        stream.write_all(&frame).await?;
        let mut head = [0; 4];
        timeout(DEADLINE, stream.read_exact(&mut head)).await??;
        let mut body = vec![0; wire::body_len(head).unwrap()];
        timeout(DEADLINE, stream.read_exact(&mut body)).await??;
        Ok(wire::decode(&body).unwrap())
    }

    /// Sends a worker any bytes, and gives what it answers until it ends the connection.
    pub(crate) async fn send_raw(&self, node: u32, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.addresses[&node]).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        // A connection that is reset has ended as well.
        let _ = timeout(DEADLINE, stream.read_to_end(&mut answer)).await.expect("it ends");
        answer
    }

    pub(crate) fn job(&self) -> Job {
        self.job
    }

    pub(crate) fn secret(&self) -> [u8; 16] {
        SECRET.0
    }

    pub(crate) fn dir(&self, node: u32) -> PathBuf {
        self.home.path().join(node.to_string())
    }
}

fn places(known: &[Rows]) -> Vec<Place> {
    let tiles = (0..).map(Tile).zip(known);
    tiles.flat_map(|(tile, rows)| rows.iter().map(move |row| Place { tile, row })).collect()
}
