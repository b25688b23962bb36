//! What lets a session prove itself to the next process of its agent: a key on the disk, with which every session's number is
//! sealed. And the numbers themselves, of which none is used again.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use ring::rand::{SecureRandom, SystemRandom};

use crate::Status;

/// So many sessions are opened by one process of an agent. Numbers of later processes are larger, and all are below 2^53, where
/// programs in every language tell them apart.
const SESSIONS_MAX: u64 = 1_000_000_000;
pub(super) const NUMBERS_MAX: usize = SESSIONS_MAX as usize;
/// How often an agent is started at most.
const STARTS_MAX: u64 = 9_000_000;
/// In bytes.
const KEY: usize = 32;
const SECRET: usize = 32;
/// No such file is longer.
const FILE_MAX: u64 = 1024;
const FIRST_LINE: &str = "bellwether sessions 1";
/// What is sealed is not taken for anything else that this key may seal one day.
const PURPOSE: &[u8] = b"session";

/// The key of an agent, and how often the agent was started.
pub(super) struct Seal {
    key: Key,
    starts: u64,
    /// How many sessions this process has opened.
    opened: u64,
}

/// The key is nobody's business.
impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal")
            .field("starts", &self.starts)
            .field("opened", &self.opened)
            .finish_non_exhaustive()
    }
}

/// Why there is no key.
#[derive(Debug)]
pub(crate) struct SealError {
    pub(crate) status: Status,
    pub(crate) what: String,
}

/// A number that was sealed, and by which process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proven {
    /// By this one.
    Here,
    /// By an earlier one.
    Before,
    /// By nobody.
    Never,
}

impl Seal {
    /// Reads the key, or makes one, and counts the start.
    pub(super) fn open(dir: &Path) -> Result<Self, SealError> {
        let path = dir.join("sessions");
        let (key, starts) = match read(&path)? {
            Some(found) => found,
            None => (draw()?, 0),
        };
        let starts = starts + 1;
        write(&path, &key, starts).map_err(|error| cannot("write", &path, &error))?;
        Ok(Self { key: Key::new(HMAC_SHA256, &key), starts, opened: 0 })
    }

    /// The number of a new session; `None` if this process has no more.
    pub(super) fn number(&mut self) -> Option<u64> {
        let number = Some(self.opened).filter(|opened| *opened + 1 < SESSIONS_MAX)? + 1;
        self.opened = number;
        Some(self.starts * SESSIONS_MAX + number)
    }

    /// What a session shows to prove that it has that number.
    pub(super) fn secret(&self, number: u64) -> String {
        hex(sign(&self.key, &sealed(number)).as_ref())
    }

    /// Whether that is the secret of that number, and which process gave it.
    pub(super) fn prove(&self, number: u64, secret: &str) -> Proven {
        let is_ours =
            unhex::<SECRET>(secret).is_some_and(|tag| verify(&self.key, &sealed(number), &tag).is_ok());
        match (is_ours, number / SESSIONS_MAX) {
            (false, _) => Proven::Never,
            (true, start) if start == self.starts => Proven::Here,
            (true, _) => Proven::Before,
        }
    }
}

fn sealed(number: u64) -> Vec<u8> {
    [PURPOSE, &number.to_be_bytes()].concat()
}

fn draw() -> Result<[u8; KEY], SealError> {
    let mut key = [0; KEY];
    let drawn = SystemRandom::new().fill(&mut key);
    let none =
        |_| SealError { status: Status::Failed, what: "the system gives no random numbers".to_owned() };
    drawn.map(|()| key).map_err(none)
}

fn read(path: &Path) -> Result<Option<([u8; KEY], u64)>, SealError> {
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(FILE_MAX).read_to_string(&mut text)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => return Err(damaged(path)),
        Err(error) => return Err(cannot("read", path, &error)),
        Ok(_) => {}
    }
    parse(&text).map(Some).ok_or_else(|| damaged(path))
}

fn parse(text: &str) -> Option<([u8; KEY], u64)> {
    let mut lines = text.lines();
    let (first, key, starts, after) = (lines.next()?, lines.next()?, lines.next()?, lines.next());
    let key = unhex(key.strip_prefix("key ")?)?;
    let starts = starts.strip_prefix("starts ")?.parse().ok().filter(|starts| *starts < STARTS_MAX)?;
    (first == FIRST_LINE && after.is_none() && text.ends_with('\n')).then_some((key, starts))
}

/// Either all of it is on the disk after a crash, or what was there before.
fn write(path: &Path, key: &[u8; KEY], starts: u64) -> io::Result<()> {
    let new: PathBuf = path.with_extension("new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(format!("{FIRST_LINE}\nkey {}\nstarts {starts}\n", hex(key)).as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

fn damaged(path: &Path) -> SealError {
    let shown = path.display();
    let what = format!(
        "{shown}: found something else than what an agent writes there. Without it, sessions of an earlier process cannot come back: \
         delete it to begin anew"
    );
    SealError { status: Status::BadInput, what }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> SealError {
    SealError { status: Status::Failed, what: format!("cannot {what} {}: {error}", path.display()) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        let digits = &text[2 * at..2 * at + 2];
        *byte = u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_session_proves_itself_to_the_next_process_and_to_no_other_agent() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut first = Seal::open(dir.path()).unwrap();
        let (one, two) = (first.number().unwrap(), first.number().unwrap());
        assert_eq!((one, two), (1_000_000_001, 1_000_000_002));
        let secret = first.secret(one);
        assert_eq!((first.prove(one, &secret), first.prove(two, &secret)), (Proven::Here, Proven::Never));
        let mut next = Seal::open(dir.path()).unwrap();
        assert_eq!((next.prove(one, &secret), next.number()), (Proven::Before, Some(2_000_000_001)));
        assert_eq!(next.prove(one, &secret.to_uppercase()), Proven::Before);
        assert_eq!(Seal::open(other.path()).unwrap().prove(one, &secret), Proven::Never);
        for wrong in ["", "00", &secret[1..], &secret.replace(&secret[..1], "+"), &"é".repeat(32)] {
            assert_eq!(next.prove(one, wrong), Proven::Never, "{wrong}");
        }
    }

    #[test]
    fn the_last_number_is_the_last() {
        let dir = tempfile::tempdir().unwrap();
        let mut seal = Seal::open(dir.path()).unwrap();
        seal.opened = SESSIONS_MAX - 2;
        assert_eq!((seal.number(), seal.number()), (Some(1_999_999_999), None));
        const { assert!((STARTS_MAX + 1) * SESSIONS_MAX < 1 << 53) }
    }

    #[test]
    fn a_file_that_is_damaged_is_refused_with_what_that_means() {
        let dir = tempfile::tempdir().unwrap();
        Seal::open(dir.path()).unwrap();
        let path = dir.path().join("sessions");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        for bad in [
            "",
            "x",
            &text[..text.len() - 1],
            &text.replace("starts 1", "starts x"),
            &text.replace("key ", "key 0"),
        ] {
            fs::write(&path, bad).unwrap();
            let error = Seal::open(dir.path()).unwrap_err();
            assert_eq!(error.status, Status::BadInput, "{bad}");
            assert!(error.what.contains("delete it to begin anew"), "{}", error.what);
        }
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(Seal::open(dir.path()).unwrap_err().status, Status::BadInput);
    }
}
