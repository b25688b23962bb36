//! An agent's configuration: one TOML file, overridden by `BELLWETHER_*` variables, overridden by flags.
//!
//! | step | file | an error says |
//! |---|---|---|
//! | which keys there are | `keys.rs` | which key was meant |
//! | file, environment and flags to values | `layers.rs` | which key or variable is unknown |
//! | values to what they mean | `given.rs`, `address.rs`, `peers.rs` | what was found and what was expected |
//! | all of them together | `relations.rs` | which two do not go together |
//!
//! Every error says where it is, and all errors of one step are reported at once.

pub(crate) mod address;
mod cautions;
mod cluster;
mod error;
mod exclusive;
mod flags;
mod given;
mod hooks;
mod keys;
mod layers;
mod origin;
mod peers;
mod relations;
mod socket;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bellwether::tls::TlsError;
use bellwether::{Config, Identity, Peers};
use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;

use exclusive::{Asked, Terms};
use layers::Settings;

pub(crate) use cluster::ClusterFile;
pub(crate) use error::ConfigError;
pub(crate) use flags::Overrides;
pub(crate) use hooks::{Command, HooksConfig};
pub(crate) use layers::Environment;
pub(crate) use origin::{Origin, Stamp};
pub(crate) use socket::SocketConfig;

/// An agent, complete and valid.
#[derive(Clone, Debug)]
pub(crate) struct AgentConfig {
    pub(crate) member: Config,
    pub(crate) api: ApiConfig,
    pub(crate) log: LogConfig,
    pub(crate) on_lost: OnLost,
    pub(crate) hooks: HooksConfig,
    /// What is allowed and unwise, a sentence each.
    pub(crate) cautions: Vec<String>,
    pub(crate) origin: Origin,
}

/// The keys that an agent heeds without a restart.
const RELOADED: [&str; 6] = ["tls.ca", "tls.cert", "tls.key", "tls.crl", "api.token", "api.token_file"];

/// What the agent does when it loses exclusive leadership that it did not give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnLost {
    /// It campaigns again.
    Restart,
    /// It ends, and whatever its supervisor has tied to it ends, too.
    Exit,
}

/// How programs and people reach the agent.
#[derive(Clone)]
pub(crate) struct ApiConfig {
    pub(crate) listen: SocketAddr,
    /// Whoever may connect there may change something without the token.
    pub(crate) socket: Option<SocketConfig>,
    /// Requests that change something must show it. If there is none, such requests are refused.
    pub(crate) token: Option<String>,
    /// The names under which clients may ask for it, beside addresses and localhost.
    pub(crate) hosts: Vec<String>,
}

/// The token is nobody's business.
impl fmt::Debug for ApiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiConfig")
            .field("listen", &self.listen)
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

/// What the agent says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogConfig {
    pub(crate) format: LogFormat,
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub(crate) level: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl AgentConfig {
    /// Reads the file, puts the environment and the flags over it, and reads the certificates.
    pub(crate) fn load(file: &Path, flags: &Overrides, env: &Environment) -> Result<Self, ConfigError> {
        let mut settings = Settings::load(file, flags, env)?;
        let draft = Draft::read(&mut settings);
        let draft = settings.finish(draft)?;
        relations::check(&draft, &mut settings);
        settings.finish(Some(()))?;
        let cautions = cautions::of(&draft, settings.file_that_gives("api.token"));
        let origin = Origin::new(file, flags, env, settings.values(), draft.secrets());
        draft.complete(cautions, origin)
    }
}

/// The values that were given. Each is valid by itself; whether they fit together is checked later.
#[derive(Debug)]
struct Draft {
    cluster: String,
    id: NodeId,
    protocol: Protocol,
    mode: Option<Asked>,
    terms: Terms,
    data_dir: PathBuf,
    priority: u32,
    preempt: bool,
    preempt_delay: Option<Duration>,
    min_peers: Option<u32>,
    resign_hold: Duration,
    release_timeout: Duration,
    peers: Peers,
    listen: SocketAddr,
    api: SocketAddr,
    socket: Option<SocketConfig>,
    heartbeat: Duration,
    timeout: Duration,
    tls: TlsFiles,
    token: Token,
    hosts: Vec<String>,
    hooks: HooksConfig,
    log: LogConfig,
    trace: Option<PathBuf>,
}

/// Where the certificates are.
#[derive(Debug)]
struct TlsFiles {
    ca: PathBuf,
    cert: PathBuf,
    key: PathBuf,
    /// What is revoked, if there is a list.
    crl: Option<PathBuf>,
}

/// Where the token comes from.
#[derive(Debug)]
enum Token {
    None,
    Given(Secret),
    InFile(PathBuf),
}

