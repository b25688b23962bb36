//! `tls revoke`: certificates that are not to be trusted any more.

use serde_json::json;

use super::place::{Place, REVOKED, node_files, read};
use super::plan::{NewFile, Readers};
use super::write;
use crate::args::tls::TlsRevokeArgs;
use crate::layout::hanging;
use crate::output::Printer;
use crate::trouble::Trouble;

pub(super) fn run(args: &TlsRevokeArgs, out: &Printer) -> Result<(), Trouble> {
    let place = Place::of(&args.place)?;
    let authority = place.authority()?;
    let mut paths = args.certs.clone();
    if !args.nodes.is_empty() {
        paths
            .extend(place.some_members(&args.nodes)?.into_iter().map(|node| place.path(&node_files(node).0)));
    }
    let mut list = place.read_if_there(REVOKED)?;
    for path in &paths {
        let revoked = authority.revoke(list.as_deref(), &[&read(path)?]);
        list = Some(revoked.map_err(|error| Trouble::wrong(format!("{}: {error}", path.display())))?);
    }
    let content = list.unwrap_or_default();
    write::replace(
        &place.directory,
        &[NewFile { name: REVOKED.to_owned(), content, readers: Readers::All }],
    )?;
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    if args.place.json {
        let list = place.path(REVOKED).display().to_string();
        out.line(json!({"directory": place.directory.display().to_string(), "revoked": shown, "list": list}));
        return Ok(());
    }
    for path in shown {
        out.line(format_args!("revoked  {path}"));
    }
    let advice =
        "Give every member crl.pem, as `crl` under [tls]. Until a member has it, it trusts the certificate.";
    out.line(hanging("", advice));
    Ok(())
}
