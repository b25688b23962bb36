//! What an agent reads again while it runs: certificates, keys, authorities and the token. It does so when it is told to, by SIGHUP, and when
//! one of the files has changed. Nobody loses leadership for it.
//!
//! What is wrong then changes nothing: the agent goes on with what it has, and says why, in its log and its status.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bellwether::Member;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::config::{AgentConfig, Origin, Stamp};

/// How often the agent looks whether a file has changed. One that has must be the same at the next look: whoever writes it may not be done
/// before.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What can be reloaded, and how it went. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Reloads(Arc<Mutex<State>>);

struct State {
    token: Option<Arc<str>>,
    /// What the agent was started with.
    began: Origin,
    last: Option<Reload>,
    done: u64,
    failed: u64,
}

/// Nobody is told the token.
impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("last", &self.last).finish_non_exhaustive()
    }
}

/// One time that the files were read again.
#[derive(Clone, Debug)]
pub(crate) struct Reload {
    pub(crate) at: SystemTime,
    /// What was wrong; nothing, if it is in force.
    pub(crate) problems: Vec<String>,
    /// The keys that have changed since the start and need a restart.
    pub(crate) waiting: Vec<&'static str>,
}

impl Reloads {
    pub(crate) fn new(config: &AgentConfig) -> Self {
        let token = config.api.token.as_deref().map(Arc::from);
        let began = config.origin.clone();
        Self(Arc::new(Mutex::new(State { token, began, last: None, done: 0, failed: 0 })))
    }

    /// The token that changes need now.
    pub(crate) fn token(&self) -> Option<Arc<str>> {
        self.state().token.clone()
    }

    /// How it went the last time.
    pub(crate) fn last(&self) -> Option<Reload> {
        self.state().last.clone()
    }

    /// How often it went well, and how often not.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 2] {
        let state = self.state();
        [("done", state.done), ("failed", state.failed)]
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What is in it is whole between any two lines that change it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was read, all of it or nothing. What has changed, in words; and what needs a restart.
    fn take(
        &self,
        member: &Member,
        now: &AgentConfig,
        config: &AgentConfig,
    ) -> Result<Vec<&'static str>, String> {
        let mut taken = Vec::new();
        if now.member.identity != config.member.identity {
            member.renew(&config.member.identity).map_err(|error| error.to_string())?;
            taken.push("the certificates");
        }
        if now.api.token != config.api.token {
            self.state().token = config.api.token.as_deref().map(Arc::from);
            taken.push("the token");
        }
        Ok(taken)
    }

    fn note(&self, problems: Vec<String>, later: Option<&Origin>) -> Reload {
        let mut state = self.state();
        let before = state.last.as_ref().map(|last| last.waiting.clone()).unwrap_or_default();
        let waiting = later.map_or(before, |later| state.began.needs_restart(later));
        *(if problems.is_empty() { &mut state.done } else { &mut state.failed }) += 1;
        let reload = Reload { at: SystemTime::now(), problems, waiting };
        state.last = Some(reload.clone());
        reload
    }
}

/// Hears what tells an agent to read its files again. From here on SIGHUP does not end the process.
pub(crate) fn listen() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// Reads the files again whenever there is a reason to, for as long as the agent runs.
pub(crate) async fn follow(member: Member, reloads: Reloads, mut config: AgentConfig, mut told: Signal) {
    let mut read = config.origin.stamp().clone();
    let mut seen = read.clone();
    loop {
        let why = tokio::select! {
            heard = told.recv() => match heard {
                Some(()) => Why::Told,
                None => return,
            },
            () = sleep(LOOK_EVERY) => Why::Changed,
        };
        let now = look(config.origin.clone()).await;
        let rests = now == std::mem::replace(&mut seen, now.clone());
        match why {
            Why::Changed if now == read || !rests => continue,
            Why::Changed | Why::Told => {}
        }
        read = now;
        if let Some(newer) = again(&member, &reloads, &config, why).await {
            read = newer.origin.stamp().clone();
            config = newer;
        }
    }
}

/// Why the files are read again.
#[derive(Clone, Copy, Debug)]
enum Why {
    Told,
    Changed,
}

impl Why {
    const fn in_words(self) -> &'static str {
        match self {
            Self::Told => "SIGHUP",
            Self::Changed => "a file has changed",
        }
    }
}

/// The files may be on a disk that hangs.
async fn look(origin: Origin) -> Stamp {
    spawn_blocking(move || origin.look()).await.unwrap_or_default()
}

/// Reads the files, and takes what they say; `None` if that is wrong.
async fn again(member: &Member, reloads: &Reloads, now: &AgentConfig, why: Why) -> Option<AgentConfig> {
    let origin = now.origin.clone();
    let read = spawn_blocking(move || origin.read_again()).await.ok()?;
    let read = read.map_err(|error| error.problems().to_vec());
    let taken = read.and_then(|config| {
        let taken = reloads.take(member, now, &config).map_err(|problem| vec![problem])?;
        Ok((config, taken))
    });
    match taken {
        Ok((config, taken)) => {
            let Reload { waiting, .. } = reloads.note(Vec::new(), Some(&config.origin));
            tracing::info!("{}", done(why, &taken, &waiting));
            config.cautions.iter().for_each(|caution| tracing::warn!("{caution}"));
            Some(config)
        }
        Err(problems) => {
            for problem in &problems {
                tracing::warn!("{}, and nothing is taken from it: {problem}", why.in_words());
            }
            reloads.note(problems, None);
            None
        }
    }
}

/// What has come of it, in words.
fn done(why: Why, taken: &[&str], waiting: &[&str]) -> String {
    let taken = match taken {
        [] => "nothing that can be reloaded has changed".to_owned(),
        taken => format!("reloaded {}", taken.join(" and ")),
    };
    let why = why.in_words();
    match waiting {
        [] => format!("{why}: {taken}"),
        keys => format!("{why}: {taken}; a restart is needed for `{}`", keys.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_it_is_told() {
        assert_eq!(done(Why::Told, &[], &[]), "SIGHUP: nothing that can be reloaded has changed");
        assert_eq!(
            done(Why::Changed, &["the certificates", "the token"], &["priority", "log.level"]),
            "a file has changed: reloaded the certificates and the token; a restart is needed for `priority`, `log.level`"
        );
    }
}
