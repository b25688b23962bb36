//! The picture, put together from the workers' shards.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::connection::Connection;
use crate::image::Canvas;
use crate::job::{Job, Place};
use crate::recovery::Rebuilt;
use crate::rows::Inventory;
use crate::wire::{Answer, Request, Secret, TILES_AT_ONCE};

/// Why there is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rows that cannot be rebuilt: {missing}; workers that answered: {reached}, of the {needed} needed")]
pub struct Incomplete {
    /// How many rows are missing.
    pub missing: u32,
    /// How many workers answered.
    pub reached: u32,
    /// How many shards rebuild a row.
    pub needed: u32,
}

/// Asks all workers for their shards, and rebuilds every row from them.
///
/// # Errors
/// If some rows cannot be rebuilt. Nothing has been changed anywhere.
pub async fn collect(
    job: &Job,
    secret: Secret,
    workers: &BTreeMap<u32, SocketAddr>,
) -> Result<Canvas, Incomplete> {
    let mut connections = reach(job, secret, workers).await;
    let reached = u32::try_from(connections.len()).unwrap_or(u32::MAX);
    let mut canvas = Canvas::new(job.picture);
    let mut missing = 0;
    let all: Vec<_> = Inventory::all(&job.picture).iter().collect();
    for batch in all.chunks(TILES_AT_ONCE) {
        let mut shards = Vec::new();
        for connection in &mut connections {
            if let Ok(Answer::Shards(some)) = connection.ask(&Request::Get(batch.to_vec())).await {
                shards.extend(some);
            }
        }
        for (tile, rows) in batch {
            let rebuilt = Rebuilt::from_shards(job, *tile, *rows, &shards);
            missing += rebuilt.lost.count();
            rebuilt.rows.iter().for_each(|(row, bytes)| canvas.put(Place { tile: *tile, row: *row }, bytes));
        }
    }
    let needed = job.code.data();
    if missing == 0 { Ok(canvas) } else { Err(Incomplete { missing, reached, needed }) }
}

/// Those that answer.
async fn reach(job: &Job, secret: Secret, workers: &BTreeMap<u32, SocketAddr>) -> Vec<Connection> {
    let mut connections = Vec::new();
    for address in workers.values() {
        let mut connection = Connection::new(*address, secret);
        // Who only looks raises no fence.
        if let Ok(Answer::Have { rows, .. }) = connection.ask(&Request::Have { view: 0 }).await
            && Inventory::of(&job.picture, rows).is_some()
        {
            connections.push(connection);
        }
    }
    connections
}
