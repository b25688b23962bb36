//! `tls renew`: new certificates for the keys that members have. Only public files change, one for each member.

use bellwether::tls::Validity;
use serde_json::json;

use super::place::{Place, REVOKED, node_files};
use super::plan::{NewFile, Readers};
use super::write;
use crate::args::tls::TlsRenewArgs;
use crate::layout::hanging;
use crate::output::Printer;
use crate::trouble::Trouble;
use crate::words::counted;

pub(super) fn run(args: &TlsRenewArgs, out: &Printer) -> Result<(), Trouble> {
    let place = Place::of(&args.place)?;
    let (authority, revoked) = (place.authority()?, place.read_if_there(REVOKED)?);
    let mut files = Vec::new();
    for node in place.some_members(&args.nodes)? {
        let (name, _) = node_files(node);
        let old = place.read(&name)?;
        let wrong = |error| place.wrong(&name, &error);
        if let Some(list) = &revoked
            && authority.has_revoked(list, &old).map_err(wrong)?
        {
            return Err(Trouble::wrong(format!(
                "{} is revoked, and with it its key: delete both files of node {node} and run `bellwether tls init`",
                place.path(&name).display()
            )));
        }
        let content = authority.renew(node, &old, Validity::days(args.days)).map_err(wrong)?;
        files.push(NewFile { name, content, readers: Readers::All });
    }
    write::replace(&place.directory, &files)?;
    let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
    if args.place.json {
        out.line(
            json!({"directory": place.directory.display().to_string(), "renewed": names, "days": args.days}),
        );
        return Ok(());
    }
    for name in names {
        out.line(format_args!("renewed  {}, for {}", place.path(name).display(), counted(args.days, "day")));
    }
    out.line(hanging(
        "",
        "Give each machine its own. The key stays, and the agent takes the certificate by itself.",
    ));
    Ok(())
}
