//! `tls init`: whatever is missing.

use serde_json::json;

use super::place::{CA_KEY, Place};
use super::plan::Plan;
use super::write;
use crate::args::tls::TlsInitArgs;
use crate::layout::hanging;
use crate::output::Printer;
use crate::trouble::Trouble;

pub(super) fn run(args: &TlsInitArgs, out: &Printer) -> Result<(), Trouble> {
    let place = Place::of(&args.place)?;
    let plan = Plan::new(&place, &place.members(&args.nodes)?, args.days, args.authority_days)?;
    write::all(&place.directory, &plan.files)?;
    report(args.place.json, &place, &plan, out);
    Ok(())
}

fn report(in_json: bool, place: &Place, plan: &Plan, out: &Printer) {
    let written: Vec<_> = plan.files.iter().map(|file| file.name.as_str()).collect();
    if in_json {
        out.line(json!({
            "directory": place.directory.display().to_string(), "written": written, "kept": plan.kept,
        }));
        return;
    }
    for name in &plan.kept {
        out.line(format_args!("kept   {}", place.path(name).display()));
    }
    for name in &written {
        out.line(format_args!("wrote  {}", place.path(name).display()));
    }
    if written.contains(&CA_KEY) {
        let advice = "With ca.key one can pose as any member. No member needs it: keep it elsewhere.";
        out.line(hanging("", advice));
    }
}
