//! `bellwether tls`: an authority for a cluster, and certificates for its members, from the first to the last.
//!
//! | command | writes |
//! |---|---|
//! | `init` | what is missing: the authority, members' keys and certificates |
//! | `renew` | members' certificates anew, for the keys that they have |
//! | `revoke` | the list of certificates that are not trusted any more |
//! | `rotate` | another authority; until `--finish` both are trusted |
//! | `show` | nothing |

mod init;
mod place;
mod plan;
mod renew;
mod revoke;
mod rotate;
mod show;
mod write;

use crate::Status;
use crate::args::tls::{TlsArgs, TlsCommand};
use crate::output::Printer;

pub(crate) fn run(args: &TlsArgs, out: &Printer) -> Status {
    let done = match &args.command {
        TlsCommand::Init(args) => init::run(args, out),
        TlsCommand::Renew(args) => renew::run(args, out),
        TlsCommand::Show(args) => return show::run(args, out).unwrap_or_else(|trouble| trouble.told(out)),
        TlsCommand::Revoke(args) => revoke::run(args, out),
        TlsCommand::Rotate(args) => rotate::run(args, out),
    };
    match done {
        Ok(()) => Status::Done,
        Err(trouble) => {
            out.error(format_args!("{}; nothing was written", trouble.what));
            trouble.status
        }
    }
}
