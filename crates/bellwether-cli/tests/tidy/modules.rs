//! Which modules of a crate use which: none uses another that uses it, and ARCHITECTURE.md says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::code::{Code, code, names_after};
use super::files::root;

/// Modules that still use each other in a circle. A crate that is rid of them loses its line here.
const KNOTS: &[(&str, &[&str])] = &[];

/// For each module of the root, those that it uses and one of the files that does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    for (krate, graph) in graphs() {
        let known = KNOTS.iter().filter(|(name, _)| *name == krate).map(|(_, knot)| knot.to_vec());
        let (known, found) = (known.collect::<Vec<_>>(), knots(&graph));
        let circles: Vec<_> = found.iter().map(|knot| circle(&graph, knot)).collect();
        assert_eq!(found, known, "{krate}: {circles:#?}");
    }
}

#[test]
fn the_stack_of_modules_is_the_one_that_is_drawn() {
    let document = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (krate, graph) in graphs() {
        let drawn = drawn(&document, &krate);
        let place: BTreeMap<_, _> = drawn
            .iter()
            .enumerate()
            .flat_map(|(no, line)| line.iter().map(move |name| (name.as_str(), no)))
            .collect();
        assert_eq!(place.len(), drawn.iter().map(Vec::len).sum::<usize>(), "{krate}: each is drawn once");
        let (there, shown): (BTreeSet<_>, BTreeSet<_>) =
            (graph.keys().map(String::as_str).collect(), place.keys().copied().collect());
        assert_eq!(there, shown, "{krate}: the modules that there are, and those in ARCHITECTURE.md");
        let knots = knots(&graph);
        for (user, uses) in &graph {
            let tied =
                |used: &str| knots.iter().any(|knot| knot.contains(&user.as_str()) && knot.contains(&used));
            let wrong =
                uses.iter().filter(|(used, _)| !tied(used) && place[used.as_str()] <= place[user.as_str()]);
            let wrong: Vec<_> = wrong.collect();
            assert!(
                wrong.is_empty(),
                "{krate}: {user} uses what is not drawn below it in ARCHITECTURE.md: {wrong:?}"
            );
        }
    }
}

/// The graph of each crate, modules that use nothing included.
fn graphs() -> BTreeMap<String, Graph> {
    let code = code();
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for file in &code {
        let graph = graphs.entry(file.krate.clone()).or_default();
        graph.extend(file.top().map(|top| (top.to_owned(), BTreeMap::new())));
    }
    for file in code.iter().filter(|file| file.top().is_some()) {
        let root = code.iter().filter(|root| root.krate == file.krate && root.top().is_none());
        let shown: BTreeMap<_, _> = root.flat_map(|root| shown_by_root(&root.text)).collect();
        let (top, graph) = (file.top().expect("not the root"), graphs.get_mut(&file.krate).expect("entered"));
        for name in from_root(file) {
            let used = shown.get(&name).unwrap_or(&name);
            if used != top && graph.contains_key(used) {
                graph.get_mut(top).expect("entered").insert(used.clone(), file.path.clone());
            }
        }
    }
    graphs
}

/// The names that a file looks up in the root of its crate: after `crate::`, or after as many `super::` as lead there.
fn from_root(file: &Code) -> Vec<String> {
    let climbs = "super::".repeat(file.module.len());
    let prefixes = ["crate::", &climbs];
    let single = prefixes.iter().flat_map(|prefix| names_after(&file.text, prefix)).map(str::to_owned);
    let grouped = prefixes.iter().flat_map(|prefix| groups_after(&file.text, prefix));
    single.chain(grouped.flatten()).collect()
}

/// The first names of what is in braces after a prefix.
fn groups_after(text: &str, prefix: &str) -> Vec<Vec<String>> {
    let opened = format!("{prefix}{{");
    let group = |(at, _): (usize, &str)| first_names(&text[at + opened.len()..]);
    text.match_indices(&opened).map(group).collect()
}

/// Up to the brace that closes what was opened before.
fn first_names(text: &str) -> Vec<String> {
    let (mut names, mut depth, mut fresh) = (Vec::new(), 0_u32, true);
    for (at, c) in text.char_indices() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if fresh && c.is_alphabetic() => {
                let rest = &text[at..];
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                names.push(rest[..end].to_owned());
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

/// The names that a root shows of its modules, each with its module: `use config::Config;` shows `Config` of `config`.
fn shown_by_root(text: &str) -> Vec<(String, String)> {
    let statements =
        text.split(';').filter_map(|statement| statement.rsplit_once("use ").map(|(_, used)| used));
    let shown = statements.filter_map(|used| used.split_once("::")).flat_map(|(module, rest)| {
        let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.map(move |word| (word.to_owned(), module.to_owned()))
    });
    shown.collect()
}

/// Modules that can all be reached from each other: two at least.
fn knots(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (module.as_str(), reached(graph, module))).collect();
    let tied = |one: &str, other: &str| reached[one].contains(other) && reached[other].contains(one);
    let knot_of = |one: &&str| reached.keys().copied().filter(|other| tied(one, other)).collect::<Vec<_>>();
    let all: BTreeSet<_> = reached.keys().map(knot_of).filter(|knot| !knot.is_empty()).collect();
    all.into_iter().collect()
}

/// What a module uses, and what that uses, and so on.
fn reached<'g>(graph: &'g Graph, from: &'g str) -> BTreeSet<&'g str> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        next.extend(graph[module].keys().map(String::as_str).filter(|used| found.insert(*used)));
    }
    found
}

/// A way through a knot that comes back, with the files that go it.
fn circle(graph: &Graph, knot: &[&str]) -> Vec<String> {
    let (mut way, mut seen) = (Vec::new(), Vec::new());
    let mut at = knot[0];
    while !seen.contains(&at) {
        seen.push(at);
        let (used, file) =
            graph[at].iter().find(|(used, _)| knot.contains(&used.as_str())).expect("it is tied");
        way.push(format!("{at} uses {used} in {file}"));
        at = used;
    }
    way.split_off(seen.iter().position(|module| *module == at).expect("it came back"))
}

/// The lines that a document draws of a crate, each the names of some modules: after a line with its name alone, indented.
fn drawn(document: &str, krate: &str) -> Vec<Vec<String>> {
    let mut lines = document.lines().skip_while(|line| *line != krate);
    assert!(lines.next().is_some(), "ARCHITECTURE.md draws the modules of {krate}");
    let indented = lines.take_while(|line| line.starts_with("  "));
    let names = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    indented.map(|line| names(line.split(" — ").next().unwrap_or_default())).collect()
}

#[test]
fn a_knot_is_found_and_told() {
    let uses =
        |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), format!("{name}'s user"))).collect();
    let graph: Graph = [("a", &["b"][..]), ("b", &["c", "d"]), ("c", &["b"]), ("d", &[])]
        .map(|(module, used)| (module.to_owned(), uses(used)))
        .into();
    assert_eq!(knots(&graph), [["b", "c"]]);
    assert_eq!(circle(&graph, &["b", "c"]), ["b uses c in c's user", "c uses b in b's user"]);
}

#[test]
fn names_are_found_however_they_are_written() {
    assert_eq!(first_names("a, b::{c, d}, e::f as g}; h"), ["a", "b", "e"]);
    let shown = shown_by_root("mod config;\npub use config::{Config, Peers};\nuse std::fs;");
    assert!(shown.contains(&("Peers".to_owned(), "config".to_owned())));
}
