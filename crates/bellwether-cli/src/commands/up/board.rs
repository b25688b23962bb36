//! The screen of a cluster, in lines of at most 80 columns.

use std::time::Instant;

use bellwether::Mode;
use bellwether::status::Standing;

use super::model::{Model, Node};
use crate::duration::rough;
use crate::fleet::Process;
use crate::fleet::board::{self, keys_line, process_cells};
use crate::fleet::files::Plan;
use crate::output::invocation;
use crate::schema::Right;
use crate::terminal::line::{Line, Tone, line, note_line};

/// The board: nodes, events, keys.
pub(super) fn lines(model: &Model, selected: Option<u32>, now: Instant) -> Vec<Line> {
    let rows = model.nodes.iter().map(|(id, node)| (*id, row(model, *id, node, now), tone(node)));
    let mut lines = board::rows(titles(model), selected, rows);
    lines.push(line("", Tone::Plain));
    lines.extend(model.notes.latest().map(|note| line(&note_line(note), Tone::Plain)));
    lines.push(line("", Tone::Plain));
    lines.push(keys_line(model.nodes.len()));
    lines
}

/// The nodes without the rest, for another terminal.
pub(super) fn list(model: &Model, now: Instant) -> String {
    let rows = model.nodes.iter().map(|(id, node)| row(model, *id, node, now));
    let sockets = model.nodes.iter().filter_map(|(id, node)| {
        let path = node.socket.as_ref()?;
        Some(format!("\n {id:<4}  {}", path.display()))
    });
    let sockets: String = sockets.collect();
    let list = board::list(titles(model), rows);
    if sockets.is_empty() { list } else { format!("{list}\n node  socket{sockets}") }
}

/// Printed once, at the beginning.
pub(super) fn introduction(plan: &Plan) -> Vec<String> {
    let name = invocation();
    let api = plan.nodes.first().map_or_else(String::new, |node| node.api.to_string());
    let agents = format!(
        "{} on loopback, real processes over mutual TLS; they run {}",
        plan.nodes.len(),
        plan.protocol.name()
    );
    let socket = plan.nodes.iter().find_map(|node| node.socket.as_ref()).filter(|_| is_exclusive(plan.mode));
    let hold = socket.map(|socket| ("hold", format!("{name} campaign NAME --socket {}", socket.display())));
    let mut entries = vec![
        ("agents", agents),
        ("guarantee", plan.mode.guarantee().to_owned()),
        ("files", plan.dir.display().to_string()),
        ("page", format!("http://{api}/")),
        ("ask", format!("{name} status --api {api}")),
        ("", format!("curl http://{api}/v1/status")),
        ("change", format!("{name} resign --api {api} --token-file {}", plan.token.display())),
    ];
    entries.extend(hold);
    entries.push(("break", format!("{name} up kill 1")));
    board::introduction(&entries)
}

fn is_exclusive(mode: Mode) -> bool {
    matches!(mode, Mode::Exclusive(_))
}

const ROW_TITLES: &str = " node      pid  state         standing    epoch  since       API";
const EXCLUSIVE_TITLES: &str = " node      pid  state         standing    token  valid    reach  API";

fn titles(model: &Model) -> &'static str {
    if is_exclusive(model.mode) { EXCLUSIVE_TITLES } else { ROW_TITLES }
}

fn row(model: &Model, id: u32, node: &Node, now: Instant) -> String {
    let (pid, state) = process_cells(node.process.as_ref());
    let stopped = matches!(node.process, Some(Process::Stopped(_)));
    let (standing, epoch, since) = match &node.says {
        Some(says) if !stopped => {
            let epoch = says.leader.map_or_else(|| "-".to_owned(), |leader| leader.epoch.to_string());
            (standing_name(says.standing), epoch, rough(now.saturating_duration_since(says.since)))
        }
        Some(_) | None => ("-", "-".to_owned(), "-".to_owned()),
    };
    let begins = format!("{id:<4}  {pid:>7}  {state:<12}  {standing:<10}  {epoch:>5}");
    match model.mode {
        Mode::Exclusive(_) if !stopped => {
            let (valid, reach) = right_cells(&node.right);
            format!("{begins}  {valid:<7}  {reach:<5}  {}", node.api)
        }
        Mode::Exclusive(_) => format!("{begins}  {:<7}  {:<5}  {}", "-", "-", node.api),
        Mode::OfAlgorithm(_) => format!("{begins}  {since:<10}  {}", node.api),
    }
}

/// For how long it is certain to lead, and how many voters it reaches of those that are needed.
fn right_cells(right: &Right) -> (String, String) {
    let dash = || "-".to_owned();
    let reach = right.exclusive.as_ref().map(|told| format!("{}/{}", told.reachable, told.needed));
    (right.valid_ms.map_or_else(dash, |left| format!("{left} ms")), reach.unwrap_or_else(dash))
}

fn standing_name(standing: Standing) -> &'static str {
    match standing {
        Standing::Leading => "★ leader",
        Standing::Following => "follower",
        Standing::Electing => "electing",
        Standing::Aside => "aside",
        Standing::CatchingUp => "catches up",
    }
}

fn tone(node: &Node) -> Tone {
    match (&node.process, &node.says) {
        (Some(Process::Down(_) | Process::Stopped(_)), _) | (_, None) => Tone::Dim,
        (_, Some(says)) if says.standing == Standing::Leading => Tone::Bright,
        (_, Some(_)) => Tone::Plain,
    }
}
