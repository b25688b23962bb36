//! What a program may rely on when it holds a member in its hand: nobody leads beside it, whatever is asked at once.

#[path = "../examples/support/loopback.rs"]
mod loopback;

use std::future::{Future, pending};
#[cfg(target_os = "linux")]
use std::io::{Read, Write};
use std::net::TcpListener;
#[cfg(target_os = "linux")]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bellwether::member::Hold;
use bellwether::proto::leadership::Reluctance;
use bellwether::proto::tenure::Refused::{HandOver, Leaving, NoSuccessor};
use bellwether::status::{Connection, Standing};
use bellwether::{Config, Ended, Leadership, Member, NodeId, Protocol, Refused};
#[cfg(target_os = "linux")]
use nix::fcntl::OFlag;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::runtime::Builder;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(10);

async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

/// Members that have a leader: first the leader, then the others.
async fn cluster(nodes: u32) -> (TempDir, Member, Vec<Member>) {
    let (dir, configs) = loopback::configs(nodes).unwrap();
    let mut members = Vec::new();
    for mut config in configs {
        config.trace = Some(trace(&dir, config.id));
        members.push(Member::join(config).await.unwrap());
    }
    for member in &members {
        let mut changes = member.observe_after(0);
        let led = async { while changes.next().await.is_some_and(|change| change.leader.is_none()) {} };
        soon("all have a leader", led).await;
    }
    let leader = members[0].leader().unwrap().id;
    let at = members.iter().position(|member| member.status().id == leader).unwrap();
    let leader = members.remove(at);
    (dir, leader, members)
}

/// Where a member writes its trace.
fn trace(dir: &TempDir, member: NodeId) -> PathBuf {
    dir.path().join(format!("trace-{member}.jsonl"))
}

/// Sets it while it lives.
struct Working(Arc<AtomicBool>);

