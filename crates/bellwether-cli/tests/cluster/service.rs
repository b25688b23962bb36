//! Views of `fb-omega`, as their members tell of them.

use serde_json::{Value, json};

use super::{Cluster, Views};

/// A view that is in service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InService {
    pub(crate) number: String,
    pub(crate) leader: u32,
    pub(crate) epoch: u64,
}

impl Cluster {
    /// Waits until all of these are in one view of just them, and it is in service.
    #[track_caller]
    pub(crate) fn wait_for_view(&self, members: &[u32]) -> InService {
        let what = format!("{members:?} are in a view");
        let views = self.wait_for(&what, |views| in_service(views, members).is_some());
        in_service(&views, members).unwrap()
    }

    /// Waits until these have no leader, and say so to whoever asks.
    #[track_caller]
    pub(crate) fn wait_for_nobody_to_lead(&self, nodes: &[u32]) {
        self.wait_for(&format!("nobody leads {nodes:?}"), |views| has_no_leader(views, nodes));
        for id in nodes {
            assert_eq!(self.ask(*id, &["leader"]).0, 1, "node {id} says that nobody leads");
        }
    }
}

/// The view that these are in, if all of them say that it is in service and has just them.
pub(crate) fn in_service(views: &Views, members: &[u32]) -> Option<InService> {
    let says: Vec<&Value> = members.iter().map(|id| views[id].as_ref()).collect::<Option<_>>()?;
    let one = says[0];
    let all = ["group", "leader", "epoch"].iter().all(|key| says.iter().all(|view| view[*key] == one[*key]));
    let works = says.iter().all(|view| view["view"]["status"] == "normal");
    if !all || !works || one["group"]["members"] != json!(members) {
        return None;
    }
    Some(InService {
        number: one["group"]["group"].as_str()?.to_owned(),
        leader: u32::try_from(one["leader"].as_u64()?).ok()?,
        epoch: one["epoch"].as_u64()?,
    })
}

/// Whether all of these say that nobody leads.
pub(crate) fn has_no_leader(views: &Views, nodes: &[u32]) -> bool {
    nodes.iter().all(|id| views[id].as_ref().is_some_and(|view| view["leader"].is_null()))
}
