//! `tls rotate`: another authority in the place of the present one. In between, members trust both.
//!
//! At every moment the files belong together: the key that is there is that of one of the certificates.

use bellwether::tls::{Authority, Certificate, Validity};
use serde_json::json;

use super::place::{CA_CERT, CA_KEY, CA_OLD_KEY, Place, is_there, node_files};
use super::plan::{NewFile, Readers, unusable};
use super::write;
use crate::args::tls::TlsRotateArgs;
use crate::layout::hanging;
use crate::output::Printer;
use crate::trouble::Trouble;

pub(super) fn run(args: &TlsRotateArgs, out: &Printer) -> Result<(), Trouble> {
    let place = Place::of(&args.place)?;
    let authority = place.authority()?;
    let (files, done, next) =
        if args.finish { finish(&place, &authority)? } else { begin(args, &place, &authority)? };
    write::replace(&place.directory, &files)?;
    if args.place.json {
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        out.line(json!({"directory": place.directory.display().to_string(), "written": names, "done": done}));
        return Ok(());
    }
    for file in &files {
        out.line(format_args!("wrote  {}", place.path(&file.name).display()));
    }
    out.line(hanging("", next));
    Ok(())
}

/// What to write, whether it is over, and what comes next.
type Step = (Vec<NewFile>, bool, &'static str);

fn begin(args: &TlsRotateArgs, place: &Place, authority: &Authority) -> Result<Step, Trouble> {
    if authority.succeeds_another() {
        return Err(Trouble::wrong(format!(
            "{} has two authorities already: `bellwether tls renew`, give all members their certificates, and then \
             `bellwether tls rotate --finish`",
            place.path(CA_CERT).display()
        )));
    }
    let next = authority.successor(Validity::days(args.authority_days)).map_err(unusable)?;
    let files = vec![
        secret(CA_OLD_KEY, authority.key_pem()),
        public(CA_CERT, next.cert_pem()),
        secret(CA_KEY, next.key_pem()),
    ];
    let advice = "Give every member ca.pem: it has both authorities. Then run `bellwether tls renew`, give each member its \
                  certificate, and end with `bellwether tls rotate --finish`.";
    Ok((files, false, advice))
}

/// Whoever still has a certificate of the old one would be refused.
fn finish(place: &Place, authority: &Authority) -> Result<Step, Trouble> {
    if !authority.succeeds_another() {
        return Err(Trouble::wrong(format!(
            "{} has one authority: there is nothing to finish",
            place.path(CA_CERT).display()
        )));
    }
    for node in place.cluster.nodes.iter().flatten() {
        let (name, _) = node_files(*node);
        if !is_there(&place.path(&name)) {
            continue;
        }
        let cert = place.read(&name)?;
        Certificate::check(&cert, authority.own_pem(), None, &place.cluster.cluster, *node).map_err(
            |error| {
                let path = place.path(&name);
                Trouble::wrong(format!("{}: {error}: run `bellwether tls renew` first", path.display()))
            },
        )?;
    }
    let advice =
        "Give every member ca.pem, when all have their new certificates. ca-old.key can be destroyed then.";
    Ok((vec![public(CA_CERT, authority.own_pem())], true, advice))
}

fn public(name: &str, content: &str) -> NewFile {
    NewFile { name: name.to_owned(), content: content.to_owned(), readers: Readers::All }
}

fn secret(name: &str, content: String) -> NewFile {
    NewFile { name: name.to_owned(), content, readers: Readers::Owner }
}
