//! `tls show`: whose certificates these are, until when they are good, and what is wrong with them.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bellwether::tls::Certificate;
use serde_json::{Value, json};

use super::place::{CA_CERT, Place, REVOKED, is_there, node_files, read};
use crate::Status;
use crate::args::tls::TlsShowArgs;
use crate::layout::{Column, table};
use crate::output::Printer;
use crate::trouble::Trouble;
use crate::words::counted;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A certificate of a file, and what members would say of it.
struct Row {
    file: PathBuf,
    cert: Certificate,
    problem: Option<String>,
}

pub(super) fn run(args: &TlsShowArgs, out: &Printer) -> Result<Status, Trouble> {
    let rows = match &args.config {
        Some(config) => of_cluster(&Place::new(config, args.out.as_deref())?, &args.nodes)?,
        None => {
            let all: Result<Vec<_>, _> = args.files.iter().map(|file| all_in(file.clone())).collect();
            all?.into_iter().flatten().collect()
        }
    };
    if args.json {
        rows.iter().for_each(|row| out.line(row.in_json()));
    } else {
        let columns =
            [Column::Whole("file"), Column::Text("names"), Column::Whole("serial"), Column::Text("good for")];
        out.line(table(&columns, rows.iter().map(Row::in_words).collect()));
    }
    Ok(if rows.iter().all(|row| row.problem.is_none()) { Status::Done } else { Status::No })
}

/// The authorities, and those of the members that are there.
fn of_cluster(place: &Place, nodes: &[u32]) -> Result<Vec<Row>, Trouble> {
    let (trusted, revoked) = (place.read(CA_CERT)?, place.read_if_there(REVOKED)?);
    let mut rows = all_in(place.path(CA_CERT))?;
    for node in place.some_members(nodes)? {
        let file = place.path(&node_files(node).0);
        if !is_there(&file) {
            continue;
        }
        let text = read(&file)?;
        let checked = Certificate::check(&text, &trusted, revoked.as_deref(), &place.cluster.cluster, node);
        let problem = checked.err().map(|error| error.to_string());
        rows.extend(all_in(file)?.into_iter().map(|row| Row { problem: problem.clone(), ..row }));
    }
    Ok(rows)
}

fn all_in(file: PathBuf) -> Result<Vec<Row>, Trouble> {
    let all = Certificate::all_in(&read(&file)?);
    let all = all.map_err(|error| Trouble::wrong(format!("{}: {error}", file.display())))?;
    Ok(all.into_iter().map(|cert| Row { file: file.clone(), problem: problem(&cert), cert }).collect())
}

/// What is wrong with it whoever shows it.
fn problem(cert: &Certificate) -> Option<String> {
    cert.until.filter(|until| *until < SystemTime::now()).map(|_| "it has expired".to_owned())
}

impl Row {
    fn in_words(&self) -> Vec<String> {
        let left = self.cert.until.and_then(|until| until.duration_since(SystemTime::now()).ok());
        let left = left.map_or_else(|| "-".to_owned(), |left| counted(left.as_secs() / DAY.as_secs(), "day"));
        let state = self.problem.as_ref().map_or(left, |problem| format!("refused: {problem}"));
        let names = if self.cert.names.is_empty() { "-".to_owned() } else { self.cert.names.join(" ") };
        vec![self.file.display().to_string(), names, self.cert.serial.clone(), state]
    }

    fn in_json(&self) -> Value {
        let seconds = |time: Option<SystemTime>| {
            time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok())
                .map(|since| since.as_secs())
        };
        json!({
            "file": self.file.display().to_string(),
            "names": self.cert.names,
            "serial": self.cert.serial,
            "from": seconds(self.cert.from),
            "until": seconds(self.cert.until),
            "problem": self.problem,
        })
    }
}
