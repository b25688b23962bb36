//! The store. It knows nothing of elections: it keeps the largest token that it has seen, and refuses smaller ones. What it has
//! taken is on disk before it says so.
//!
//! It listens where only the user can connect.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::entry::Entry;
use super::wire::{Answer, LINE_MAX, Request, What};
use crate::work::spawn;

/// Whether the store looks at tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// It refuses smaller ones.
    Closed,
    /// It takes whatever comes, to see what happens then.
    Open,
}

/// What the store did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Took {
        request: Request,
        /// The largest token before it.
        seen: u64,
    },
    Refused {
        request: Request,
        seen: u64,
    },
    /// It cannot go on.
    Failed(String),
}

#[derive(Debug)]
pub(super) struct Store {
    file: File,
    fence: Fence,
    began: Instant,
    /// The largest token; 0 before the first.
    seen: u64,
    /// The number of the last line; 0 before the first.
    last: u64,
}

impl Store {
    /// A new one. There must be no such file yet.
    pub(super) fn create(path: &Path, fence: Fence) -> Result<Self, String> {
        let file = File::options().append(true).create_new(true).open(path);
        let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self { file, fence, began: Instant::now(), seen: 0, last: 0 })
    }

    /// Carries out a request. An error is the disk's.
    fn answer(&mut self, request: Request) -> io::Result<(Answer, Told)> {
        let Request { token, node, what } = request;
        let seen = self.seen;
        if token < seen && self.fence == Fence::Closed {
            return Ok((Answer::Refused { seen }, Told::Refused { request, seen }));
        }
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = serde_json::to_string(&Entry { token, node, what, at_ms })?;
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_data()?;
        self.seen = seen.max(token);
        let answer = match what {
            What::Open => Answer::Opened { last: self.last },
            What::Write(number) => {
                self.last = number;
                Answer::Taken
            }
        };
        Ok((answer, Told::Took { request, seen }))
    }
}

/// Begins to serve, and tells what it does; what it is told to says whether anybody listens.
pub(super) fn serve(
    store: Store,
    socket: &Path,
    tell: impl Fn(Told) -> bool + Clone + Send + 'static,
) -> Result<(), String> {
    let listener = UnixListener::bind(socket)
        .map_err(|error| format!("the store cannot listen at {}: {error}", socket.display()))?;
    let store = Arc::new(Mutex::new(store));
    spawn("store", move || {
        for stream in listener.incoming().flatten() {
            let (store, tell) = (Arc::clone(&store), tell.clone());
            // A writer that cannot be served comes again.
            let _ = spawn("client", move || {
                let _ = attend(stream, &store, &tell);
            });
        }
    })
}

/// Answers one writer until it goes away, or says what is no request.
fn attend(stream: UnixStream, store: &Mutex<Store>, tell: &impl Fn(Told) -> bool) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut line = String::new();
        if (&mut reader).take(LINE_MAX).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Ok(request) = serde_json::from_str(&line) else { return Ok(()) };
        // What is told is told in the order in which it was taken.
        let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match store.answer(request) {
            Ok((answer, told)) => {
                tell(told);
                answer
            }
            Err(error) => {
                tell(Told::Failed(format!("the store cannot write: {error}")));
                return Err(error);
            }
        };
        drop(store);
        (&stream).write_all(format!("{}\n", serde_json::to_string(&answer)?).as_bytes())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(fence: Fence) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&dir.path().join("lines"), fence).unwrap();
        (dir, store)
    }

    fn ask(store: &mut Store, token: u64, what: What) -> Answer {
        store.answer(Request { node: 1, token, what }).unwrap().0
    }

    #[test]
    fn a_smaller_token_is_refused_and_nothing_of_it_is_written() {
        let (dir, mut store) = store(Fence::Closed);
        assert_eq!(ask(&mut store, 2, What::Open), Answer::Opened { last: 0 });
        assert_eq!(ask(&mut store, 2, What::Write(1)), Answer::Taken);
        // Whoever opens it with a larger token closes it to the one before, even before it writes.
        assert_eq!(ask(&mut store, 3, What::Open), Answer::Opened { last: 1 });
        assert_eq!(ask(&mut store, 2, What::Write(2)), Answer::Refused { seen: 3 });
        assert_eq!(ask(&mut store, 1, What::Open), Answer::Refused { seen: 3 });
        assert_eq!(ask(&mut store, 3, What::Write(2)), Answer::Taken);
        let text = std::fs::read_to_string(dir.path().join("lines")).unwrap();
        let tokens: Vec<u64> =
            text.lines().map(|line| serde_json::from_str::<Entry>(line).unwrap().token).collect();
        assert_eq!(tokens, [2, 2, 3, 3]);
    }

    #[test]
    fn without_a_fence_it_goes_backwards() {
        let (_dir, mut store) = store(Fence::Open);
        ask(&mut store, 3, What::Open);
        let request = Request { node: 1, token: 2, what: What::Write(1) };
        assert_eq!(store.answer(request).unwrap(), (Answer::Taken, Told::Took { request, seen: 3 }));
        assert_eq!(store.seen, 3, "the largest is not forgotten");
    }
}
