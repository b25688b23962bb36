//! `bellwether flaws`: finds every known flaw of the papers by itself, shrinks it, draws it, and tries the repair.

mod document;
mod files;
mod hunt;
mod print;

use bellwether_sim::flaw::{Evidence, Flaw};

use crate::Status;
use crate::args::flaws::FlawsArgs;
use crate::output::Printer;
use crate::work::cores;
use files::Folder;
use hunt::Hunted;

pub(crate) fn run(args: &FlawsArgs, out: &Printer) -> Status {
    let flaws = match files::read(&args.dir).and_then(|flaws| chosen(args, flaws)) {
        Ok(flaws) => flaws,
        Err(errors) => {
            errors.iter().for_each(|error| out.error(error));
            return Status::BadInput;
        }
    };
    let done = match (&args.verify, &args.out) {
        (Some(dir), _) => verify(&flaws, &Folder::new(dir), args, out),
        (None, Some(dir)) => {
            Folder::prepare(dir).and_then(|folder| hunt_all(&flaws, Some(&folder), args, out))
        }
        (None, None) => hunt_all(&flaws, None, args, out),
    };
    match done {
        Ok(true) => Status::Done,
        Ok(false) => Status::No,
        Err(error) => {
            out.error(error);
            Status::Failed
        }
    }
}

/// The flaws that were named, or all.
fn chosen(args: &FlawsArgs, flaws: Vec<Flaw>) -> Result<Vec<Flaw>, Vec<String>> {
    let unknown = args.names.iter().filter(|name| !flaws.iter().any(|flaw| flaw.erratum == **name));
    let dir = args.dir.display();
    let unknown: Vec<_> =
        unknown.map(|name| format!("no flaw {name}, expected the name of a file in {dir}")).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let wanted = |flaw: &Flaw| args.names.is_empty() || args.names.contains(&flaw.erratum);
    Ok(flaws.into_iter().filter(wanted).collect())
}

/// Hunts one flaw after the other, and keeps what is found as soon as it is. True if all went as the files say.
fn hunt_all(
    flaws: &[Flaw],
    folder: Option<&Folder>,
    args: &FlawsArgs,
    out: &Printer,
) -> Result<bool, String> {
    let mut hunted = Vec::new();
    for (at, flaw) in flaws.iter().enumerate() {
        let Evidence::Run(hunt) = &flaw.evidence else { continue };
        let place = format!("{} ({} of {})", flaw.erratum, at + 1, flaws.len());
        let result =
            hunt::hunt(flaw, hunt, threads(args), |what| out.progress(format_args!("{place}: {what}")));
        out.progress_done();
        if args.json {
            out.line(print::json(flaw, hunt, &result));
        }
        if let (Some(folder), Hunted::Found(shown)) = (folder, &result) {
            folder.write_shown(flaw, shown)?;
        }
        hunted.push((flaw, &**hunt, result));
    }
    if !args.json {
        print::text(&hunted, flaws, out);
    }
    if let Some(folder) = folder.filter(|_| args.names.is_empty()) {
        folder.write_table(&document::whole(flaws, &hunted))?;
    }
    Ok(hunted.iter().all(|(_, hunt, result)| result.is_as_told(hunt)))
}

/// Replays what was found, shrinks it again and compares. True if nothing differs.
fn verify(flaws: &[Flaw], folder: &Folder, args: &FlawsArgs, out: &Printer) -> Result<bool, String> {
    let mut stale = Vec::new();
    let mut shown = Vec::new();
    for flaw in flaws {
        let Evidence::Run(hunt) = &flaw.evidence else { continue };
        out.progress(format_args!("{}: replaying …", flaw.erratum));
        match folder.seed_of(flaw).and_then(|seed| hunt::replay(flaw, hunt, seed, threads(args))) {
            Ok(again) => {
                stale.extend(folder.differences(flaw, &again));
                shown.push((flaw, &**hunt, Hunted::Found(Box::new(again))));
            }
            Err(problem) => stale.push(problem),
        }
    }
    out.progress_done();
    if args.names.is_empty() {
        stale.extend(folder.table_difference(&document::lasting(flaws, &shown)));
    }
    stale.iter().for_each(|problem| out.error(problem));
    if stale.is_empty() {
        out.line(format_args!("{} flaws are as they were found", shown.len()));
    }
    Ok(stale.is_empty())
}

fn threads(args: &FlawsArgs) -> usize {
    args.threads.map_or_else(cores, usize::from)
}
