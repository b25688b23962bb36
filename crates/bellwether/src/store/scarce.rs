//! Opening a file while the process has no file descriptor left. They come back: connections end all the time, and clients
//! are sent away. Until then the member waits, which costs it leadership at most. If it gave up, it would be gone for good.

use std::io;
use std::thread;
use std::time::Duration;

/// If none has come back after that, none will.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);

/// The process, or the system, has no more file descriptors: the same numbers on every Unix.
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;

/// Opens a file, and waits for a file descriptor if it must.
pub(super) fn open<T>(open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    retry(open, thread::sleep)
}

fn retry<T>(mut open: impl FnMut() -> io::Result<T>, mut pause: impl FnMut(Duration)) -> io::Result<T> {
    let mut waited = Duration::ZERO;
    loop {
        match open() {
            Err(error) if is_scarce(&error) && waited < PATIENCE => {
                if waited.is_zero() {
                    tracing::warn!(%error, "the state cannot be written yet; waiting for a file descriptor");
                }
                pause(PAUSE);
                waited += PAUSE;
            }
            done => return done,
        }
    }
}

fn is_scarce(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_as_soon_as_there_is_a_descriptor() {
        let (mut left, mut waited) = (3, Duration::ZERO);
        let opened = retry(
            || {
                left -= 1;
                if left > 0 { Err(io::Error::from_raw_os_error(EMFILE)) } else { Ok("open") }
            },
            |pause| waited += pause,
        );
        assert_eq!((opened.unwrap(), waited), ("open", 2 * PAUSE));
    }

    #[test]
    fn nobody_waits_for_ever_or_for_anything_else() {
        let mut waited = Duration::ZERO;
        let none = || io::Result::<()>::Err(io::Error::from_raw_os_error(ENFILE));
        assert!(retry(none, |pause| waited += pause).is_err());
        assert_eq!(waited, PATIENCE);
        let missing = || io::Result::<()>::Err(io::ErrorKind::NotFound.into());
        assert!(retry(missing, |_| panic!("it is not waited for")).is_err());
    }
}
