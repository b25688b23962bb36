//! What an agent tells the application beside it. The one file that knows both.
//!
//! A worker works while its agent is in a view that is in service, and only on that view's task. The leader of a new view
//! has its worker recover before that.

use std::time::Duration;

use bellwether::Member;
use bellwether::reorganization::{Manager, Service};
use bellwether_proto::group::PlanRequest;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::opinion::Status;
use bellwether_rain::notice::{Notice, View};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How long a recovery may take: to ask everybody, to fetch and to replace shards.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often an agent that is in no view is asked whether it is dead.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Has the worker recover when its agent leads a new view.
pub(super) fn manager(me: u32, notices: mpsc::Sender<Notice>) -> Manager {
    Manager::new(PATIENCE, move |request: PlanRequest| {
        let notices = notices.clone();
        async move {
            let (reply, task) = oneshot::channel();
            let recover = Notice::Recover {
                view: view(me, &request)?,
                failed: ids(&request.failed),
                readmitted: ids(&request.readmitted),
                reply,
            };
            notices.send(recover).await.map_err(|_| "the worker has ended".to_owned())?;
            task.await.map_err(|_| "another view came in between".to_owned())?
        }
    })
}

/// The view that needs its task. Without its number the stores could not tell which shards are older.
fn view(leader: u32, request: &PlanRequest) -> Result<View, String> {
    let group = request.group.ok_or("this algorithm does not number its views")?;
    let members = request.members.iter().map(|member| member.node.0).collect();
    Ok(View { number: number(group), leader, members })
}

/// Tells the worker of every change, until the agent ends.
pub(super) async fn follow(member: &Member, notices: &mpsc::Sender<Notice>) {
    let mut services = member.service();
    let mut told: Option<State> = None;
    loop {
        let state = State::of(services.current(), member);
        if told.as_ref() != Some(&state) {
            if notices.send(state.notice()).await.is_err() {
                return;
            }
            told = Some(state);
        }
        // That it has died while it was in no view is no change of views.
        if matches!(timeout(LOOK_EVERY, services.changed()).await, Ok(false)) {
            return;
        }
    }
}

/// How an agent is, as far as its worker is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    InService(Service),
    Out,
    Dead,
}

impl State {
    fn of(service: Option<Service>, member: &Member) -> Self {
        match service {
            Some(service) => Self::InService(service),
            None if member.status().opinion.status == Status::Dead => Self::Dead,
            None => Self::Out,
        }
    }

    fn notice(&self) -> Notice {
        match self {
            Self::InService(Service { group, leader, members, task }) => Notice::InService {
                view: View { number: number(*group), leader: leader.0, members: ids(members) },
                task: task.to_vec(),
            },
            Self::Out => Notice::OutOfService,
            Self::Dead => Notice::Dead,
        }
    }
}

/// Views are numbered one after the other. The first, in which everybody is without a word, has the number 0.
fn number(group: GroupId) -> u64 {
    group.0.seq
}

fn ids(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_proto::group::PlanMember;
    use bellwether_proto::ident::{ElectionId, Incarnation};

    fn request(group: Option<u64>) -> PlanRequest {
        let id = |node, seq| ElectionId { node: NodeId(node), incarnation: Incarnation(3), seq };
        let member = |node| PlanMember { node: NodeId(node), head: None, away: false, doubts: Vec::new() };
        PlanRequest {
            no: id(2, 9),
            group: group.map(|seq| GroupId(id(2, seq))),
            members: [2, 3].map(member).into(),
            failed: vec![NodeId(1)],
            readmitted: Vec::new(),
        }
    }

    /// The number of a view must be the same while it is planned and when it is in service: stores use it as a fence,
    /// and shards carry it.
    #[test]
    fn a_view_has_the_same_number_while_it_is_planned_and_in_service() {
        for seq in [0, 7] {
            let planned = view(2, &request(Some(seq))).unwrap();
            let service = Service {
                group: request(Some(seq)).group.unwrap(),
                leader: NodeId(2),
                members: vec![NodeId(2), NodeId(3)],
                task: [].into(),
            };
            let notice = State::InService(service).notice();
            let Notice::InService { view: served, .. } = notice else { panic!("{notice:?}") };
            assert_eq!((planned.number, &planned), (seq, &served));
        }
        assert!(view(2, &request(None)).is_err(), "a view without a number would be older than all");
    }
}
