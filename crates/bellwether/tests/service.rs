//! What a program may rely on whose members work in views: the leader of a view is told who failed and who is back, nobody
//! works before it has said what is to be done, and all who work do that.

#[path = "../examples/support/loopback.rs"]
mod loopback;

use std::fs;
use std::future::{Future, pending};
use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bellwether::proto::group::{PlanRequest, TASK_MAX};
use bellwether::reorganization::{Manager, Service};
use bellwether::{BadConfig, Config, JoinError, Member, NodeId, Peers, Protocol};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long managers may take; members are given no less to answer.
const MANAGED: Duration = Duration::from_millis(100);

/// Who was asked, about which members, who failed, and who was re-admitted.
type Asked = (u32, Vec<u32>, Vec<u32>, Vec<u32>);

/// A machine with one member: what runs on it ends when it is switched off.
struct Machine {
    config: Config,
    member: Member,
    switch: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Machine {
    fn start(config: Config, manager: Manager) -> Self {
        let (joined, member) = mpsc::channel();
        let (switch, switched_off) = oneshot::channel();
        let of_member = config.clone();
        let thread = thread::spawn(move || {
            runtime().block_on(async {
                joined.send(Member::join_as_manager(of_member, manager).await.unwrap()).unwrap();
                let _ = switched_off.await;
            });
        });
        let member = member.recv().expect("it joins");
        Self { config, member, switch: Some(switch), thread: Some(thread) }
    }

    /// Nobody is told: the kernel closes its connections.
    fn switch_off(self) -> Config {
        self.config.clone()
    }

    fn id(&self) -> u32 {
        self.config.id.0
    }

    /// Waits until the member is in service like that, or out of it.
    #[track_caller]
    fn wait_for(&self, what: &str, is_so: impl Fn(Option<&Service>) -> bool) -> Option<Service> {
        let mut services = self.member.service();
        let mut last = None;
        let so = soon(async {
            loop {
                last = services.current();
                if is_so(last.as_ref()) {
                    return true;
                }
                if !services.changed().await {
                    return false;
                }
            }
        });
        assert_eq!(so, Some(true), "node {}: not {what}, but {last:?}", self.id());
        last
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.switch.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))));
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// `None` if it takes too long.
fn soon<F: Future>(future: F) -> Option<F::Output> {
    runtime().block_on(async { timeout(PATIENCE, future).await }).ok()
}

fn configs(nodes: u32) -> (TempDir, Vec<Config>) {
    let (dir, mut configs) = loopback::configs(nodes).unwrap();
    configs.iter_mut().for_each(|config| config.protocol = Protocol::FbOmega);
    (dir, configs)
}

/// A machine whose manager notes what it is asked.
fn noted(config: Config, all: &Arc<Mutex<Vec<Asked>>>) -> Machine {
    let manager = noting(config.id.0, all);
    Machine::start(config, manager)
}

/// One that notes what it is asked, and has the members do as many things as it was asked for.
fn noting(me: u32, all: &Arc<Mutex<Vec<Asked>>>) -> Manager {
    let all = Arc::clone(all);
    Manager::new(MANAGED, move |request: PlanRequest| {
        let mut all = all.lock().unwrap();
        all.push(in_numbers(me, &request));
        let task = format!("task {} of node {me}", all.len());
        async move { Ok::<_, String>(task.into_bytes()) }
    })
}

fn in_numbers(manager: u32, request: &PlanRequest) -> Asked {
    let numbers = |ids: &[NodeId]| ids.iter().map(|id| id.0).collect();
    let members = request.members.iter().map(|member| member.node.0).collect();
    (manager, members, numbers(&request.failed), numbers(&request.readmitted))
}

/// Waits until all of these work in one view of just them, and says which.
#[track_caller]
fn wait_for_service(machines: &[Machine]) -> Service {
    let ids: Vec<NodeId> = machines.iter().map(|machine| machine.config.id).collect();
    let one = |machine: &Machine| {
        machine
            .wait_for("in service", |service| service.is_some_and(|service| service.members == ids))
            .expect("it is in service")
    };
    let all: Vec<Service> = machines.iter().map(one).collect();
    assert!(all.iter().all(|service| *service == all[0]), "{all:?}");
    all[0].clone()
}

fn task(service: &Service) -> &str {
    std::str::from_utf8(&service.task).unwrap()
}

#[test]
fn the_manager_hears_who_failed_and_who_is_back_and_all_do_what_it_says() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (_dir, configs) = configs(3);
    let start = |config: Config| noted(config, &asked);
    let mut machines: Vec<Machine> = configs.into_iter().map(start).collect();
    let service = wait_for_service(&machines);
    assert_eq!((service.leader, task(&service)), (NodeId(1), "task 1 of node 1"));

    let config = machines.remove(2).switch_off();
    let service = wait_for_service(&machines);
    assert_eq!(task(&service), "task 2 of node 1");
    machines.push(start(config));
    let service = wait_for_service(&machines);
    assert_eq!(task(&service), "task 3 of node 1");

    let config = machines.remove(0).switch_off();
    let service = wait_for_service(&machines);
    assert_eq!((service.leader, task(&service)), (NodeId(2), "task 4 of node 2"));
    machines.insert(0, start(config));
    let service = wait_for_service(&machines);
    assert_eq!((service.leader, task(&service)), (NodeId(2), "task 5 of node 2"), "who admits goes on");
    let all = || vec![1, 2, 3];
    assert_eq!(
        *asked.lock().unwrap(),
        [
            (1, all(), vec![], all()),
            (1, vec![1, 2], vec![3], vec![]),
            (1, all(), vec![], vec![3]),
            (2, vec![2, 3], vec![1], vec![]),
            (2, all(), vec![], vec![1]),
        ]
    );
}

