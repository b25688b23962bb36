//! `bellwether protocols`: the algorithms to choose from.

use bellwether_proto::election::{InAgent, Protocol, Spec};
use bellwether_proto::promise::Promise;
use serde_json::json;

use crate::Status;
use crate::args::protocols::ProtocolsArgs;
use crate::layout::hanging;
use crate::output::Printer;

pub(crate) fn run(args: &ProtocolsArgs, out: &Printer) -> Status {
    for (place, protocol) in Protocol::ALL.into_iter().enumerate() {
        let spec = protocol.spec();
        if args.json {
            out.line(as_json(spec));
        } else {
            if place > 0 {
                out.line("");
            }
            print(spec, out);
        }
    }
    Status::Done
}

fn print(spec: &Spec, out: &Printer) {
    let entry = |label, text: &str| hanging(&format!("  {label:<14}"), text);
    out.line(format_args!("{:<16} {}", spec.name, spec.document));
    out.line(entry("guarantees", spec.guarantees));
    out.line(entry("assumes", spec.assumes));
    out.line(entry("costs", spec.messages));
    match spec.in_agent {
        InAgent::Yes => out.line(entry("real network", "yes")),
        InAgent::No(reason) => out.line(entry("real network", &format!("no: {reason}"))),
    }
    let names = spec.repaired.iter().chain(spec.printed).map(|promise| promise.property.name().len());
    let widest = names.max().unwrap_or(0);
    for (what, promises) in [("promises", spec.repaired), ("as printed", spec.printed)] {
        for (place, promise) in promises.iter().enumerate() {
            let label = if place == 0 { what } else { "" };
            out.line(hanging(
                &format!("  {label:<14}{:<widest$}  ", promise.property),
                &assumptions(promise),
            ));
        }
    }
}

fn assumptions(promise: &Promise) -> String {
    let under: Vec<_> = promise.under.iter().map(|assumption| assumption.name()).collect();
    if under.is_empty() { "always".to_owned() } else { format!("given {}", under.join(", ")) }
}

fn as_json(spec: &Spec) -> serde_json::Value {
    let promises = |promises: &[Promise]| -> Vec<_> {
        let under = |promise: &Promise| promise.under.iter().map(|a| a.name()).collect::<Vec<_>>();
        promises.iter().map(|p| json!({"property": p.property.name(), "under": under(p)})).collect()
    };
    json!({
        "name": spec.name,
        "document": spec.document,
        "assumes": spec.assumes,
        "guarantees": spec.guarantees,
        "messages": spec.messages,
        "in_agent": spec.runs_in_agent(),
        "not_in_agent_because": match spec.in_agent { InAgent::Yes => None, InAgent::No(reason) => Some(reason) },
        "detector": spec.detector.map(|detector| detector.name()),
        "repaired": promises(spec.repaired),
        "printed": promises(spec.printed),
    })
}
