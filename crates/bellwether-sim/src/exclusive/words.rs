//! Steps in words.

use bellwether_proto::exclusive::configuration::{Configuration, Settling};
use bellwether_proto::exclusive::grant::{Accepted, Content};
use bellwether_proto::exclusive::ident::Stamp;
use bellwether_proto::exclusive::message::{Answer, Ask, ExclusiveMsg, Telling, Wish};

use super::model::Model;
use super::net::Envelope;
use super::setting::Setting;
use super::step::Step;

impl Model {
    /// What a step from this state is.
    pub fn describe(&self, step: Step) -> String {
        let (voter, coordinator, agent) = (Setting::voter, Setting::coordinator, Setting::agent);
        let name = |name: usize| &self.setting.names[name].0;
        match step {
            Step::Deliver(at) => envelope(self.net.get(at)),
            Step::Duplicate(at) => format!("{} (and once more later)", envelope(self.net.get(at))),
            Step::Lose(at) => format!("{} is lost", envelope(self.net.get(at))),
            Step::Tick => format!("time passes: {} µs", self.elapsed + self.setting.tick.as_micros()),
            Step::WakeCoordinator(index) => format!("coordinator {} wakes up", coordinator(index)),
            Step::WakeAgent(index) => format!("agent {} wakes up", agent(index)),
            Step::Write(index) => format!("voter {} has its next change on disk", voter(index)),
            Step::WriteAll(index) => format!("voter {} has all changes on disk", voter(index)),
            Step::RestartVoter(index) => format!("voter {} restarts", voter(index)),
            Step::Amnesia(index) => format!("voter {} restarts with an empty store", voter(index)),
            Step::RestartCoordinator(index) => format!("coordinator {} restarts", coordinator(index)),
            Step::ForgetCoordinator(index) => {
                format!("coordinator {} restarts, and has forgotten its incarnation", coordinator(index))
            }
            Step::RestartAgent(index) => format!("agent {} restarts", agent(index)),
            Step::ForgetAgent(index) => {
                format!("agent {} restarts, and has forgotten its incarnation", agent(index))
            }
            Step::Campaign(index, at) => format!("agent {} campaigns for {}", agent(index), name(at)),
            Step::Release(index, at) => format!("agent {} releases {}", agent(index), name(at)),
            Step::Transfer(index, at) => {
                format!("agent {} hands {} over to the next", agent(index), name(at))
            }
            Step::Part(index, gone) => {
                format!("coordinator {} takes {} for gone", coordinator(index), agent(gone))
            }
            Step::Change(index, of) => {
                let (coordinator, voter) = (coordinator(index), voter(of));
                format!("coordinator {coordinator} is asked to add or to remove {voter}")
            }
            Step::Delete(index, at) => {
                format!("agent {} asks for {} to be forgotten", agent(index), name(at))
            }
            Step::List(index) => format!("agent {} asks which names there are", agent(index)),
            Step::Meet(index, back) => {
                format!("coordinator {} can speak with {} again", coordinator(index), agent(back))
            }
        }
    }
}

fn envelope(Envelope { from, to, msg }: &Envelope) -> String {
    format!("{from} → {to}  {}", message(msg))
}

fn message(msg: &ExclusiveMsg) -> String {
    match msg {
        ExclusiveMsg::Ask(asked) => ask(&asked.ask),
        ExclusiveMsg::Answer(said) => answer(&said.answer),
        ExclusiveMsg::Wish(Wish::Campaign { name, holder, valid, holds, .. }) => {
            let holds = holds.map_or(String::new(), |token| format!(", holds it with token {token}"));
            let valid = if *valid { "valid" } else { "not valid" };
            format!("Campaign {name} {}#{} ({valid}{holds})", holder.lease, holder.campaign)
        }
        ExclusiveMsg::Wish(Wish::Release { name, token, holder, .. }) => {
            let token = token.map_or(String::new(), |token| format!(" token {token}"));
            format!("Release {name} {}#{}{token}", holder.lease, holder.campaign)
        }
        ExclusiveMsg::Wish(Wish::Change { change, .. }) => format!("Change {change:?}"),
        ExclusiveMsg::Tell(Telling::Members { stamp: when, configuration }) => {
            format!(
                "Members {}: {}",
                stamp(when),
                content(&Content::Configuration(configuration.clone().into()))
            )
        }
        ExclusiveMsg::Tell(Telling::Unchanged { why, .. }) => format!("Unchanged: {why}"),
        ExclusiveMsg::Tell(Telling::Held { name, stamp: when, grant, .. }) => {
            format!("Held {name} {}: {}", stamp(when), content(&Content::Grant(grant.clone())))
        }
        other => other.kind().name().to_owned(),
    }
}