#[test]
fn who_is_cut_off_has_no_service_until_it_is_admitted_again() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (_dir, configs) = configs(3);
    let start = |config: Config| noted(config, &asked);
    let mut machines: Vec<Machine> = configs.into_iter().map(start).collect();
    wait_for_service(&machines);
    let gone: Vec<Config> = machines.split_off(1).into_iter().map(Machine::switch_off).collect();
    machines[0].wait_for("out of service", |service| service.is_none());
    assert_eq!(machines[0].member.leader(), None);
    machines.extend(gone.into_iter().map(start));
    wait_for_service(&machines);
    // Who has left is in no view either, whatever its handles are kept for.
    let last = &machines[2];
    soon(last.member.leave()).expect("it leaves");
    assert_eq!(last.member.service().current(), None);
}

/// What node 1 does wrong in the end is not done, but logged; then node 2 leads all three.
#[track_caller]
fn is_followed_by_another(bad: Manager, logged: &str) -> (Vec<Machine>, TempDir) {
    capture_the_log();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (dir, configs) = configs(3);
    let mut managers = [bad, noting(2, &asked), noting(3, &asked)].into_iter();
    let start = |config| Machine::start(config, managers.next().unwrap());
    let machines: Vec<Machine> = configs.into_iter().map(start).collect();
    let service = wait_for_service(&machines);
    assert_eq!((service.leader, task(&service)), (NodeId(2), "task 1 of node 2"));
    let log = LOG.lock().unwrap();
    let told =
        String::from_utf8_lossy(&log).lines().any(|line| line.contains("ERROR") && line.contains(logged));
    assert!(told, "{logged}: {}", String::from_utf8_lossy(&log));
    (machines, dir)
}

#[test]
fn a_manager_that_errs_is_followed_by_another() {
    let bad = Manager::new(MANAGED, |_| async { Err::<Vec<u8>, _>("the shards are gone") });
    is_followed_by_another(bad, "could not be planned: the shards are gone");
}

#[test]
fn a_manager_that_says_too_much_is_followed_by_another() {
    let bad = Manager::new(MANAGED, |_| async { Ok::<_, String>(vec![7; TASK_MAX + 1]) });
    is_followed_by_another(bad, "could not be planned: a task description of 16385 bytes");
}

#[test]
fn a_manager_that_panics_is_followed_by_another() {
    let bad = Manager::new(MANAGED, |_| answer(async { panic!("nobody expected that") }));
    is_followed_by_another(bad, "could not be planned: it panicked: nobody expected that");
}

#[test]
fn a_manager_that_panics_before_it_begins_is_followed_by_another() {
    let bad =
        Manager::new(MANAGED, |_| -> std::future::Ready<Result<Vec<u8>, String>> { panic!("not at all") });
    is_followed_by_another(bad, "could not be planned: it panicked: not at all");
}

#[test]
fn a_manager_that_stalls_is_followed_by_another_and_stopped() {
    let (held, ended) = mpsc::channel::<()>();
    let mut held = Some(held);
    let bad = Manager::new(MANAGED, move |_| {
        let held = held.take();
        answer(async move {
            let _held = held;
            pending().await
        })
    });
    let _machines = is_followed_by_another(bad, "could not be planned: there was no answer in time");
    assert_eq!(ended.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected), "what it began has ended");
}

#[test]
fn members_that_views_cannot_have_are_refused_before_anything_is_written() {
    let (dir, configs) = configs(1);
    let join = |peers| {
        let mut config = configs[0].clone();
        config.peers = peers;
        soon(Member::join(config)).expect("it answers at once")
    };
    let many = (1..=129).map(|id| (NodeId(id), format!("127.0.0.1:{id}"))).collect();
    let refused = join(Peers::Listed(many)).unwrap_err();
    let many = matches!(refused, JoinError::Config(BadConfig::TooMany { found: 129, most: 128, .. }));
    assert!(many && refused.is_bad_input(), "{refused}");
    let refused = join(Peers::Named(vec!["localhost:3170".to_owned()])).unwrap_err();
    let named = matches!(refused, JoinError::Config(BadConfig::NeedsList { protocol: Protocol::FbOmega }));
    assert!(named && refused.is_bad_input(), "{refused}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// The longest that is allowed reaches everybody.
#[test]
fn a_task_may_be_long() {
    let (_dir, configs) = configs(3);
    let manager = || Manager::new(MANAGED, |_| async { Ok::<_, String>(vec![7; TASK_MAX]) });
    let machines: Vec<Machine> =
        configs.into_iter().map(|config| Machine::start(config, manager())).collect();
    assert_eq!(*wait_for_service(&machines).task, [7; TASK_MAX]);
}

async fn answer(answer: impl Future<Output = Vec<u8>> + Send + 'static) -> Result<Vec<u8>, String> {
    Ok(answer.await)
}

/// What all members of this process have logged.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn capture_the_log() {
    static CAPTURED: Once = Once::new();
    CAPTURED.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| Log).init());
}
