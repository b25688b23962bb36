//! What the functions of the schema say.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use tokio_postgres::types::FromSql;

use super::lane::Lane;
use crate::arbiter::{Line, Ticket, Trouble};
use crate::elections::Name;

/// What a renewal says.
#[derive(Debug, Deserialize)]
pub(super) struct Renewed {
    pub(super) ttl_ms: u64,
    pub(super) clock_ms: i64,
    pub(super) ended: Vec<String>,
    pub(super) lines: Vec<Row>,
}

/// A line.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    name: String,
    token: u64,
    at: u64,
    value: Option<String>,
    tickets: Vec<RowTicket>,
}

#[derive(Debug, Deserialize)]
struct RowTicket {
    session: String,
    slot: u32,
    number: u64,
}

impl Row {
    /// Nothing if somebody else wrote what no arbiter writes.
    pub(super) fn line(self) -> Option<(Name, Line)> {
        let Self { name, token, at, value, tickets } = self;
        let value = BASE64_STANDARD.decode(value.unwrap_or_default()).ok()?;
        let tickets =
            tickets.into_iter().map(|RowTicket { session, slot, number }| Ticket { session, slot, number });
        let line = Line { at, tickets: tickets.collect(), token, value: value.into() };
        Some((Name::new(&name).ok()?, line))
    }
}

pub(super) fn lines(lane: &Lane, row: &tokio_postgres::Row) -> Result<Vec<(Name, Line)>, Trouble> {
    let rows: Vec<Row> = json(lane, &text(lane, row)?)?;
    Ok(rows.into_iter().filter_map(Row::line).collect())
}

/// Nothing if the session has ended.
pub(super) fn renewed(lane: &Lane, row: &tokio_postgres::Row) -> Result<Option<Renewed>, Trouble> {
    let said: Option<String> = get(lane, row, 0)?;
    said.map(|said| json(lane, &said)).transpose()
}

/// Nothing if the session has ended.
pub(super) fn place(lane: &Lane, row: &tokio_postgres::Row) -> Result<Option<(u64, u64)>, Trouble> {
    let (number, at): (Option<i64>, Option<i64>) = (get(lane, row, 0)?, get(lane, row, 1)?);
    Ok(number.zip(at).map(|(number, at)| (number.unsigned_abs(), at.unsigned_abs())))
}

pub(super) fn text(lane: &Lane, row: &tokio_postgres::Row) -> Result<String, Trouble> {
    get(lane, row, 0)
}

pub(super) fn get<'r, T: FromSql<'r>>(
    lane: &Lane,
    row: &'r tokio_postgres::Row,
    at: usize,
) -> Result<T, Trouble> {
    row.try_get(at).map_err(|error| lane.unfit(&error))
}

fn json<T: for<'de> Deserialize<'de>>(lane: &Lane, said: &str) -> Result<T, Trouble> {
    serde_json::from_str(said).map_err(|error| lane.unfit(&error))
}

/// A number of a ticket, as the database has it.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
