//! The workers' files, and their command lines.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bellwether::Mode;
use bellwether_proto::election::Protocol;
use bellwether_rain::job::Job;
use bellwether_rain::wire::Secret;
use serde::{Deserialize, Serialize};

use super::request::Request;
use crate::fleet::Launch;
use crate::fleet::files::{self, NodePlan};
use crate::fleet::place::Place;

/// How the workers' agents elect: all agree on who failed before anybody leads.
const PROTOCOL: Protocol = Protocol::FbOmega;

/// What every worker must know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct JobFile {
    pub(super) job: Job,
    /// Rows in a second.
    pub(super) pace: f64,
    pub(super) secret: Secret,
    /// Where each takes shards.
    pub(super) workers: BTreeMap<u32, SocketAddr>,
}

/// Workers that could be started.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) job: JobFile,
    pub(super) launches: Vec<Launch>,
    pub(super) dir: PathBuf,
    /// Where each agent can be asked.
    pub(super) apis: BTreeMap<u32, SocketAddr>,
}

pub(super) fn write(place: &Place, request: &Request) -> Result<Setup, String> {
    let nodes = request.job.code.nodes();
    let plan = files::write(place, "rain", nodes, PROTOCOL, Mode::OfAlgorithm(PROTOCOL.spec().mode))?;
    let addresses =
        files::free_addresses(nodes as usize).map_err(|error| format!("cannot find free ports: {error}"))?;
    let job = JobFile {
        job: request.job,
        pace: request.pace,
        secret: secret(),
        workers: (1..).zip(addresses).collect(),
    };
    let path = place.dir.join("job.json");
    let text = serde_json::to_string(&job).map_err(|error| format!("cannot write down the job: {error}"))?;
    files::put(&path, &text)?;
    Ok(Setup {
        job,
        launches: plan.nodes.iter().map(|node| launch(node, &path)).collect(),
        dir: plan.dir.clone(),
        apis: plan.nodes.iter().map(|node| (node.id, node.api)).collect(),
    })
}

impl JobFile {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn launch(node: &NodePlan, job: &Path) -> Launch {
    let mut arguments: Vec<OsString> = ["demo", "worker-of-rain", "--config"].map(Into::into).into();
    arguments.push(node.config.clone().into());
    arguments.push("--job".into());
    arguments.push(job.into());
    Launch { id: node.id, arguments, log: node.log.clone() }
}

/// Strangers do not guess it.
fn secret() -> Secret {
    let token = files::token();
    let mut secret = [0; 16];
    secret.iter_mut().zip(token.as_bytes().chunks(2)).for_each(|(to, pair)| {
        *to = std::str::from_utf8(pair)
            .ok()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            .unwrap_or_default();
    });
    Secret(secret)
}
