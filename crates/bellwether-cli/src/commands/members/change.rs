//! `bellwether members add`, `remove`, `replace` and `rescue`.

use serde_json::Value;

use super::tell;
use crate::args::members::{AddArgs, ChangeArgs, HowArgs, RemoveArgs, ReplaceArgs, RescueArgs};
use crate::client::{Client, Failure, understand};
use crate::output::Printer;
use crate::schema::{AddMember, Members, ReplaceMember, Rescue};

/// Asks for the change, and says who votes then.
pub(super) fn run(change: &ChangeArgs, out: &Printer) -> Result<(), Failure> {
    let (how, answer) = match change {
        ChangeArgs::Add(args) => (&args.how, add(args)?),
        ChangeArgs::Remove(args) => (&args.how, remove(args)?),
        ChangeArgs::Replace(args) => (&args.how, replace(args)?),
        ChangeArgs::Rescue(args) => (&args.how, rescue(args)?),
    };
    if how.api.json {
        out.line(&answer);
    } else {
        let members: Members = understand(answer)?;
        members.configuration.iter().for_each(|configuration| tell(configuration, out));
    }
    Ok(())
}

fn add(args: &AddArgs) -> Result<Value, Failure> {
    let asked = AddMember { id: args.id, address: args.address.clone() };
    client(&args.how)?.post("/v1/members", &asked)
}

fn remove(args: &RemoveArgs) -> Result<Value, Failure> {
    client(&args.how)?.delete(&format!("/v1/members/{}", args.id))
}

fn replace(args: &ReplaceArgs) -> Result<Value, Failure> {
    let asked = ReplaceMember { address: args.address.clone() };
    client(&args.how)?.post(&format!("/v1/members/{}/replace", args.id), &asked)
}

fn rescue(args: &RescueArgs) -> Result<Value, Failure> {
    if !args.yes {
        return Err(Failure::BadInput(format!("{}. If that is what you want, say --yes", Rescue::COST)));
    }
    let asked = Rescue { survivors: args.survivors.clone(), yes: args.yes };
    client(&args.how)?.post("/v1/members/rescue", &asked)
}

fn client(how: &HowArgs) -> Result<Client, Failure> {
    Client::new(&how.api).with_token(&how.token)
}
