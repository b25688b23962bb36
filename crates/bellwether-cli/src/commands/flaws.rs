//! `bellwether flaws`: finds every known flaw of the papers by itself, shrinks it, draws it, and tries the repair.

mod document;
mod files;
mod hunt;
mod print;

use std::sync::atomic::{AtomicBool, Ordering};

use bellwether_sim::flaw::{Evidence, Flaw, Hunt};

use crate::Status;
use crate::args::flaws::FlawsArgs;
use crate::output::Printer;
use crate::signals::stop_when_asked;
use crate::trouble::Trouble;
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
    done(&flaws, args, out).unwrap_or_else(|trouble| trouble.told(out))
}

fn done(flaws: &[Flaw], args: &FlawsArgs, out: &Printer) -> Result<Status, Trouble> {
    let verified = args.verify.as_deref().map(|dir| Folder::written(dir, flaws)).transpose()?;
    let written = args.out.as_deref().map(Folder::prepare).transpose().map_err(Trouble::failed)?;
    let stop = stop_when_asked().map_err(Trouble::failed)?;
    match verified {
        Some(folder) => Ok(verify(flaws, &folder, args, &stop, out)),
        None => hunt_all(flaws, written.as_ref(), args, &stop, out).map_err(Trouble::failed),
    }
}

/// The flaws that were named, in capitals or not, or all.
fn chosen(args: &FlawsArgs, flaws: Vec<Flaw>) -> Result<Vec<Flaw>, Vec<String>> {
    let is = |flaw: &Flaw, name: &str| flaw.erratum.eq_ignore_ascii_case(name);
    let unknown = args.names.iter().filter(|name| !flaws.iter().any(|flaw| is(flaw, name)));
    let known: Vec<_> = flaws.iter().map(|flaw| flaw.erratum.as_str()).collect();
    let unknown: Vec<_> =
        unknown.map(|name| format!("no flaw {name}, expected one of {}", known.join(", "))).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let wanted = |flaw: &Flaw| args.names.is_empty() || args.names.iter().any(|name| is(flaw, name));
    Ok(flaws.into_iter().filter(wanted).collect())
}

/// Hunts one flaw after the other, and writes each to files as soon as it is found. Returns whether all went as
/// the files say.
fn hunt_all(
    flaws: &[Flaw],
    folder: Option<&Folder>,
    args: &FlawsArgs,
    stop: &AtomicBool,
    out: &Printer,
) -> Result<Status, String> {
    let mut hunted = Vec::new();
    let mut left = Vec::new();
    for (at, (flaw, hunt)) in hunts(flaws).enumerate() {
        let place = format!("{} ({} of {})", flaw.erratum, at + 1, hunts(flaws).count());
        let tell = |what: &str| out.progress(format_args!("{place}: {what}"));
        let result = hunt::hunt(flaw, hunt, threads(args), stop, tell);
        out.progress_done();
        let Some(result) = result else {
            left.push(flaw);
            continue;
        };
        if args.json {
            out.line(print::json(flaw, hunt, &result));
        }
        if let (Some(folder), Hunted::Found(shown)) = (folder, &result) {
            folder.write_shown(flaw, shown)?;
        }
        hunted.push((flaw, hunt, result));
    }
    if args.json && !args.names.is_empty() {
        flaws.iter().filter_map(print::json_of_unsearched).for_each(|line| out.line(line));
    }
    if !args.json {
        print::text(&hunted, flaws, !args.names.is_empty(), out);
    }
    let as_told = hunted.iter().all(|(_, hunt, result)| result.is_as_told(hunt));
    if !left.is_empty() {
        print::interrupted(&left, args, out);
        return Ok(if as_told { Status::Interrupted } else { Status::No });
    }
    if let Some(folder) = folder.filter(|_| args.names.is_empty()) {
        folder.write_table(&document::whole(flaws, &hunted))?;
    }
    Ok(if as_told { Status::Done } else { Status::No })
}

/// Replays what was found, shrinks it again and compares. Returns whether nothing differs.
fn verify(flaws: &[Flaw], folder: &Folder, args: &FlawsArgs, stop: &AtomicBool, out: &Printer) -> Status {
    let (mut stale, mut shown, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for (flaw, hunt) in hunts(flaws) {
        out.progress(format_args!("{}: replaying …", flaw.erratum));
        let again = folder.seed_of(flaw).and_then(|seed| hunt::replay(flaw, hunt, seed, threads(args), stop));
        if stop.load(Ordering::Relaxed) {
            left.push(flaw);
            continue;
        }
        match again {
            Ok(again) => {
                stale.extend(folder.differences(flaw, &again));
                shown.push((flaw, hunt, Hunted::Found(Box::new(again))));
            }
            Err(problem) => stale.push(problem),
        }
    }
    out.progress_done();
    if args.names.is_empty() && left.is_empty() {
        stale.extend(folder.table_difference(&document::lasting(flaws, &shown)));
    }
    stale.iter().for_each(|problem| out.error(problem));
    if stale.is_empty() {
        out.line(format_args!("{} flaws are as they were found", shown.len()));
    }
    if !left.is_empty() {
        print::interrupted(&left, args, out);
    }
    match (stale.is_empty(), left.is_empty()) {
        (false, _) => Status::No,
        (true, false) => Status::Interrupted,
        (true, true) => Status::Done,
    }
}

/// Those that a run can show.
fn hunts(flaws: &[Flaw]) -> impl Iterator<Item = (&Flaw, &Hunt)> {
    flaws.iter().filter_map(|flaw| match &flaw.evidence {
        Evidence::Run(hunt) => Some((flaw, &**hunt)),
        Evidence::Reason { .. } => None,
    })
}

fn threads(args: &FlawsArgs) -> usize {
    args.threads.map_or_else(cores, usize::from)
}
