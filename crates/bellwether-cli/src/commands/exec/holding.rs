//! From one leadership to the next.

use std::time::{Duration, Instant};

use bellwether::Backoff;
use bellwether::client::{Candidacy, Client, ClientError, Death, Leadership, Refusal, Session};
use bellwether::proto::exclusive::grant::Name;
use nix::sys::signal::Signal as Number;
use tokio::time::{sleep, timeout};

use super::bond::Bond;
use super::door;
use super::running::{Ran, why};
use super::signals::{Signals, code};
use super::words::End;
use crate::Status;
use crate::args::exec::{ExecArgs, OnLost};
use crate::client::Door;
use crate::output::Printer;
use crate::trouble::Trouble;

/// How long an agent that does not answer is waited for when something is given back.
const GIVE_BACK_MAX: Duration = Duration::from_secs(5);

/// What it takes to run a command while a name is held.
pub(super) struct Exec<'a> {
    pub(super) args: &'a ExecArgs,
    pub(super) out: &'a Printer,
    pub(super) session: Session,
    pub(super) bond: Bond,
    pub(super) signals: Signals,
    door: Door,
    client: Client,
    /// Whether the agent has ever let it wait.
    was_admitted: bool,
}

/// What comes after a leadership.
enum After {
    /// The next one.
    Next,
    End(Status),
}

impl<'a> Exec<'a> {
    /// Runs the command whenever the name is held, until there is a reason to end.
    pub(super) async fn run(args: &'a ExecArgs, out: &'a Printer) -> Result<Status, Trouble> {
        Name::new(&args.name).map_err(|error| Trouble::wrong(format!("--name: {error}")))?;
        let mut signals = Signals::listen()
            .map_err(|error| Trouble::failed(format!("cannot listen for signals: {error}")))?;
        let opened = async {
            let door = Door::of(&args.door);
            let client = door::client(&door, &args.token).await?;
            let session = client.session().await.map_err(|error| door::trouble(&door, &error))?;
            Ok::<_, Trouble>((door, client, session))
        };
        let (door, client, session) = tokio::select! {
            opened = opened => opened?,
            number = signals.next_end() => return Ok(Status::Of(code(number))),
        };
        let bond = tie(args, &door).await?;
        let mut exec = Exec { args, out, session, bond, signals, door, client, was_admitted: false };
        exec.bind_warden().await.map_err(|error| door::trouble(&exec.door, &error))?;
        let ended = exec.go_on().await;
        exec.end().await;
        ended
    }

    async fn go_on(&mut self) -> Result<Status, Trouble> {
        loop {
            let leadership = match self.wait().await? {
                Ok(leadership) => leadership,
                Err(number) => return Ok(Status::Of(code(number))),
            };
            match self.hold(&leadership).await {
                Ok(After::Next) => {}
                Ok(After::End(status)) => return Ok(status),
                Err(trouble) => {
                    // Nothing goes on when the name is given back.
                    self.bond.seize();
                    self.give_back(&leadership).await;
                    return Err(trouble);
                }
            }
        }
    }

    /// Waits until the name is held, or a signal comes.
    async fn wait(&mut self) -> Result<Result<Leadership, Number>, Trouble> {
        let mut backoff = Backoff::new();
        let candidacy =
            Candidacy { kind: self.args.kind, priority: self.args.priority, value: String::new() };
        loop {
            let error = tokio::select! {
                held = self.session.campaign(&self.args.name, candidacy.clone()) => match held {
                    Ok(leadership) => {
                        self.was_admitted = true;
                        return Ok(Ok(leadership));
                    }
                    Err(error) => error,
                },
                number = self.signals.next_end() => return Ok(Err(number)),
                // It says nothing while there is no command.
                report = self.bond.report() => {
                    if report.is_none() {
                        self.tie_again().await?;
                    }
                    continue;
                }
            };
            if error.is_bad_input() || (!self.was_admitted && is_lasting(&error)) {
                return Err(door::trouble(&self.door, &error));
            }
            self.out.note(format_args!("\"{}\" is not campaigned for yet: {error}", self.args.name));
            tokio::select! {
                () = sleep(backoff.after(Duration::ZERO)) => {}
                number = self.signals.next_end() => return Ok(Err(number)),
            }
            // The agent may not know the session any more.
            if let Ok(session) = self.client.session().await {
                self.session = session;
                if let Err(error) = self.bind_warden().await {
                    self.out.note(error);
                }
            }
        }
    }

