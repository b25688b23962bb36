//! `docs/reference/properties.md` is what the code declares. `REWRITE=1` writes it anew.

use std::path::{Path, PathBuf};
use std::{env, fs};

use bellwether_proto::election::Protocol;
use bellwether_proto::promise::{Promise, Property};

const INTRODUCTION: &str = "\
# Properties

A checker judges one property of a run, from its trace. `[expect]` in a scenario names properties, and so do `check --judge`,
`protocols` and all reports.

\"Eventually\" and \"there is a constant\" cannot be judged on a finite run. So each property also says what a checker demands of a
finite run. A property that had nothing to judge is absent from the report. That is not the same as holding.

An algorithm keeps what it promises, under the assumptions that `bellwether protocols` lists. Where an algorithm is in brackets,
only its paper claims the property, for the variant `printed`. A run that breaks an assumption leaves the promise out, unless
`holds` or `violates` names it.

- *Normal* is the status in which the leader that a node names is significant. Nodes of Raynal's protocols are always normal.
- *Stable*: no node fails, returns, is paused, or is cut off in one direction only; between connected nodes no message is lost, or
  later than δ.
- n is the number of nodes, δ the assumed bound on one-way delay, τ the leader's period, τ_FD the latency that the failure detector
  declares. Clocks that drift stretch every bound by twice the worst drift.
- 2·c_S, 2·c_GM and c_A are our readings of the papers. Every run so far keeps them; nobody has proved them.
- An instant is judged when everything that happens at it has happened. What nodes of several machines must agree on is judged in
  the end, because their clocks differ.
- A silent peer is reported when its deadline is reached, never while a frame is taken in. At one instant deliveries come before
  deadlines, so an answer that takes exactly δ each way is in time.
- OMEGA, SINGLE-SENDER and SETTLED need a quiet second half: the model's `gst` and all events lie in the first half, and after it
  there is no loss, no cut or slow link, no pause, and nothing pending that could strike later.

Generated from `crates/bellwether-proto/src/promise/property.rs`; a test holds this page to it.
";

#[test]
fn the_reference_is_what_the_code_declares() {
    let page = root().join("docs/reference/properties.md");
    let declared = reference();
    if env::var_os("REWRITE").is_some() {
        fs::write(&page, &declared).unwrap();
    }
    let stale = "run: REWRITE=1 cargo test -p bellwether-sim --lib reference";
    assert!(fs::read_to_string(page).is_ok_and(|written| written == declared), "{stale}");
}

fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for property in Property::ALL {
        let file = file_of(property);
        assert!(root().join(&file).exists(), "{property} is judged in {file}");
        let link = format!("[`{}`](../../{file})", file.rsplit('/').next().unwrap_or_default());
        page += &format!(
            "\n## {property}\n\n{}: {}.\n\n- *On a finite run*: {}.\n- *Promised by*: {}.\n- *Judged in*: {link}.\n",
            property.origin(),
            property.promise(),
            property.judged(),
            promised_by(property),
        );
    }
    page
}

/// The checker's file: there is one for each property, and it has the property's name.
fn file_of(property: Property) -> String {
    let name = property.name().to_lowercase().replace('-', "_").replace('\'', "_prime");
    format!("crates/bellwether-sim/src/check/{name}.rs")
}

fn promised_by(property: Property) -> String {
    let among = |promises: &[Promise]| promises.iter().any(|promise| promise.property == property);
    let algorithms = Protocol::ALL.into_iter().map(Protocol::spec);
    let named = algorithms.filter_map(|spec| match (among(spec.repaired), among(spec.printed)) {
        (true, _) => Some(format!("`{}`", spec.name)),
        (false, true) => Some(format!("(`{}`)", spec.name)),
        (false, false) => None,
    });
    let named: Vec<_> = named.collect();
    if named.is_empty() { "not an algorithm, but another layer".to_owned() } else { named.join(", ") }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