/// A text that is not shown.
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Draft {
    fn read(settings: &mut Settings) -> Option<Self> {
        let cluster = settings.need("cluster", given::cluster);
        let id = settings.need("node", given::id);
        let data_dir = settings.need_path("data_dir", id);
        let tls = TlsFiles::read(settings, id);
        given::only_variant(settings);
        let (peers, own) = peers::read(settings, id);
        Some(Self {
            protocol: settings.or("protocol", Protocol::default(), given::protocol),
            mode: settings.get("mode", given::mode),
            terms: Terms::read(settings),
            priority: settings.or("priority", 0, |given| given.whole(0..=Config::PRIORITY_MAX)),
            preempt: settings.or("preempt", false, given::Given::truth),
            preempt_delay: settings.get("preempt_delay", given::Given::duration),
            min_peers: settings.get("min_peers", |given| given.whole(0..=MIN_PEERS_MAX)),
            resign_hold: settings.or("resign_hold", Config::RESIGN_HOLD, given::Given::duration),
            release_timeout: settings.or("release_timeout", Config::RELEASE_TIMEOUT, given::Given::duration),
            listen: settings.or("listen.peer", address::listen_by(own.as_deref()), given::listen),
            api: settings.or("listen.api", address::API, given::listen),
            socket: SocketConfig::read(settings, id),
            heartbeat: settings.or("timing.heartbeat", Config::HEARTBEAT, given::Given::duration),
            timeout: settings.or("timing.timeout", Config::TIMEOUT, given::Given::duration),
            token: Token::read(settings),
            hosts: settings.or("api.hosts", Vec::new(), given::hosts),
            hooks: HooksConfig::read(settings),
            log: LogConfig {
                format: settings.or("log.format", LogFormat::Text, given::log_format),
                level: settings.or("log.level", "info".to_owned(), given::log_level),
            },
            trace: settings.path("log.trace", id),
            cluster: cluster?,
            id: id?,
            data_dir: data_dir?,
            tls: tls?,
            peers: peers?,
        })
    }

    /// Reads the certificates and the token. They are in other files, so this comes last.
    fn complete(self, mut cautions: Vec<String>, origin: Origin) -> Result<AgentConfig, ConfigError> {
        let member = self.member(self.tls.load()?);
        let token = self.token.load()?;
        cautions.extend(token.as_deref().and_then(cautions::of_token));
        let api = ApiConfig { listen: self.api, socket: self.socket, token, hosts: self.hosts };
        let (log, on_lost, hooks) = (self.log, self.terms.on_lost, self.hooks);
        Ok(AgentConfig { member, api, log, on_lost, hooks, cautions, origin })
    }

    /// The files in which its certificates and its token are.
    fn secrets(&self) -> Vec<PathBuf> {
        let TlsFiles { ca, cert, key, crl } = &self.tls;
        let token = match &self.token {
            Token::InFile(path) => Some(path),
            Token::None | Token::Given(_) => None,
        };
        [ca, cert, key].into_iter().chain(crl).chain(token).cloned().collect()
    }

    /// The member, with those certificates.
    fn member(&self, identity: Identity) -> Config {
        let delay = self.preempt_delay.unwrap_or_default();
        let (cluster, peers) = (self.cluster.clone(), self.peers.clone());
        let mut member = Config::new(cluster, self.id, self.listen, peers, identity, &self.data_dir);
        member.protocol = self.protocol;
        member.heartbeat = self.heartbeat;
        member.timeout = self.timeout;
        member.priority = self.priority;
        member.preempt = (self.preempt && self.protocol.spec().hands_over).then_some(delay);
        member.min_peers = self.min_peers.map(|peers| peers as usize);
        member.resign_hold = self.resign_hold;
        member.release_timeout = self.release_timeout;
        member.exclusive = (self.mode == Some(Asked::Exclusive)).then(|| self.terms.of_member());
        member.trace.clone_from(&self.trace);
        member
    }
}

impl TlsFiles {
    fn read(settings: &mut Settings, id: Option<NodeId>) -> Option<Self> {
        let ca = settings.need_path("tls.ca", id);
        let cert = settings.need_path("tls.cert", id);
        let key = settings.need_path("tls.key", id);
        let crl = settings.path("tls.crl", id);
        Some(Self { ca: ca?, cert: cert?, key: key?, crl })
    }

    fn load(&self) -> Result<Identity, ConfigError> {
        let loaded = Identity::load(&self.ca, &self.cert, &self.key);
        let loaded = loaded.and_then(|identity| match &self.crl {
            Some(crl) => identity.with_revoked(crl),
            None => Ok(identity),
        });
        loaded.map_err(|error| match error {
            TlsError::Read { .. } => ConfigError::Failed(format!(
                "{error}; it is named under [tls], and `bellwether tls init` makes such files"
            )),
            _ => ConfigError::wrong(error.to_string()),
        })
    }
}

impl Token {
    /// One of the two. If both are given, a flag or variable overrides the file.
    fn read(settings: &mut Settings) -> Self {
        let both = settings.rank("api.token").zip(settings.rank("api.token_file"));
        if let Some((token, file)) = both
            && token == file
        {
            let both = "`api.token` and `api.token_file` are both given, expected one of them";
            settings.wrong("api.token_file", both);
        }
        let prefer_file = both.is_some_and(|(token, file)| file > token);
        match settings.get("api.token", given::token).filter(|_| !prefer_file) {
            Some(token) => Self::Given(Secret(token)),
            None => settings.path("api.token_file", None).map_or(Self::None, Self::InFile),
        }
    }

    fn load(self) -> Result<Option<String>, ConfigError> {
        match self {
            Self::None => Ok(None),
            Self::Given(Secret(token)) => Ok(Some(token)),
            Self::InFile(path) => {
                let shown = path.display();
                let text = read_token(&path)
                    .map_err(|error| ConfigError::Failed(format!("cannot read {shown}: {error}")))?;
                let token = text.trim_end();
                match given::is_token(token) {
                    true => Ok(Some(token.to_owned())),
                    false => Err(ConfigError::wrong(format!("{shown}: expected {}", given::TOKEN))),
                }
            }
        }
    }
}

/// No cluster has more members.
const MIN_PEERS_MAX: u32 = 1_000;

/// No token is longer.
const TOKEN_FILE_MAX: u64 = 4096;

fn read_token(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(TOKEN_FILE_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > TOKEN_FILE_MAX { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}
