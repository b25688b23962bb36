//! `[[event]]`.

use std::collections::BTreeSet;
use std::ops::Range;

use bellwether_proto::group::OpId;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;
use bellwether_toml::{Spanned, Wrong, one_of};

use super::cluster::{Cluster, positive, within};
use super::raw::{
    RawChange, RawCrashBeforeSend, RawDropNext, RawEvent, RawMessage, RawPerform, RawResignFor, RawSlow,
    RawStall, RawTransfer, RawWork,
};
use super::values::{Delay, Duration, List, Probability, Table, Whole};
use crate::scenario::{Fault, Mishap, Planned};

const ACTIONS: [&str; 27] = [
    "crash",
    "recover",
    "pause",
    "resume",
    "cut",
    "cut_one_way",
    "mend",
    "heal",
    "partition",
    "slow",
    "drop_next",
    "message",
    "crash_before_send",
    "perform",
    "network",
    "resign",
    "resign_for",
    "stand",
    "transfer",
    "add_voter",
    "remove_voter",
    "leave",
    "unlink",
    "refuse",
    "accept",
    "work",
    "stall",
];

/// Those of them that only befall nodes which are run as an agent runs them.
const OF_AGENTS: &[&str] = ACTIONS.split_at(15).1;

/// No run has more messages.
const MESSAGES_MAX: u64 = i64::MAX as u64;

/// An action that an event asks for.
struct Action {
    key: &'static str,
    span: Range<usize>,
    fault: Fault,
}

impl Cluster {
    pub(super) fn events(&self, raw: List<Table<RawEvent>>) -> Result<Vec<Planned>, Wrong> {
        raw.0.into_iter().map(|event| self.event(event)).collect()
    }

    fn event(&self, given: Spanned<Table<RawEvent>>) -> Result<Planned, Wrong> {
        let span = given.span();
        let raw = given.into_inner().0;
        Ok(Planned { at: self.instant(&raw.at)?, fault: self.fault(span, &raw)? })
    }

    fn instant(&self, given: &Spanned<Duration>) -> Result<Time, Wrong> {
        let at = Time::ZERO + given.get_ref().0;
        if at < self.until {
            return Ok(at);
        }
        let (at, until) = (given.get_ref().0, self.until.since(Time::ZERO));
        let message = format!("an event at {at}, at or after `until`, expected a time before {until}");
        Err(Wrong::at(given.span(), message))
    }

    fn fault(&self, event: Range<usize>, raw: &RawEvent) -> Result<Fault, Wrong> {
        let mut actions = self.actions(raw)?;
        actions.sort_by_key(|action| action.span.start);
        let mut actions = actions.into_iter();
        match (actions.next(), actions.next()) {
            (Some(Action { key, span, fault }), None) => {
                if OF_AGENTS.contains(&key) {
                    self.of_agents(key, span)?;
                }
                Ok(fault)
            }
            (None, _) => {
                let message = format!("an event in which nothing happens, expected {}", one_of(&ACTIONS));
                Err(Wrong::at(event, message))
            }
            (Some(first), Some(second)) => {
                let (first, second, span) = (first.key, second.key, second.span);
                let message = format!(
                    "`{second}` in an event that has `{first}`, expected one action in each [[event]]"
                );
                Err(Wrong::at(span, message))
            }
        }
    }

