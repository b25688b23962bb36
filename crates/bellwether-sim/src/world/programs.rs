//! The programs that members serve, in the agent's world: what they ask for, and the work that they do as the leader.
//!
//! Work begins as soon as it may. When it is to end, because leadership is asked back or has been lost, it takes as long as
//! the scenario says; then the member is told, and if it leads again by then, work begins anew.

use std::collections::BTreeSet;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::exclusive::membership::MemberChange;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Input;
use bellwether_proto::tenure::{Command, Hold, Refused, Tenure, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{Program as Told, What};

use super::World;
use super::connections::News;
use crate::scenario::{Fault, index};

#[derive(Debug)]
pub(super) struct Programs {
    /// By host.
    all: Vec<Program>,
    tickets: u64,
    /// Those of them that were about who votes.
    changes: BTreeSet<Ticket>,
    /// Whether they say that their work has ended as soon as it is to: a planted fault.
    hasty: bool,
}

#[derive(Clone, Debug)]
struct Program {
    /// How long its work takes to end; `None` if it does not.
    ends_after: Option<Span>,
    tenure: Tenure,
    work: Work,
    /// How often work was to end.
    endings: u64,
    /// Whether the member has yet to be told that nothing works.
    owes_release: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    None,
    /// Of that epoch.
    GoesOn(u64),
    /// It is to end, which it does in a while, or never.
    Ending,
}

impl Programs {
    pub(super) fn new(hosts: usize) -> Self {
        let idle = Program {
            ends_after: Some(Span::ZERO),
            tenure: Tenure::None,
            work: Work::None,
            endings: 0,
            owes_release: false,
        };
        Self { all: vec![idle; hosts], tickets: 0, changes: BTreeSet::new(), hasty: false }
    }

    /// The process has ended, and all that it did with it.
    pub(super) fn end(&mut self, at: usize) {
        let program = &mut self.all[at];
        (program.tenure, program.work, program.owes_release) = (Tenure::None, Work::None, false);
        program.endings += 1;
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        for Program { ends_after, tenure, work, owes_release, .. } in &self.all {
            form.option(*ends_after, |form, span| form.number(span.as_micros()));
            form.number(u64::from(*owes_release));
            match tenure {
                Tenure::None => form.number(0),
                Tenure::Held { epoch } | Tenure::AskedBack { epoch } => {
                    form.number(1 + u64::from(matches!(tenure, Tenure::Held { .. })));
                    form.epoch(*epoch);
                }
            }
            match work {
                Work::None => form.number(0),
                Work::Ending => form.number(1),
                Work::GoesOn(epoch) => {
                    form.number(2);
                    form.epoch(*epoch);
                }
            }
        }
    }
}

impl<E: Election> World<'_, E> {
    /// Has programs say that their work has ended as soon as it is to, though it goes on: a planted fault.
    pub fn set_hasty_programs(&mut self) {
        if let Some(programs) = &mut self.programs {
            programs.hasty = true;
        }
    }

    /// Something is asked of members, or befalls what they serve.
    pub(super) fn ask_members(&mut self, fault: &Fault) {
        match fault {
            Fault::Resign(nodes) => self.ask_all(nodes, Command::Resign { hold: Hold::Default }),
            Fault::ResignFor { node, hold } => {
                let hold = hold.map_or(Hold::UntilTold, Hold::For);
                self.ask_all(&[*node], Command::Resign { hold });
            }
            Fault::Stand(nodes) => self.ask_all(nodes, Command::Stand),
            Fault::Transfer { from, to } => self.ask_all(&[*from], Command::Transfer { to: *to }),
            Fault::Leave(nodes) => self.ask_all(nodes, Command::Leave),
            Fault::Work { node, ends_after } => {
                if let Some(programs) = &mut self.programs {
                    programs.all[index(*node)].ends_after = *ends_after;
                }
            }
            _ => {}
        }
    }

    fn ask_all(&mut self, nodes: &[NodeId], command: Command) {
        nodes.iter().for_each(|node| self.ask_member(index(*node), command));
    }

    /// What is asked of a member that does not run is lost, and so is its program.
    fn ask_member(&mut self, at: usize, command: Command) {
        let Some(programs) = &mut self.programs else { return };
        if self.hosts[at].node.is_none() || self.hosts[at].paused {
            return;
        }
        programs.tickets += 1;
        let ticket = Ticket(programs.tickets);
        self.record(at, What::Program(Told::Asked { ticket, command }));
        self.input(at, Input::Command { ticket, command });
    }

    /// Any member may be asked who votes: the first that runs is. It has no program that waits for the answer.
    pub(super) fn change_voters(&mut self, change: MemberChange) {
        let runs = |at: &usize| self.hosts[*at].node.is_some() && !self.hosts[*at].paused;
        let Some(at) = (0..self.hosts.len()).find(runs) else { return };
        let Some(programs) = &mut self.programs else { return };
        programs.tickets += 1;
        let ticket = Ticket(programs.tickets);
        programs.changes.insert(ticket);
        self.input(at, Input::Change { ticket, change: Box::new(change) });
    }

    pub(super) fn answer_program(&mut self, at: usize, ticket: Ticket, outcome: Result<(), Refused>) {
        if self.programs.as_mut().is_some_and(|programs| programs.changes.remove(&ticket)) {
            return;
        }
        let refused = outcome.err().map(|refused| refused.name());
        self.record(at, What::Program(Told::Answered { ticket, refused }));
    }

    /// What the program may do has changed. It acts on that when the step is over.
    pub(super) fn tell_tenure(&mut self, at: usize, tenure: Tenure) {
        if let Some(programs) = &mut self.programs {
            let program = &mut programs.all[at];
            program.tenure = tenure;
            program.owes_release = !matches!(tenure, Tenure::Held { .. });
        }
        if let Tenure::AskedBack { epoch } = tenure {
            self.record(at, What::Program(Told::AskedBack { epoch }));
        }
    }

    /// The program may act until then, by the clock of its machine.
    pub(super) fn tell_valid(&mut self, at: usize, epoch: u64, until: Time) {
        let until = until.as_deadline().map_or(Time::NEVER, |until| self.hosts[at].clock.reaches(until));
        self.record(at, What::Program(Told::Valid { epoch, until }));
    }

    /// The program does what it may, and ends what it may not.
    pub(super) fn serve(&mut self, at: usize) {
        let Some(programs) = &mut self.programs else { return };
        let program = &mut programs.all[at];
        match (program.work, program.tenure) {
            (Work::None, Tenure::Held { epoch }) => {
                program.work = Work::GoesOn(epoch);
                self.record(at, What::Program(Told::WorkBegins { epoch }));
            }
            (Work::None, Tenure::AskedBack { .. } | Tenure::None) => {
                if std::mem::take(&mut program.owes_release) {
                    self.input(at, Input::Released);
                }
            }
            (Work::GoesOn(of), Tenure::Held { epoch }) if of == epoch => {}
            (Work::GoesOn(_), _) => {
                program.work = Work::Ending;
                program.endings += 1;
                let (no, ends_after) = (program.endings, program.ends_after);
                match ends_after {
                    Some(Span::ZERO) => self.work_ends(at, no),
                    Some(span) => self.later(at, span, News::WorkEnds(no)),
                    None => {}
                }
            }
            (Work::Ending, _) => {}
        }
        if let Some(Programs { hasty: true, all, .. }) = &mut self.programs
            && std::mem::take(&mut all[at].owes_release)
        {
            self.input(at, Input::Released);
        }
    }

    /// The work has come to its end, unless its process has.
    pub(super) fn work_ends(&mut self, at: usize, no: u64) {
        let Some(programs) = &mut self.programs else { return };
        let program = &mut programs.all[at];
        if program.work == Work::Ending && program.endings == no {
            program.work = Work::None;
            self.record(at, What::Program(Told::WorkEnds));
            self.serve(at);
        }
    }
}