fn ask(ask: &Ask) -> String {
    match ask {
        Ask::Prepare { ballot } => format!("Prepare {ballot}"),
        Ask::Read { ballot, name } => format!("Read {name} {ballot}"),
        Ask::Write { stamp: when, name, content: what } => {
            format!("Write {name} {}: {}", stamp(when), content(what))
        }
        Ask::Runs { lease } => format!("Runs? {lease}"),
        Ask::Bury { lease } => format!("Bury {lease}"),
        Ask::Renew { lease, no, .. } => format!("Renew {lease} no {no}"),
        Ask::IsDead { lease, no } => format!("Dead? {lease} no {no}"),
        Ask::Names { ballot, .. } => format!("Names? {ballot}"),
        Ask::Buried { ballot, .. } => format!("Buried? {ballot}"),
        Ask::Store { ballot } => format!("Store? {ballot}"),
        Ask::Holdings { ballot, .. } => format!("Holdings? {ballot}"),
        Ask::Peek { name, no } => format!("Peek {name} no {no}"),
        Ask::Drop { ballot, name, stamp: when } => format!("Drop {name} {} {ballot}", stamp(when)),
    }
}

fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Promised { ballot } => format!("Promised {ballot}"),
        Answer::Outbid { ballot, promised } => format!("Outbid {ballot} by {promised}"),
        Answer::Holds { ballot, name, accepted } => {
            format!("Holds {name} {ballot}: {}", accepted.as_ref().map_or("nothing".to_owned(), kept))
        }
        Answer::Wrote { stamp: when, name } => format!("Wrote {name} {}", stamp(when)),
        Answer::Unacceptable { stamp: when, why } => format!("Unacceptable {}: {why:?}", stamp(when)),
        Answer::Runs { lease, .. } => format!("Runs {lease}"),
        Answer::Stopped { lease } => format!("Stopped {lease}"),
        Answer::Buried { lease } => format!("Buried {lease}"),
        Answer::Renewed { lease, no } => format!("Renewed {lease} no {no}"),
        Answer::Lives { lease, no } => format!("Lives {lease} no {no}"),
        Answer::Dead { lease } => format!("Dead {lease}"),
        Answer::Names { ballot, names, .. } => format!("Names {ballot}: {}", names.len()),
        Answer::TheBuried { ballot, dead, .. } => format!("Buried {ballot}: {}", dead.len()),
        Answer::Store { ballot, empty, .. } => {
            format!("Store {ballot}: {}", if *empty { "empty" } else { "not empty" })
        }
        Answer::Holdings { ballot, held, .. } => format!("Holdings {ballot}: {}", held.len()),
        Answer::Peeked { name, no, accepted } => {
            format!("Peeked {name} no {no}: {}", accepted.as_ref().map_or("nothing".to_owned(), kept))
        }
        Answer::Outlived { life, known } => format!("Outlived {life}: {known} is known"),
    }
}

fn kept(accepted: &Accepted) -> String {
    format!("{} {}", stamp(&accepted.stamp), content(&accepted.content))
}

fn stamp(stamp: &Stamp) -> String {
    format!("{}/{}", stamp.ballot, stamp.write)
}

fn content(content: &Content) -> String {
    match content {
        Content::Configuration(configuration) => {
            let Configuration { number, voters, settling, .. } = &**configuration;
            let voters: Vec<String> = voters.keys().map(ToString::to_string).collect();
            let settled = if *settling == Settling::Done { "" } else { ", not settled" };
            format!("configuration {number} ({}{settled})", voters.join(" "))
        }
        Content::Grant(grant) => match &grant.holder {
            Some(holder) => format!("{}#{} token {}", holder.lease, holder.campaign, grant.token),
            None => format!("nobody, token {}", grant.token),
        },
        Content::Deleted => "deleted".to_owned(),
        Content::Floor(floor) => format!("floor {floor}"),
    }
}