    fn actions(&self, raw: &RawEvent) -> Result<Vec<Action>, Wrong> {
        let actions = [
            action("crash", &raw.crash, |nodes| self.nodes(nodes).map(Fault::Crash))?,
            action("recover", &raw.recover, |nodes| self.nodes(nodes).map(Fault::Recover))?,
            action("pause", &raw.pause, |nodes| self.nodes(nodes).map(Fault::Pause))?,
            action("resume", &raw.resume, |nodes| self.nodes(nodes).map(Fault::Resume))?,
            action("cut", &raw.cut, |pairs| self.pairs(pairs).map(Fault::Cut))?,
            action("cut_one_way", &raw.cut_one_way, |pairs| self.pairs(pairs).map(Fault::CutOneWay))?,
            action("mend", &raw.mend, |pairs| self.pairs(pairs).map(Fault::Mend))?,
            action("heal", &raw.heal, heal)?,
            action("partition", &raw.partition, |blocks| self.partition(blocks))?,
            action("slow", &raw.slow, |slow| self.slow(&slow.get_ref().0))?,
            action("drop_next", &raw.drop_next, |drop| self.drop_next(&drop.get_ref().0))?,
            action("message", &raw.message, |message| self.message(message))?,
            action("crash_before_send", &raw.crash_before_send, |crash| {
                self.crash_before_send(&crash.get_ref().0)
            })?,
            action("perform", &raw.perform, |perform| self.perform(perform))?,
            action("network", &raw.network, change)?,
        ];
        let actions = actions.into_iter().chain(self.actions_of_agents(raw)?);
        Ok(actions.flatten().collect())
    }

    fn actions_of_agents(&self, raw: &RawEvent) -> Result<[Option<Action>; 12], Wrong> {
        Ok([
            action("resign", &raw.resign, |nodes| self.nodes(nodes).map(Fault::Resign))?,
            action("resign_for", &raw.resign_for, |resign| self.resign_for(&resign.get_ref().0))?,
            action("stand", &raw.stand, |nodes| self.nodes(nodes).map(Fault::Stand))?,
            action("transfer", &raw.transfer, |transfer| self.transfer(&transfer.get_ref().0))?,
            action("add_voter", &raw.add_voter, |node| self.node(node).map(Fault::AddVoter))?,
            action("remove_voter", &raw.remove_voter, |node| self.node(node).map(Fault::RemoveVoter))?,
            action("leave", &raw.leave, |nodes| self.nodes(nodes).map(Fault::Leave))?,
            action("unlink", &raw.unlink, |pairs| self.pairs(pairs).map(Fault::Unlink))?,
            action("refuse", &raw.refuse, |pairs| self.pairs(pairs).map(Fault::Refuse))?,
            action("accept", &raw.accept, |pairs| self.pairs(pairs).map(Fault::Accept))?,
            action("work", &raw.work, |work| self.work(&work.get_ref().0))?,
            action("stall", &raw.stall, |stall| self.stall(&stall.get_ref().0))?,
        ])
    }

    fn resign_for(&self, raw: &RawResignFor) -> Result<Fault, Wrong> {
        Ok(Fault::ResignFor { node: self.node(&raw.node)?, hold: raw.hold.0 })
    }

    fn transfer(&self, raw: &RawTransfer) -> Result<Fault, Wrong> {
        let (from, to) = self.link(&raw.from, &raw.to)?;
        Ok(Fault::Transfer { from, to })
    }

    fn work(&self, raw: &RawWork) -> Result<Fault, Wrong> {
        Ok(Fault::Work { node: self.node(&raw.node)?, ends_after: raw.ends_after.0 })
    }

    fn stall(&self, raw: &RawStall) -> Result<Fault, Wrong> {
        Ok(Fault::Stall { node: self.node(&raw.node)?, lasts: positive("lasts", &raw.lasts)? })
    }

    fn partition(&self, given: &Spanned<List<List<Whole>>>) -> Result<Fault, Wrong> {
        if given.get_ref().0.is_empty() {
            return Err(Wrong::at(given.span(), "found an empty list, expected at least one block of nodes"));
        }
        let mut seen = BTreeSet::new();
        let blocks = given.get_ref().0.iter().map(|block| self.block(block, &mut seen));
        blocks.collect::<Result<_, _>>().map(Fault::Partition)
    }

    fn block(&self, given: &Spanned<List<Whole>>, seen: &mut BTreeSet<NodeId>) -> Result<Vec<NodeId>, Wrong> {
        let block = self.nodes(given)?;
        for (node, item) in block.iter().zip(&given.get_ref().0) {
            if !seen.insert(*node) {
                let message =
                    format!("node {node} is in the partition twice, expected each node in one block");
                return Err(Wrong::at(item.span(), message));
            }
        }
        Ok(block)
    }

    fn slow(&self, raw: &RawSlow) -> Result<Fault, Wrong> {
        let (from, to) = self.link(&raw.from, &raw.to)?;
        Ok(Fault::Slow { from, to, latency: raw.latency.0 })
    }

