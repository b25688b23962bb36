//! `bellwether arbiter init`: what PostgreSQL needs to keep elections.

use std::fs;

use bellwether::arbiter::{ClientTls, Postgres, PostgresConfig};
use tokio::runtime::Builder;

use crate::Status;
use crate::args::arbiter::{ArbiterArgs, ArbiterCommand, ArbiterInitArgs};
use crate::output::Printer;
use crate::trouble::Trouble;

pub(crate) fn run(args: &ArbiterArgs, out: &Printer) -> Status {
    match &args.command {
        ArbiterCommand::Init(args) => init(args, out).unwrap_or_else(|trouble| trouble.told(out)),
    }
}

fn init(args: &ArbiterInitArgs, out: &Printer) -> Result<Status, Trouble> {
    let Some(url) = &args.url else {
        out.line(Postgres::schema().trim_end());
        return Ok(Status::Done);
    };
    let mut config = PostgresConfig::new(url);
    config.tls = match &args.ca {
        None => None,
        Some(file) => {
            let ca = fs::read_to_string(file);
            let ca =
                ca.map_err(|error| Trouble::wrong(format!("cannot read {}: {error}", file.display())))?;
            Some(ClientTls { ca, identity: None })
        }
    };
    let postgres = Postgres::new(&config).map_err(told)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::failed(format!("cannot start: {error}")))?;
    runtime.block_on(postgres.init()).map_err(told)?;
    out.line("the schema is there");
    Ok(Status::Done)
}

fn told(trouble: bellwether::arbiter::Trouble) -> Trouble {
    match trouble.is_bad_input() {
        true => Trouble::wrong(trouble.to_string()),
        false => Trouble::failed(trouble.to_string()),
    }
}
