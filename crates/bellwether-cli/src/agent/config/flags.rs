//! Flags that override the file and the environment.

/// Flags over `BELLWETHER_*` variables over the file. Paths are relative to where the command is typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Overrides {
    /// The id of this member, instead of the file's `node`
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) node: Option<String>,
    /// The algorithm, instead of the file's
    #[arg(long, value_name = "P")]
    pub(crate) protocol: Option<String>,
    /// The directory for what must survive a crash, instead of the file's `data_dir`
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<String>,
    /// The address on which to listen for peers, instead of the file's `listen.peer`
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_peer: Option<String>,
    /// The address of the API, instead of the file's `listen.api`
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_api: Option<String>,
    /// The Unix socket of the API, instead of the file's `listen.socket`
    #[arg(long, value_name = "PATH")]
    pub(crate) listen_socket: Option<String>,
    /// The priority of this member, instead of the file's `priority`
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) priority: Option<String>,
    /// text or json, instead of the file's `log.format`
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// off, error, warn, info, debug or trace, instead of the file's `log.level`
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Write a trace of all events to FILE, as JSON lines
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) trace: Option<String>,
}

impl Overrides {
    /// Which flag gives which key, and what was given.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
        let all = [
            ("--node", "node", &self.node),
            ("--protocol", "protocol", &self.protocol),
            ("--data-dir", "data_dir", &self.data_dir),
            ("--listen-peer", "listen.peer", &self.listen_peer),
            ("--listen-api", "listen.api", &self.listen_api),
            ("--listen-socket", "listen.socket", &self.listen_socket),
            ("--priority", "priority", &self.priority),
            ("--log-format", "log.format", &self.log_format),
            ("--log-level", "log.level", &self.log_level),
            ("--trace", "log.trace", &self.trace),
        ];
        all.into_iter().filter_map(|(flag, key, value)| Some((flag, key, value.as_deref()?)))
    }
}
