//! Many jobs on a few threads, with the same outcome on any number of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of the jobs, in the order of their numbers. `done` is called after each.
pub(super) fn map<T: Send>(
    jobs: usize,
    threads: usize,
    job: impl Fn(usize) -> T + Sync,
    done: &(dyn Fn() + Sync),
) -> Vec<T> {
    let (taken, all) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(jobs)));
    let work = || loop {
        let number = taken.fetch_add(1, Ordering::Relaxed);
        if number >= jobs {
            return;
        }
        let outcome = job(number);
        all.lock().expect("nobody panics while adding").push((number, outcome));
        done();
    };
    thread::scope(|scope| {
        (0..threads.max(1)).for_each(|_| {
            scope.spawn(work);
        });
    });
    let mut all = all.into_inner().expect("nobody panics while adding");
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}