    fn drop_next(&self, raw: &RawDropNext) -> Result<Fault, Wrong> {
        let (from, to) = self.link(&raw.from, &raw.to)?;
        Ok(Fault::DropNext { from, to, kind: self.kind(&raw.kind)? })
    }

    fn message(&self, given: &Spanned<Table<RawMessage>>) -> Result<Fault, Wrong> {
        let raw = &given.get_ref().0;
        let (from, to) = self.link(&raw.from, &raw.to)?;
        let nth = raw.nth.as_ref().map(|nth| within("nth", nth, 1..=MESSAGES_MAX)).transpose()?.unwrap_or(1);
        let drop = raw.drop.as_ref().map(|drop| only_true("drop", drop, Mishap::Drop)).transpose()?;
        let delay = raw.delay.as_ref().map(|by| positive("delay", by).map(Mishap::Delay)).transpose()?;
        let twice = raw.duplicate.as_ref().map(|twice| only_true("duplicate", twice, Mishap::Duplicate));
        let mut mishaps = [drop, delay, twice.transpose()?].into_iter().flatten();
        match (mishaps.next(), mishaps.next()) {
            (Some(mishap), None) => Ok(Fault::Message { from, to, kind: self.kind(&raw.kind)?, nth, mishap }),
            (found, _) => {
                let found = if found.is_none() { "nothing happens" } else { "several things happen" };
                let keys = one_of(&["drop", "delay", "duplicate"]);
                Err(Wrong::at(given.span(), format!("a message to which {found}, expected one of {keys}")))
            }
        }
    }

    fn crash_before_send(&self, raw: &RawCrashBeforeSend) -> Result<Fault, Wrong> {
        Ok(Fault::CrashBeforeSend { node: self.node(&raw.node)?, kind: self.kind(&raw.kind)? })
    }

    fn perform(&self, given: &Spanned<Table<RawPerform>>) -> Result<Fault, Wrong> {
        let RawPerform { node, op } = &given.get_ref().0;
        if !self.protocol.spec().reorganizes {
            let name = self.protocol.name();
            let message =
                format!("{name} forms no groups that perform operations, expected an algorithm that does");
            return Err(Wrong::at(given.span(), message));
        }
        Ok(Fault::Perform { node: self.node(node)?, op: OpId(within("op", op, 0..=u64::MAX)?) })
    }
}

fn action<T>(
    key: &'static str,
    given: &Option<Spanned<T>>,
    read: impl Fn(&Spanned<T>) -> Result<Fault, Wrong>,
) -> Result<Option<Action>, Wrong> {
    given.as_ref().map(|given| Ok(Action { key, span: given.span(), fault: read(given)? })).transpose()
}

fn heal(given: &Spanned<bool>) -> Result<Fault, Wrong> {
    match given.get_ref() {
        true => Ok(Fault::Heal),
        false => Err(Wrong::at(given.span(), "`heal = false` does nothing, expected `heal = true`")),
    }
}

fn only_true(key: &str, given: &Spanned<bool>, mishap: Mishap) -> Result<Mishap, Wrong> {
    match given.get_ref() {
        true => Ok(mishap),
        false => {
            Err(Wrong::at(given.span(), format!("`{key} = false` does nothing, expected `{key} = true`")))
        }
    }
}

fn change(given: &Spanned<Table<RawChange>>) -> Result<Fault, Wrong> {
    let RawChange { latency, loss, duplicate, fifo } = given.get_ref().0;
    if latency.is_none() && loss.is_none() && duplicate.is_none() && fifo.is_none() {
        let keys = one_of(&["latency", "loss", "duplicate", "fifo"]);
        return Err(Wrong::at(
            given.span(),
            format!("a change of the network that changes nothing, expected {keys}"),
        ));
    }
    Ok(Fault::Network {
        latency: latency.map(|Delay(latency)| latency),
        loss: loss.map(|Probability(loss)| loss),
        duplicate: duplicate.map(|Probability(duplicate)| duplicate),
        fifo,
    })
}