    /// Runs the command again and again while the name is held. It is given back when nothing of the command is left.
    async fn hold(&mut self, leadership: &Leadership) -> Result<After, Trouble> {
        let mut backoff = Backoff::new();
        loop {
            let began = Instant::now();
            let after = match self.run_once(leadership).await? {
                Ran::Ended(End::Unstartable(what)) => {
                    self.out.error(what.why);
                    After::End(Status::Of(what.code))
                }
                Ran::WasTold(end) => After::End(Status::Of(end.code())),
                Ran::Ended(end) if self.args.once => After::End(Status::Of(end.code())),
                Ran::Ended(end) => match self.pause(leadership, &end, backoff.after(began.elapsed())).await {
                    Some(after) => after,
                    None => continue,
                },
                Ran::Stopped => self.lost(leadership),
            };
            self.give_back(leadership).await;
            return Ok(after);
        }
    }

    /// The command has ended, and is not started again at once; `None` when it is to be.
    async fn pause(&mut self, leadership: &Leadership, end: &End, pause: Duration) -> Option<After> {
        let how = match end {
            End::Exited(code) => format!("ended with exit code {code}"),
            End::Killed(number) => format!("was killed by signal {number}"),
            End::Unstartable(what) => what.why.clone(),
        };
        self.out.note(format_args!("the command {how}; it is started again in {} ms", pause.as_millis()));
        tokio::select! {
            () = sleep(pause) => None,
            () = leadership.ended() => Some(self.lost(leadership)),
            number = self.signals.next_end() => Some(After::End(Status::Of(code(number)))),
        }
    }

    /// The name is not to be held any more.
    fn lost(&self, leadership: &Leadership) -> After {
        match self.args.on_lost {
            OnLost::Wait => After::Next,
            OnLost::Exit => {
                self.out.error(why(leadership));
                After::End(Status::No)
            }
        }
    }

    async fn give_back(&self, leadership: &Leadership) {
        if let Err(error) = leadership.clone().resign().await {
            self.out
                .note(format_args!("\"{}\" is not certain to be given back yet: {error}", leadership.name()));
        }
    }

    /// Another warden in the place of one that is gone.
    pub(super) async fn tie_again(&mut self) -> Result<(), Trouble> {
        self.bond.seize();
        self.session.unbind(self.bond.pid());
        self.bond = tie(self.args, &self.door).await?;
        // An agent that is away is told when it is back.
        if let Err(error) = self.bind_warden().await {
            self.out.note(error);
        }
        Ok(())
    }

    /// The agent gives nothing back while the warden lives, and the warden lives as long as anything of the command does.
    async fn bind_warden(&self) -> Result<(), ClientError> {
        match self.session.death() {
            Death::Certain => self.session.bind(self.bond.pid()).await,
            Death::Presumed => Ok(()),
        }
    }

    /// Nothing is held any more, and nothing runs.
    async fn end(self) {
        let Exec { session, bond, client, .. } = self;
        // While a process is bound, the end of the stream says nothing.
        let _ = timeout(GIVE_BACK_MAX, client.close(&session.key())).await;
        bond.untie();
    }
}

async fn tie(args: &ExecArgs, door: &Door) -> Result<Bond, Trouble> {
    let cannot =
        |error| Trouble::failed(format!("cannot start the process that watches over the command: {error}"));
    Bond::tie(&args.command, door).await.map_err(cannot)
}

/// Whether an agent that was never of another opinion will say the same again.
fn is_lasting(error: &ClientError) -> bool {
    match error {
        ClientError::Refused { refusal, .. } => *refusal != Refusal::Ending,
        ClientError::Over(_) => false,
        error => !error.is_passing(),
    }
}
