//! One run of a program.

use std::io::{self, pipe};
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bellwether::NodeId;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{Ended, Happening, output};
use crate::agent::config;

/// How long is listened to what a program left behind that has ended itself.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Secrets of the agent, which are none of a hook's business.
const SECRETS: [&str; 2] = ["BELLWETHER_TOKEN", "BELLWETHER_API_TOKEN"];

/// What is to be run.
pub(super) struct Run<'r> {
    pub(super) command: &'r config::Command,
    pub(super) happening: &'r Happening,
    pub(super) node: NodeId,
    pub(super) timeout: Duration,
}

impl Run<'_> {
    /// Runs it, until it ends or is killed.
    pub(super) async fn to_its_end(&self, kills: watch::Receiver<bool>) -> Ended {
        let began = Instant::now();
        let (mut child, said) = match self.start() {
            Ok(started) => started,
            Err(error) => return self.conclude(Ended::NotStarted, &error.to_string(), began),
        };
        let happening = self.happening.clone();
        let mut log = tokio::spawn(async move { output::log(said, &happening).await });
        let (ended, how) = self.wait(&mut child, kills).await;
        let _ = timeout(LAST_WORDS, &mut log).await;
        log.abort();
        self.conclude(ended, &how, began)
    }

    /// In a group of its own, so that whatever it starts can be killed with it. The other end of what it prints.
    fn start(&self) -> io::Result<(Child, Receiver)> {
        let (said, says) = pipe()?;
        let mut command = Command::new(&self.command.program);
        command.args(&self.command.args).process_group(0).stdin(Stdio::null());
        command.stdout(says.try_clone()?).stderr(says);
        let secrets = SECRETS.into_iter().map(|secret| (secret, None));
        for (name, value) in self.variables().into_iter().chain(secrets) {
            match value {
                Some(value) => command.env(name, value),
                // The agent may have been started by a hook.
                None => command.env_remove(name),
            };
        }
        let child = command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", self.command.program.display()))
        })?;
        Ok((child, Receiver::from_owned_fd(OwnedFd::from(said))?))
    }

    fn variables(&self) -> [(&'static str, Option<String>); 6] {
        let Happening { election, event, token, epoch, leader } = self.happening;
        [
            ("BELLWETHER_EVENT", Some(event.name().to_owned())),
            ("BELLWETHER_ELECTION", Some(election.to_string())),
            ("BELLWETHER_ELECTION_TOKEN", token.map(|token| token.to_string())),
            ("BELLWETHER_ELECTION_EPOCH", epoch.map(|epoch| epoch.to_string())),
            ("BELLWETHER_ELECTION_NODE", leader.map(|leader| leader.to_string())),
            ("BELLWETHER_NODE", Some(self.node.to_string())),
        ]
    }

    /// Waits until it ends, or kills it.
    async fn wait(&self, child: &mut Child, mut kills: watch::Receiver<bool>) -> (Ended, String) {
        let why = tokio::select! {
            status = child.wait() => return of(status),
            () = sleep(self.timeout) => format!("it took longer than {:?}", self.timeout),
            _ = kills.wait_for(|kills| *kills) => "the agent ends".to_owned(),
        };
        // It was not waited for, so the number is still its own.
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let killed = group.map(|group| killpg(Pid::from_raw(group), Signal::SIGKILL));
        if let Some(Err(error)) = killed {
            tracing::warn!(%error, "a hook could not be killed");
        }
        let _ = child.wait().await;
        (Ended::Killed, why)
    }

    fn conclude(&self, ended: Ended, how: &str, began: Instant) -> Ended {
        let Happening { election, event, token, .. } = self.happening;
        let (event, ms) = (event.name(), began.elapsed().as_millis());
        let program = self.command.program.display();
        match ended {
            Ended::Done => tracing::info!(%election, event, token, %program, ms, "a hook is done"),
            Ended::Failed => tracing::warn!(%election, event, token, %program, ms, how, "a hook failed"),
            Ended::Killed => {
                tracing::warn!(%election, event, token, %program, ms, why = how, "a hook was killed, with its group");
            }
            Ended::NotStarted => {
                tracing::error!(%election, event, token, why = how, "a hook could not be started");
            }
        }
        ended
    }
}

fn of(status: io::Result<ExitStatus>) -> (Ended, String) {
    match status {
        Ok(status) if status.success() => (Ended::Done, String::new()),
        Ok(status) => (Ended::Failed, status.to_string()),
        Err(error) => (Ended::Failed, error.to_string()),
    }
}
