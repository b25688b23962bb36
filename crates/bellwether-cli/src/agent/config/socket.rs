//! `listen.socket`: where programs of this machine reach the agent, and who may.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use bellwether_proto::ident::NodeId;

use super::given::Given;
use super::layers::Settings;

/// The Unix socket of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketConfig {
    pub(crate) path: PathBuf,
    /// Who may connect: those who may write.
    pub(crate) mode: u32,
}

/// The owner and the group.
const MODE: u32 = 0o660;

const EXPECTED: &str = "permissions in octal such as \"0660\"";

impl SocketConfig {
    /// The longest path, in bytes: the address has room for that many and a zero.
    pub(crate) const PATH_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

    /// The socket, if there is to be one.
    pub(super) fn read(settings: &mut Settings, node: Option<NodeId>) -> Option<Self> {
        let path = settings.path("listen.socket", node);
        let mode = settings.get("listen.socket_mode", permissions);
        if settings.given("listen.socket").is_none() && settings.given("listen.socket_mode").is_some() {
            settings.wrong("listen.socket_mode", "listen.socket_mode has no meaning without listen.socket");
        }
        let path = path?;
        let bytes = path.as_os_str().as_bytes().len();
        if bytes > Self::PATH_MAX {
            let problem = format!(
                "listen.socket ({}) has {bytes} bytes, and the path of a socket has at most {}",
                path.display(),
                Self::PATH_MAX
            );
            settings.wrong("listen.socket", problem);
        }
        Some(Self { path, mode: mode.unwrap_or(MODE) })
    }
}

fn permissions(given: &Given) -> Result<u32, String> {
    let text = given.text(EXPECTED)?;
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| (1..=0o777).contains(mode));
    mode.ok_or_else(|| format!("found {text:?}, expected {EXPECTED}"))
}
