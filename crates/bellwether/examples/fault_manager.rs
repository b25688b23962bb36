//! Run: cargo run -p bellwether --example fault_manager
//!
//! Three members share some work. Who leads them is their fault manager: it is told who failed and who is back, as all members
//! have agreed, and says who does what from then on. Nobody works before all know.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/loopback.rs"]
mod loopback;

use std::error::Error;
use std::time::Duration;

use bellwether::proto::group::PlanRequest;
use bellwether::reorganization::{Manager, Service};
use bellwether::{Member, NodeId, Protocol};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);
/// What is to be done, whoever does it.
const TILES: usize = 7;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { timeout(PATIENCE, cluster()).await })?
}

async fn cluster() -> Result<(), Box<dyn Error>> {
    let (_dir, configs) = loopback::configs(3)?;
    let mut members = Vec::new();
    for mut config in configs {
        let manager = Manager::new(Duration::from_secs(1), |request| async move { share(&request) });
        config.protocol = Protocol::FbOmega;
        members.push(Member::join_as_manager(config, manager).await?);
    }
    let service = in_service(&members, 3).await?;
    println!("node {} leads {:?}: {:?}", service.leader, service.members, service.task);
    assert_eq!(tiles_of(&service, NodeId(3)), [2, 5]);

    members.pop().ok_or("nobody")?.leave().await;
    let service = in_service(&members, 2).await?;
    println!("node {} leads {:?}: {:?}", service.leader, service.members, service.task);
    assert_eq!(tiles_of(&service, NodeId(2)), [1, 3, 5]);
    Ok(())
}

/// The fault manager: a tile is done by the member whose id is at its place. In earnest it also has to see to it that what
/// those who failed had done is not lost, and may take its time for that.
fn share(request: &PlanRequest) -> Result<Vec<u8>, String> {
    println!("failed: {:?}, admitted: {:?}", request.failed, request.readmitted);
    let members: Vec<u8> = request
        .members
        .iter()
        .map(|member| u8::try_from(member.node.0))
        .collect::<Result<_, _>>()
        .map_err(|_| "ids are small here")?;
    Ok(members.into_iter().cycle().take(TILES).collect())
}

/// A member's share.
fn tiles_of(service: &Service, member: NodeId) -> Vec<usize> {
    (0..TILES).filter(|tile| u32::from(service.task[*tile]) == member.0).collect()
}

/// Waits until so many work together, and each of them knows what on.
async fn in_service(members: &[Member], count: usize) -> Result<Service, Box<dyn Error>> {
    let mut last = Err("nobody".into());
    for member in members {
        let mut services = member.service();
        last = loop {
            match services.current().filter(|service| service.members.len() == count) {
                Some(service) => break Ok(service),
                None if services.changed().await => {}
                None => return Err("the member has ended".into()),
            }
        };
    }
    last
}