impl Working {
    fn begin(works: &Arc<AtomicBool>) -> Self {
        works.store(true, Ordering::SeqCst);
        Self(Arc::clone(works))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_task_that_drops_its_guard_has_ended_before_another_leads() {
    let (_dir, leader, others) = cluster(2).await;
    let (works, (began, begun)) = (Arc::new(AtomicBool::new(false)), oneshot::channel());
    let (running, task_works) = (leader.clone(), Arc::clone(&works));
    let mut began = Some(began);
    let run = tokio::spawn(async move {
        running
            .run(|_: Leadership| {
                let (works, began) = (Arc::clone(&task_works), began.take());
                async move {
                    let _working = Working::begin(&works);
                    let _ = began.map(|began| began.send(()));
                    pending::<()>().await;
                }
            })
            .await
    });
    soon("it works", begun).await.unwrap();
    soon("it hands over", leader.transfer(others[0].status().id)).await.unwrap();
    assert!(!works.load(Ordering::SeqCst), "the old leader's task works beside the new leader");
    run.abort();
}

#[tokio::test]
async fn work_that_returns_or_fails_is_begun_again_and_the_member_leads_on() {
    let (_dir, leader, _others) = cluster(3).await;
    let (began, mut begun) = mpsc::unbounded_channel();
    let epoch = leader.leader().unwrap().epoch;
    let job = |leadership: Leadership| {
        let sent = began.send(leadership.epoch());
        async move { sent.and(Err::<(), _>(SendError(0))) }
    };
    let times = async {
        for _ in 0..3 {
            assert_eq!(begun.recv().await, Some(epoch), "in the same leadership");
        }
    };
    tokio::select! {
        ended = leader.run(job) => panic!("the member ended: {ended:?}"),
        () = soon("it is begun three times", times) => {}
    }
    assert_eq!(leader.leader().map(|led| (led.id, led.epoch)), Some((leader.status().id, epoch)));
}

#[tokio::test]
async fn work_that_never_returns_gives_leadership_up_when_it_asks_to() {
    let (_dir, leader, others) = cluster(2).await;
    let running = leader.clone();
    let run = tokio::spawn(async move {
        running
            .run(|leadership: Leadership| async move {
                // Refused or not: it is stopped, or goes on.
                let _ = leadership.resign(Hold::UntilTold).await;
                loop {
                    pending::<()>().await;
                }
            })
            .await
    });
    soon("the other leads", others[0].campaign()).await.unwrap();
    assert_eq!(leader.status().standing, Standing::Aside);
    soon("it leaves", leader.leave()).await;
    soon("the call returns", run).await.unwrap().unwrap();
}

#[tokio::test]
async fn work_that_blocks_a_thread_has_ended_before_another_leads() {
    let (_dir, leader, others) = cluster(2).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    let (noticed, notices) = oneshot::channel();
    let (may_end, ends) = std::sync::mpsc::channel();
    let work = guard.spawn_blocking(move |leadership| {
        while leadership.is_held() {
            std::thread::yield_now();
        }
        noticed.send(()).unwrap();
        ends.recv().unwrap();
    });
    drop(guard);
    let (asked, to) = (leader.clone(), others[0].status().id);
    let transfer = tokio::spawn(async move { asked.transfer(to).await });
    soon("it notices", notices).await.unwrap();
    assert!(others[0].leader().is_some_and(|led| led.id != to), "not before the work has ended");
    may_end.send(()).unwrap();
    soon("it hands over", transfer).await.unwrap().unwrap();
    soon("the work has ended", work).await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_has_ended_before_another_leads() {
    let (dir, leader, others) = cluster(2).await;
    let (running, file) = (leader.clone(), dir.path().join("pid"));
    let script = format!("echo $$ > {0}.new && mv {0}.new {0} && exec sleep 3600", file.display());
    let run = tokio::spawn(async move {
        running
            .run(|leadership: Leadership| {
                let script = script.clone();
                async move { leadership.child(Command::new("sh").args(["-c", &script])).await }
            })
            .await
    });
    let pid = async {
        loop {
            match std::fs::read_to_string(&file) {
                Ok(pid) => break pid,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let process = PathBuf::from(format!("/proc/{}", soon("it runs", pid).await.trim()));
    assert!(process.exists());
    soon("it hands over", leader.transfer(others[0].status().id)).await.unwrap();
    assert!(!process.exists(), "the old leader's process works beside the new leader");
    run.abort();
}

/// The only thread of the program's runtime is busy, for longer than a silent leader is waited for.
#[tokio::test]
async fn work_that_blocks_its_runtime_costs_no_leadership() {
    let (_dir, leader, others) = cluster(2).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    // Nobody ever sends: it only blocks.
    let (_sender, never) = std::sync::mpsc::channel::<()>();
    for _ in 0..3 {
        assert!(never.recv_timeout(Config::TIMEOUT * 2).is_err());
        tokio::task::yield_now().await;
    }
    assert!(guard.is_held());
    let led = others[0].leader().map(|led| (led.id, led.epoch));
    assert_eq!(led, Some((guard.node(), guard.epoch())), "nobody has noticed");
}

#[test]
fn a_member_ends_with_the_runtime_on_which_it_was_joined() {
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    let (program, other) = (runtime(), runtime());
    let (_dir, configs) = loopback::configs(1).unwrap();
    let (member, guard) = program.block_on(async {
        let member = Member::join(configs[0].clone()).await.unwrap();
        let guard = soon("it leads", member.campaign()).await.unwrap();
        (member, guard)
    });
    assert!(guard.is_held(), "also while the program's runtime does nothing");
    drop(program);
    assert!(!guard.is_held() && member.leader().is_none());
    let ended = other.block_on(async { soon("it ends", member.ended()).await });
    assert!(matches!(ended, Ended::Runtime), "{ended}");
    let again = other.block_on(async { soon("it joins again", Member::join(configs[0].clone())).await });
    assert!(again.is_ok(), "its directory and its address are free: {again:?}");
}

/// A disk that takes its time: nothing is written to that file before somebody opens the other end.
#[cfg(unix)]
fn slow_file(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The file that is written next, as a pipe that is full: whoever writes to it waits until it is drained.
#[cfg(target_os = "linux")]
fn full_file(path: &Path) -> std::fs::File {
    slow_file(path);
    let mut options = std::fs::OpenOptions::new();
    let mut pipe = options.read(true).write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path).unwrap();
    while pipe.write(&[0; 4096]).is_ok() {}
    pipe
}

/// How often this process has that file open.
#[cfg(target_os = "linux")]
fn times_open(path: &Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    open.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|of| of == path)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_member_that_ends_in_the_middle_of_a_write_leaves_its_directory_free() {
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    let (program, other) = (runtime(), runtime());
    let (_dir, configs) = loopback::configs(1).unwrap();
    let next_state = configs[0].data_dir.join("state.new");
    let (member, mut pipe) = program.block_on(async {
        let member = Member::join(configs[0].clone()).await.unwrap();
        let guard = soon("it leads", member.campaign()).await.unwrap();
        let pipe = full_file(&next_state);
        guard.resign(Hold::For(Duration::ZERO)).await.unwrap();
        soon("it writes that it leads again", async {
            while times_open(&next_state) < 2 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        (member, pipe)
    });
    let address = member.local_addr();
    let disk = std::thread::spawn(move || {
        // It goes on when all else of the member has ended.
        while TcpListener::bind(address).is_err() {
            std::thread::yield_now();
        }
        pipe.read(&mut [0; 1 << 16])
    });
    drop(program);
    let again = other.block_on(async { soon("it joins again", Member::join(configs[0].clone())).await });
    assert!(again.is_ok(), "its directory is free: {again:?}");
    assert!(disk.join().unwrap().is_ok_and(|drained| drained > 0), "it was in the middle of a write");
}

#[cfg(unix)]
#[tokio::test]
async fn a_history_that_cannot_be_written_holds_nobody_up() {
    let (_dir, configs) = loopback::configs(1).unwrap();
    std::fs::create_dir_all(&configs[0].data_dir).unwrap();
    slow_file(&configs[0].data_dir.join("history"));
    let member = Member::join(configs[0].clone()).await.unwrap();
    soon("it leads", member.campaign()).await.unwrap();
    let seen = member.history().into_iter().filter_map(|change| change.leader).collect::<Vec<_>>();
    assert_eq!((member.status().standing, seen), (Standing::Leading, vec![NodeId(1)]));
    soon("it leaves", member.leave()).await;
}

#[tokio::test]
async fn a_task_does_not_outlive_the_call_that_runs_it() {
    let (_dir, leader, _others) = cluster(2).await;
    let (works, (began, begun)) = (Arc::new(AtomicBool::new(false)), oneshot::channel());
    let mut began = Some(began);
    let run = leader.run(|leadership| {
        let (works, began) = (Arc::clone(&works), began.take());
        async move {
            let _working = Working::begin(&works);
            let _ = began.map(|began| began.send(()));
            leadership.ended().await;
            pending::<()>().await;
        }
    });
    tokio::select! {
        _ = run => panic!("it leads until it is told not to"),
        begun = begun => begun.unwrap(),
    }
    // The call is gone, and with it the guard: leaving waits for nobody.
    soon("it leaves", leader.leave()).await;
    assert!(!works.load(Ordering::SeqCst));
}

#[tokio::test]
async fn dropping_a_guard_gives_nothing_up_and_resigning_does() {
    let (_dir, leader, others) = cluster(2).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    let (epoch, again) = (guard.epoch(), guard.clone());
    drop(guard);
    assert!(again.is_held());
    drop(again);
    let again = soon("it leads on", leader.campaign()).await.unwrap();
    assert_eq!(again.epoch(), epoch, "nothing has changed");
    let over = again.clone();
    let resign = tokio::spawn(again.resign(Hold::Default));
    soon("it is asked back", over.ended()).await;
    assert!(!resign.is_finished(), "the other guard is waited for");
    soon("nothing is left to give up", over.resign(Hold::Default)).await.unwrap();
    soon("it has resigned", resign).await.unwrap().unwrap();
    let next = soon("the other leads", others[0].campaign()).await.unwrap();
    assert_eq!((next.node(), next.epoch() > epoch), (others[0].status().id, true));
}

#[tokio::test]
async fn what_was_before_the_process_is_history_and_no_news() {
    let (_dir, configs) = loopback::configs(1).unwrap();
    let mut lives = Vec::new();
    for _ in 0..2 {
        let member = Member::join(configs[0].clone()).await.unwrap();
        let change = soon("it leads", member.observe_after(0).next()).await.unwrap();
        assert_eq!(change.leader, Some(NodeId(1)));
        // On a machine that was too busy to let it run, it may have begun another since.
        assert!(change.incarnation <= member.status().incarnation);
        soon("it leaves", member.leave()).await;
        lives.push((change, member.history()));
    }
    let [(before, _), (after, history)] = &lives[..] else { unreachable!("two were begun") };
    assert!(before.incarnation < after.incarnation && before.no < after.no);
    for seen in [before, after] {
        let same = |known: &&bellwether::Change| (known.no, known.incarnation) == (seen.no, seen.incarnation);
        assert_eq!(history.iter().find(same).and_then(|known| known.leader), Some(NodeId(1)));
    }
}

#[tokio::test]
async fn a_transfer_whose_target_has_gone_meanwhile_is_refused_and_leadership_stays() {
    let (_dir, leader, others) = cluster(3).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    let (asked, target) = (leader.clone(), others[0].status().id);
    let transfer = tokio::spawn(async move { asked.transfer(target).await });
    soon("it is asked back", guard.ended()).await;
    soon("the target leaves", others[0].leave()).await;
    let gone = async {
        while leader
            .participants()
            .iter()
            .any(|peer| peer.id == Some(target) && matches!(peer.connection, Connection::Connected(_)))
        {
            tokio::task::yield_now().await;
        }
    };
    soon("that is known", gone).await;
    let epoch = guard.epoch();
    drop(guard);
    let refused = soon("it is refused", transfer).await.unwrap().unwrap_err();
    let gone =
        matches!(refused, Refused::Cannot(HandOver { to, why: Reluctance::NotConnected }) if to == target);
    assert!(gone, "{refused}");
    let again = soon("it leads on", leader.campaign()).await.unwrap();
    assert_eq!(again.epoch(), epoch, "nothing has changed");
}

#[tokio::test]
async fn a_trace_tells_what_the_program_asked_and_did() {
    let (dir, leader, _others) = cluster(2).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    let asked = leader.clone();
    let resign = tokio::spawn(async move { asked.resign(Hold::Default).await });
    soon("it is asked back", guard.ended()).await;
    drop(guard);
    soon("it resigns", resign).await.unwrap().unwrap();
    soon("it leaves", leader.leave()).await;
    let told = ["work-begins", "asked", "asked-back", "work-ends", "answered", "left", "crash"];
    let text = std::fs::read_to_string(trace(&dir, leader.status().id)).unwrap();
    let event = |line: &str| told.into_iter().find(|told| line.contains(&format!(r#""ev":"{told}""#)));
    let events: Vec<_> = text.lines().filter_map(event).collect();
    let expected = ["work-begins", "asked", "asked-back", "work-ends", "answered", "asked", "left", "crash"];
    assert_eq!(events, expected, "{text}");
}

#[tokio::test]
async fn leaving_is_not_put_off_by_what_is_asked_after_it() {
    let (_dir, leader, others) = cluster(2).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    let asked = leader.clone();
    let leave = tokio::spawn(async move { asked.leave().await });
    soon("it is asked back", guard.ended()).await;
    let refused = soon("it is refused", leader.resign(Hold::Default)).await.unwrap_err();
    assert!(matches!(refused, Refused::Cannot(Leaving)), "{refused}");
    drop(guard);
    soon("it leaves", leave).await.unwrap();
    soon("the other leads", others[0].campaign()).await.unwrap();
}

#[tokio::test]
async fn a_guard_outlives_the_last_handle() {
    let (_dir, leader, others) = cluster(2).await;
    let guard = soon("it leads", leader.campaign()).await.unwrap();
    drop(leader);
    soon("it is asked back", guard.ended()).await;
    assert!(
        others[0].leader().is_some_and(|leader| leader.id != others[0].status().id),
        "not before it is dropped"
    );
    drop(guard);
    soon("the other leads", others[0].campaign()).await.unwrap();
}

#[tokio::test]
async fn whoever_is_alone_resigns_only_if_told_for_how_long() {
    let (_dir, alone, _) = cluster(1).await;
    let refused = alone.resign(Hold::Default).await.unwrap_err();
    assert!(matches!(refused, Refused::Cannot(NoSuccessor)), "{refused}");
    soon("it resigns", alone.resign(Hold::For(Duration::from_millis(10)))).await.unwrap();
    soon("it leads again", alone.campaign()).await.unwrap();
}

#[tokio::test]
async fn leadership_is_handed_to_nobody_who_stands_aside() {
    let (_dir, leader, others) = cluster(3).await;
    let aside = leader.status().id;
    soon("it resigns", leader.resign(Hold::UntilTold)).await.unwrap();
    let next =
        others.iter().find(|member| member.leader().is_some_and(|l| l.id == member.status().id)).unwrap();
    let refused = soon("it is refused", next.transfer(aside)).await.unwrap_err();
    assert!(matches!(refused, Refused::Cannot(HandOver { why: Reluctance::StandsAside, .. })), "{refused}");
}

#[tokio::test]
async fn any_survivor_leads_with_every_algorithm() {
    use Protocol::{Adft, AsyncBully, Fjr, Invitation, Lfa};
    for protocol in [Fjr, Lfa, Adft, AsyncBully, Invitation] {
        let (_dir, configs) = loopback::configs(3).unwrap();
        let mut config = configs.into_iter().last().unwrap();
        (config.protocol, config.min_peers) = (protocol, Some(0));
        let alone = Member::join(config).await.unwrap();
        soon(protocol.name(), alone.campaign()).await.unwrap();
    }
}
