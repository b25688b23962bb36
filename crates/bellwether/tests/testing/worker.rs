//! A program that is to be tested: a worker that writes into a ledger while its member leads.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bellwether::{Leadership, Member};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// One line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) node: u32,
    pub(crate) token: u64,
}

/// What all workers write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<watch::Sender<Vec<Entry>>>);

impl Ledger {
    fn write(&self, entry: Entry) {
        self.0.send_modify(|entries| entries.push(entry));
    }

    /// Waits for another entry.
    pub(crate) async fn grows(&self) {
        self.0.subscribe().changed().await.expect("the ledger is there");
    }

    pub(crate) fn last(&self) -> Entry {
        *self.0.borrow().last().expect("somebody has written")
    }

    /// No entry comes after one with a larger token.
    pub(crate) fn is_in_order(&self) {
        let entries = self.0.borrow();
        assert!(entries.windows(2).all(|two| two[0].token <= two[1].token), "{entries:?}");
    }
}

/// Writes every 20 ms while its member leads.
#[derive(Debug)]
pub(crate) struct Worker {
    at_work: Arc<Mutex<bool>>,
    task: JoinHandle<()>,
}

impl Worker {
    pub(crate) fn start(member: Member, ledger: Ledger) -> Self {
        let at_work = Arc::new(Mutex::new(false));
        let shown = Arc::clone(&at_work);
        let task = tokio::spawn(async move {
            // A member that has ended ends its worker.
            let _ = member
                .run(|leadership| {
                    let busy = Busy::new(Arc::clone(&shown));
                    work(leadership, ledger.clone(), busy)
                })
                .await;
        });
        Self { at_work, task }
    }

    pub(crate) fn is_at_work(&self) -> bool {
        *self.at_work.lock().unwrap()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn work(leadership: Leadership, ledger: Ledger, _busy: Busy) -> Result<(), bellwether::Expired> {
    let token = leadership.token().expect("leadership is exclusive");
    loop {
        sleep(Duration::from_millis(20)).await;
        leadership.check()?;
        ledger.write(Entry { node: leadership.node().0, token });
    }
}

/// True as long as it is there.
struct Busy(Arc<Mutex<bool>>);

impl Busy {
    fn new(shown: Arc<Mutex<bool>>) -> Self {
        *shown.lock().unwrap() = true;
        Self(shown)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = false;
    }
}
