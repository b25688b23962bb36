//! A writer's process: an agent, and what writes while it leads.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bellwether::{Leadership, Member};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::sleep;

use super::wire::{Answer, LINE_MAX, Request, What};
use crate::Status;
use crate::agent::config::Overrides;
use crate::args::demo::PenArgs;
use crate::commands::agent;
use crate::output::Printer;

/// How long a line takes to compose. Most pauses come while one is composed: between the check and the write.
pub(super) const COMPOSED_IN: Duration = Duration::from_millis(50);

/// What it prints.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Report {
    /// It has found that it no longer leads with that token.
    Stopped { token: u64 },
}

/// Why nothing more is written with a token.
enum Over {
    /// The member says so.
    NotHeld,
    /// The store says so.
    Refused,
}

pub(in crate::commands::demo) fn run(args: &PenArgs, out: &Printer) -> Status {
    let config = match agent::load(&args.config, &Overrides::default(), out) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let beside = async |member: Member, _: SocketAddr| work(&member, &args.store, out).await;
    agent::play(config, true, None, beside, out)
}

/// Writes whenever the member leads.
async fn work(member: &Member, socket: &Path, out: &Printer) -> Result<(), String> {
    while let Ok(leadership) = member.campaign().await {
        let token = leadership.token().ok_or("found a leader without a token, expected mode exclusive")?;
        let over = write_while_led(&leadership, token, socket).await;
        match over.map_err(|error| format!("the store does not answer: {error}"))? {
            Over::NotHeld => {
                out.line(serde_json::to_string(&Report::Stopped { token }).unwrap_or_default());
            }
            // There is a newer leader. This member is about to hear of it.
            Over::Refused => leadership.ended().await,
        }
    }
    Ok(())
}

async fn write_while_led(leadership: &Leadership, token: u64, socket: &Path) -> io::Result<Over> {
    let mut stream = BufReader::new(UnixStream::connect(socket).await?);
    let mut ask = async |what| {
        let request = Request { node: leadership.node().0, token, what };
        exchange(&mut stream, &request).await
    };
    let Answer::Opened { mut last } = ask(What::Open).await? else { return Ok(Over::Refused) };
    // Not `check`, which goes on to succeed while leadership is asked back: there is no line that must be finished first.
    while leadership.is_held() {
        sleep(COMPOSED_IN).await;
        // It was checked before, and not now: that is what the store is for.
        if ask(What::Write(last + 1)).await? != Answer::Taken {
            return Ok(Over::Refused);
        }
        last += 1;
    }
    Ok(Over::NotHeld)
}

async fn exchange(stream: &mut BufReader<UnixStream>, request: &Request) -> io::Result<Answer> {
    let request = format!("{}\n", serde_json::to_string(request)?);
    stream.get_mut().write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(LINE_MAX).read_line(&mut answer).await?;
    Ok(serde_json::from_str(&answer)?)
}
