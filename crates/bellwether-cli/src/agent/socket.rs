//! The Unix socket of the API. It is made with its permissions, in the place of one that a dead agent has left, and removed at the
//! end.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::UnixListener;

use super::config::SocketConfig;
use crate::Status;

/// How many may wait to be accepted.
const BACKLOG: i32 = 1024;
/// The permissions of a directory that is made for it.
const DIRECTORY: u32 = 0o755;

/// The file, for as long as this exists. It goes before the listener does: what nobody listens at is taken for a dead agent's.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Nobody else's file is removed.
    ours: Which,
}

/// Which file it is: numbers of files are used again, so the time counts, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Which {
    is_socket: bool,
    device: u64,
    inode: u64,
    made: (i64, i64),
}

impl Which {
    fn of(found: &Metadata) -> Self {
        let is_socket = found.file_type().is_socket();
        Self { is_socket, device: found.dev(), inode: found.ino(), made: (found.mtime(), found.mtime_nsec()) }
    }
}

/// Why there is no socket.
#[derive(Debug)]
pub(crate) struct SocketError {
    pub(crate) status: Status,
    pub(crate) what: String,
}

/// Makes the socket, and begins to listen.
pub(crate) fn listen(config: &SocketConfig) -> Result<(UnixListener, Place), SocketError> {
    let path = &config.path;
    make_directory(path).and_then(|()| take_place(path))?;
    let failed = |error| cannot(path, &error);
    let socket = bind(path, config.mode).map_err(failed)?;
    let made = fs::symlink_metadata(path).map_err(failed)?;
    let place = Place { path: path.clone(), ours: Which::of(&made) };
    let listener = UnixListener::from_std(socket.into()).map_err(failed)?;
    Ok((listener, place))
}

/// Nobody can connect before it has its permissions.
fn bind(path: &Path, mode: u32) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    socket.set_nonblocking(true)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

fn make_directory(path: &Path) -> Result<(), SocketError> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => {
            let made = DirBuilder::new().recursive(true).mode(DIRECTORY).create(parent);
            made.map_err(|error| cannot(path, &error))
        }
        None => Ok(()),
    }
}

/// Removes what a dead agent has left. Anything else that is there stays.
fn take_place(path: &Path) -> Result<(), SocketError> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot(path, &error)),
        Ok(found) => found,
    };
    let shown = path.display();
    if !found.file_type().is_socket() {
        let what =
            format!("listen.socket: found {} at {shown}, expected nothing or a socket", kind_of(&found));
        return Err(SocketError { status: Status::BadInput, what });
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| cannot(path, &error))
        }
        // Its queue may be full: then somebody is there, too.
        Ok(_) => Err(taken(path)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(taken(path)),
        Err(error) => Err(cannot(path, &error)),
    }
}

fn taken(path: &Path) -> SocketError {
    let shown = path.display();
    let what = format!(
        "another process listens at {shown}: give each agent of this machine its own, with {{node}} in listen.socket"
    );
    SocketError { status: Status::Failed, what }
}

fn kind_of(found: &Metadata) -> &'static str {
    match found.file_type() {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_file() => "a file",
        _ => "something else",
    }
}

fn cannot(path: &Path, error: &io::Error) -> SocketError {
    let what = format!("cannot listen at {} (listen.socket): {error}", path.display());
    SocketError { status: Status::Failed, what }
}

impl Drop for Place {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| Which::of(&found) == self.ours) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener as Other;

    use tempfile::TempDir;

    use super::*;

    fn config(dir: &TempDir) -> SocketConfig {
        SocketConfig { path: dir.path().join("below/agent.sock"), mode: 0o640 }
    }

    fn refused(config: &SocketConfig) -> SocketError {
        listen(config).map(|_| ()).expect_err("something is there")
    }

    #[tokio::test]
    async fn it_has_its_permissions_and_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let config = config(&dir);
        let (listener, place) = listen(&config).unwrap();
        assert_eq!(fs::metadata(&config.path).unwrap().permissions().mode() & 0o7777, 0o640);
        assert!(UnixStream::connect(&config.path).is_ok());
        let second = refused(&config);
        assert_eq!(second.status, Status::Failed);
        assert!(
            second.what.contains("another process listens at") && second.what.contains("{node}"),
            "{}",
            second.what
        );
        drop((listener, place));
        assert!(!config.path.exists());
    }

    #[tokio::test]
    async fn what_a_dead_agent_has_left_is_replaced_and_what_others_put_there_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let config = config(&dir);
        fs::create_dir(config.path.parent().unwrap()).unwrap();
        drop(Other::bind(&config.path).unwrap());
        let (_listener, place) = listen(&config).unwrap();
        assert!(UnixStream::connect(&config.path).is_ok());
        fs::remove_file(&config.path).unwrap();
        fs::write(&config.path, "another's").unwrap();
        drop(place);
        assert!(config.path.exists());
    }

    #[tokio::test]
    async fn what_is_no_socket_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let config = config(&dir);
        fs::create_dir_all(&config.path).unwrap();
        let error = refused(&config);
        assert_eq!(error.status, Status::BadInput);
        assert!(error.what.contains("found a directory at"), "{}", error.what);
        fs::remove_dir(&config.path).unwrap();
        fs::write(&config.path, "precious").unwrap();
        assert!(refused(&config).what.contains("found a file at"));
        assert_eq!(fs::read_to_string(&config.path).unwrap(), "precious");
    }
}
