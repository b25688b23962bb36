//! `bellwether campaign`: holds a named election, or waits for it, and says what becomes of that.

use std::process::exit;
use std::time::Instant;

use serde_json::Value;

use crate::Status;
use crate::args::elections::CampaignArgs;
use crate::client::events::Events;
use crate::client::{Client, Failure, encoded, understand};
use crate::output::Printer;
use crate::schema::elections::{Campaign, Event};
use crate::signals::when_asked_to_end;

/// As shells say it.
const INTERRUPTED: i32 = 130;
const FAILED: i32 = 3;

pub(crate) fn run(args: &CampaignArgs, out: &Printer) -> Status {
    match hold(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn hold(args: &CampaignArgs, out: &Printer) -> Result<(), Failure> {
    let client = Client::new(&args.api).with_token(&args.token)?;
    let mut events = client.session()?;
    let (id, secret) = match next(&mut events)? {
        Some((Event::Session { session, secret, .. }, said)) => {
            if args.api.json {
                out.line(said);
            }
            (session, secret)
        }
        Some(_) | None => return Err(Failure::Failed("the agent did not open a session".to_owned())),
    };
    let path = format!("/v1/session/{id}");
    give_back_at_the_end(client.clone(), secret.clone(), path.clone())?;
    let campaign = format!("{path}/campaign/{}", encoded(&args.name));
    let mut held = Held { args, out, client: &client, secret: &secret, campaign, began: Instant::now() };
    held.campaign()?;
    held.follow(&mut events)
}

/// Ctrl-C ends the session in an orderly way; a second one ends this process at once. The agent ends the stream.
#[allow(clippy::exit, reason = "the second Ctrl-C is meant so, and so is one that the agent does not heed")]
fn give_back_at_the_end(client: Client, secret: String, path: String) -> Result<(), Failure> {
    let mut asked = false;
    let end = move || {
        if std::mem::replace(&mut asked, true) {
            exit(INTERRUPTED);
        }
        if let Err(failure) = client.delete_of(&secret, &path) {
            failure.report(&Printer::new());
            exit(FAILED);
        }
    };
    when_asked_to_end(end).map_err(Failure::Failed)
}

/// The next event, and how it was said.
fn next(events: &mut Events) -> Result<Option<(Event, Value)>, Failure> {
    let broken = |error| Failure::Failed(format!("the agent is lost: {error}"));
    let Some(event) = events.next().map_err(broken)? else { return Ok(None) };
    let mut said: Value = serde_json::from_str(&event.data).unwrap_or_default();
    if let Some(said) = said.as_object_mut() {
        said.insert("event".to_owned(), event.name.into());
    }
    Ok(Some((understand(said.clone())?, said)))
}

/// What is campaigned for.
struct Held<'a> {
    args: &'a CampaignArgs,
    out: &'a Printer,
    client: &'a Client,
    secret: &'a str,
    campaign: String,
    began: Instant,
}

impl Held<'_> {
    fn campaign(&mut self) -> Result<(), Failure> {
        let body = Campaign {
            kind: self.args.kind.map(|kind| kind.name().to_owned()),
            value: self.args.value.clone(),
            priority: self.args.priority,
            keep: None,
        };
        self.client.post_of(self.secret, &self.campaign, &body).map(drop)
    }

    fn follow(&mut self, events: &mut Events) -> Result<(), Failure> {
        while let Some((event, said)) = next(events)? {
            if self.args.api.json {
                self.out.line(&said);
            } else if let Some(words) = words(&event) {
                self.out.line(format_args!("{:>9.3}s  {words}", self.began.elapsed().as_secs_f64()));
            }
            match event {
                Event::AskedBack { why, .. } => self.give_back(&why)?,
                Event::Refused { name, kind, .. } => {
                    return Err(Failure::Failed(format!("\"{name}\" is of kind {kind}: say --kind {kind}")));
                }
                Event::End { why } if why == "closed" => return Ok(()),
                Event::End { why } => {
                    return Err(Failure::Failed(format!("the agent ended the session: {why}")));
                }
                _ => {}
            }
            if self.out.is_closed() {
                return Ok(());
            }
        }
        Err(Failure::Failed("the agent is lost: its stream broke off".to_owned()))
    }

    /// Nothing is done here that would have to end before. Then it waits again, if there is an agent to wait at.
    fn give_back(&mut self, why: &str) -> Result<(), Failure> {
        self.client.delete_of(self.secret, &self.campaign)?;
        if why == "agent-leaves" { Ok(()) } else { self.campaign() }
    }
}

fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::Waiting { name, position: Some(position), .. } => {
            format!("waits for \"{name}\", in place {position}")
        }
        Event::Waiting { name, position: None, .. } => format!("waits for \"{name}\""),
        Event::Elected { name, token, .. } => format!("holds \"{name}\", token {token}"),
        Event::AskedBack { name, why, .. } => format!("is asked to give \"{name}\" back ({why}), and does"),
        Event::Lost { name, token, why } => format!("has lost \"{name}\", token {token} ({why})"),
        Event::Refused { name, kind, .. } => format!("cannot have \"{name}\", which is of kind {kind}"),
        Event::End { why } => format!("the session has ended ({why})"),
        Event::Session { session, death, .. } => format!("session {session}; its death is {death}"),
        // As often as a heart beats.
        Event::Valid { .. } => return None,
        // Of other streams.
        Event::Election(_) | Event::None { .. } | Event::Other => return None,
    })
}
