//! One run of the command, from the process that is to become it to the last that it leaves behind.

use std::time::Duration;

use bellwether::client::{ClientError, Death, Leadership, Standing};
use nix::sys::signal::Signal as Number;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::holding::Exec;
use super::margin::{self, Stopping};
use super::words::{End, Order, Report};
use super::{token_file, uptime};
use crate::trouble::Trouble;

/// How often is looked whether the warden is late, while the command is being stopped.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What has become of the command. Nothing of it is left.
#[derive(Debug)]
pub(super) enum Ran {
    /// It ended by itself, or could not be started.
    Ended(End),
    /// It ended because this process was told to.
    WasTold(End),
    /// It was stopped, because the name is held no more or soon will be.
    Stopped,
}

/// A run that goes on.
struct Run<'l> {
    leadership: &'l Leadership,
    /// No clock decides until when the name is held.
    is_by_store: bool,
    token: u64,
    pid: Option<u32>,
    stopping: Option<Stopping>,
    /// Signals that ask for an end.
    told_to_end: bool,
    hung_up: bool,
}

impl Exec<'_> {
    /// Runs the command until it has ended, or must not go on.
    pub(super) async fn run_once(&mut self, leadership: &Leadership) -> Result<Ran, Trouble> {
        let mut changes = leadership.changes();
        let mut run = Run {
            leadership,
            is_by_store: leadership.deadline().is_none(),
            token: leadership.token(),
            pid: None,
            stopping: None,
            told_to_end: false,
            hung_up: false,
        };
        self.keep_token(run.token)?;
        self.bond.order(&Order::Prepare {
            election: leadership.name().to_owned(),
            token: run.token,
            node: node_of(leadership),
            times: margin::times(leadership),
        });
        self.tell(&run);
        let (mut bound, mut is_told) = (JoinSet::new(), true);
        loop {
            tokio::select! {
                report = self.bond.report() => match report {
                    Some(Report::Prepared { pid }) => {
                        run.pid = Some(pid);
                        self.bind(pid, &mut bound);
                    }
                    Some(Report::Unprepared { why }) => {
                        return Err(Trouble::failed(format!("cannot make a process for the command: {why}")));
                    }
                    Some(Report::Ready | Report::Started) => {}
                    Some(Report::Ended { end, was_stopped }) => {
                        self.bond.order(&Order::Noted);
                        run.pid.iter().for_each(|pid| self.session.unbind(*pid));
                        return Ok(run.ran(end, was_stopped));
                    }
                    None => return self.without_warden(&run, "was killed").await,
                },
                Some(answer) = bound.join_next() => self.open_gate(&run, answer.ok()),
                goes_on = changes.next(), if is_told => {
                    is_told = goes_on;
                    self.renewed(&mut run)?;
                }
                () = leadership.ended(), if run.stopping.is_none() => self.stop(&mut run),
                number = self.signals.next() => {
                    run.told_to_end |= [Number::SIGTERM, Number::SIGINT, Number::SIGQUIT].contains(&number);
                    run.hung_up |= number == Number::SIGHUP;
                    self.bond.order(&Order::Signal(number as i32));
                }
                () = late(run.stopping) => return self.without_warden(&run, "does not answer").await,
            }
        }
    }

    /// The agent gives nothing back while the process lives. Over TCP it cannot know.
    fn bind(&self, pid: u32, bound: &mut JoinSet<Result<(), ClientError>>) {
        let session = self.session.clone();
        bound.spawn(async move {
            match session.death() {
                Death::Certain => session.bind(pid).await,
                Death::Presumed => Ok(()),
            }
        });
    }

    /// Lets the process become the command, if it is bound and there is time.
    fn open_gate(&self, run: &Run<'_>, bound: Option<Result<(), ClientError>>) {
        if let Some(Err(error)) = &bound {
            self.out.note(format_args!("the command is not started: {error}"));
        }
        if matches!(bound, Some(Ok(()))) && run.stopping.is_none() && run.leadership.check().is_ok() {
            self.bond.order(&Order::Go);
        } else {
            self.bond.order(&Order::Stop { by: Some(uptime::now()) });
        }
    }

    /// Something about the leadership has changed.
    fn renewed(&self, run: &mut Run<'_>) -> Result<(), Trouble> {
        self.tell(run);
        let token = run.leadership.token();
        if token != run.token {
            run.token = token;
            self.keep_token(token)?;
        }
        if run.stopping.is_some() {
            self.stop(run);
        }
        Ok(())
    }

    /// Until when the command may run.
    fn tell(&self, run: &Run<'_>) {
        let key = self.session.key();
        let session = (key.id().to_owned(), key.secret().to_owned());
        self.bond.order(&Order::Renewed { times: margin::times(run.leadership), session });
    }

    /// Has the command stopped, for the reason that there is now.
    fn stop(&self, run: &mut Run<'_>) {
        let stopping = margin::stopping(run.leadership, run.is_by_store);
        if run.stopping.is_none() {
            self.out.note(format_args!("{}: the command is stopped", why(run.leadership)));
        }
        self.bond.order(&Order::Stop { by: stopping.by });
        // What is urgent once remains so.
        let sooner = |before: Stopping| before.by.is_some() && before.seize_at < stopping.seize_at;
        run.stopping = Some(run.stopping.filter(|before| sooner(*before)).unwrap_or(stopping));
    }

    /// Does the warden's work, and starts another.
    async fn without_warden(&mut self, run: &Run<'_>, what: &str) -> Result<Ran, Trouble> {
        self.bond.seize();
        self.out
            .note(format_args!("the process that watches over the command {what}: the command was killed"));
        run.pid.iter().for_each(|pid| self.session.unbind(*pid));
        self.tie_again().await?;
        let killed = End::Killed(Number::SIGKILL as i32);
        Ok(if run.told_to_end { Ran::WasTold(killed) } else { Ran::Stopped })
    }

    fn keep_token(&self, token: u64) -> Result<(), Trouble> {
        self.args.write_token.as_deref().map_or(Ok(()), |file| token_file::write(file, token))
    }
}

impl Run<'_> {
    fn ran(&self, end: End, was_stopped: bool) -> Ran {
        let hung_up = self.hung_up && matches!(end, End::Killed(number) if number == Number::SIGHUP as i32);
        match was_stopped {
            _ if self.told_to_end || hung_up => Ran::WasTold(end),
            true => Ran::Stopped,
            false => Ran::Ended(end),
        }
    }
}

/// The member through which it is held: an agent is one.
fn node_of(leadership: &Leadership) -> u32 {
    leadership.node().map_or(0, |node| node.0)
}

/// When the warden is late with saying that all is dead. The clock of that counts the time for which the machine is suspended, so it is
/// looked at again and again.
async fn late(stopping: Option<Stopping>) {
    let Some(at) = stopping.and_then(|stopping| stopping.seize_at) else {
        return std::future::pending().await;
    };
    while uptime::now() < at {
        sleep(LOOK_EVERY).await;
    }
}

/// Why the name is not held any more, or soon will not be.
pub(super) fn why(leadership: &Leadership) -> String {
    let name = leadership.name();
    match leadership.standing() {
        Standing::Held => format!("the validity of \"{name}\" is about to end, and nothing renews it"),
        Standing::AskedBack { why, .. } => format!("\"{name}\" is asked back: {why}"),
        Standing::Over(why) => format!("\"{name}\" is lost: {why}"),
        _ => format!("\"{name}\" is lost"),
    }
}
