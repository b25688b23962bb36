//! `bellwether tls init`: an authority for a cluster, and a certificate for each of its members.

mod plan;
mod write;

use std::path::{Path, PathBuf};

use bellwether_proto::ident::NodeId;
use serde_json::json;

use crate::Status;
use crate::agent::config::{ClusterFile, Environment};
use crate::args::tls::{TlsArgs, TlsCommand, TlsInitArgs};
use crate::layout::hanging;
use crate::output::Printer;
use crate::trouble::Trouble;

use plan::Plan;

pub(crate) fn run(args: &TlsArgs, out: &Printer) -> Status {
    match &args.command {
        TlsCommand::Init(args) => init(args, out),
    }
}

fn init(args: &TlsInitArgs, out: &Printer) -> Status {
    let cluster = match ClusterFile::load(&args.config, &Environment::of_process()) {
        Ok(cluster) => cluster,
        Err(error) => {
            error.problems().iter().for_each(|problem| out.error(problem));
            return error.status();
        }
    };
    let directory = args.out.clone().unwrap_or_else(|| directory_of(&cluster.ca));
    let made = members(args, &cluster)
        .and_then(|nodes| Plan::new(&cluster.cluster, &nodes, &directory, args.days))
        .and_then(|plan| write::all(&directory, &plan.files).map(|()| plan));
    match made {
        Ok(plan) => {
            report(args, &directory, &plan, out);
            Status::Done
        }
        Err(trouble) => {
            out.error(format_args!("{}; nothing was written", trouble.what));
            trouble.status
        }
    }
}

fn members(args: &TlsInitArgs, cluster: &ClusterFile) -> Result<Vec<NodeId>, Trouble> {
    let file = args.config.display();
    match (&cluster.nodes, &args.nodes[..]) {
        (Some(listed), []) => Ok(listed.clone()),
        (Some(_), _) => Err(Trouble::wrong(format!(
            "--nodes is for [discovery], but {file} lists its members as [[peer]]"
        ))),
        (None, []) => Err(Trouble::wrong(format!(
            "{file} does not list its members, expected --nodes such as --nodes 1,2,3"
        ))),
        (None, ids) => {
            let mut ids: Vec<_> = ids.iter().copied().map(NodeId).collect();
            ids.sort_unstable();
            ids.dedup();
            Ok(ids)
        }
    }
}

fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}

fn report(args: &TlsInitArgs, directory: &Path, plan: &Plan, out: &Printer) {
    let written: Vec<_> = plan.files.iter().map(|file| file.name.as_str()).collect();
    if args.json {
        out.line(
            json!({"directory": directory.display().to_string(), "written": written, "kept": plan.kept}),
        );
        return;
    }
    for name in &plan.kept {
        out.line(format_args!("kept   {}", directory.join(name).display()));
    }
    for name in &written {
        out.line(format_args!("wrote  {}", directory.join(name).display()));
    }
    if written.contains(&plan::CA_KEY) {
        let advice = "With ca.key one can pose as any member. No member needs it: keep it elsewhere.";
        out.line(hanging("", advice));
    }
}
