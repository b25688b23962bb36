//! Leadership given back by hand: in which order, what is answered, and what is not waited for.

use super::*;
use crate::ident::Incarnation;
use crate::leadership::{Cause, Leadership, LeadershipConfig, LeadershipMsg};

const ME: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);
const TICKET: Ticket = Ticket(7);
const PATIENCE: Patience = Patience { work: Span::secs(1), successor: Span::secs(2), hold: Span::secs(30) };

#[test]
fn work_ends_before_anybody_is_told() {
    let mut rig = Rig::leading();
    let resign = Command::Resign { hold: Hold::Default };
    assert_eq!(rig.ask(resign), [Action::Tenure(Tenure::AskedBack { epoch: 1 })], "and nothing else yet");
    rig.now = rig.now + Span::millis(900);
    assert_eq!(rig.go_on(), []);
    assert_eq!(rig.released(), [Action::StandAside(rig.now + PATIENCE.hold)]);
    assert_eq!(rig.announced(None, 1), [Action::Tenure(Tenure::None)]);
    assert_eq!(rig.announced(Some(OTHER), 2), [Action::Answer(TICKET, Ok(()))]);
    assert_eq!(rig.release.deadline(), Time::NEVER);
}

#[test]
fn work_that_does_not_end_is_given_up() {
    let mut rig = Rig::leading();
    rig.ask(Command::Resign { hold: Hold::UntilTold });
    assert_eq!(rig.release.deadline(), rig.now + PATIENCE.work);
    rig.now = rig.now + PATIENCE.work;
    assert_eq!(rig.go_on(), [Action::GiveUp, Action::StandAside(Time::NEVER)]);
}

/// Leadership that was lost is nobody's to wait for, but the work of it may still go on.
#[test]
fn who_leaves_after_it_lost_leadership_waits_for_its_work_and_for_nobody() {
    let mut rig = Rig::leading();
    rig.announced(Some(OTHER), 2);
    assert_eq!(rig.ask(Command::Leave), []);
    assert_eq!(rig.released(), [Action::StandAside(Time::NEVER), Action::Left]);
}

/// Nobody is waited for, but what is answered is true.
#[test]
fn whoever_is_alone_answers_when_it_has_ceased_to_lead() {
    let mut rig = Rig::leading();
    rig.leadership.disconnect(rig.now, OTHER);
    rig.ask(Command::Resign { hold: Hold::UntilTold });
    assert_eq!(rig.released(), [Action::StandAside(Time::NEVER)], "no answer yet");
    let answered = rig.announced(None, 1);
    assert_eq!(answered, [Action::Tenure(Tenure::None), Action::Answer(TICKET, Ok(()))]);
}

/// It resigned so that another leads.
#[test]
fn who_stands_aside_for_others_stands_again_when_nobody_else_can_lead() {
    for hold in [Hold::Default, Hold::For(Span::secs(60))] {
        let mut rig = Rig::aside(hold);
        assert_eq!(rig.go_on(), [], "the other leads");
        rig.leadership.disconnect(rig.now, OTHER);
        assert_eq!(rig.go_on(), []);
        assert_eq!(rig.release.deadline(), rig.now + Span::millis(50), "in a moment");
        rig.now = rig.now + Span::millis(50);
        assert_eq!(rig.go_on(), [Action::Stand]);
        assert_eq!(rig.go_on(), [], "once is enough");
    }
}

/// The other was there all the time.
#[test]
fn a_connection_that_is_back_in_a_moment_ends_no_hold() {
    let mut rig = Rig::aside(Hold::For(Span::secs(60)));
    rig.leadership.disconnect(rig.now, OTHER);
    rig.go_on();
    rig.leadership.connect(rig.now, OTHER);
    assert_eq!((rig.go_on(), rig.release.deadline()), (Vec::new(), Time::NEVER));
    rig.now = rig.now + Span::secs(1);
    assert_eq!(rig.go_on(), [], "it stays aside");
}

#[test]
fn who_was_told_for_how_long_stays_aside_whoever_leads() {
    let mut rig = Rig::aside(Hold::UntilTold);
    rig.leadership.disconnect(rig.now, OTHER);
    assert_eq!(rig.go_on(), []);
    let mut alone = Rig::leading();
    alone.leadership.disconnect(alone.now, OTHER);
    alone.ask(Command::Resign { hold: Hold::For(Span::secs(60)) });
    assert_eq!(alone.released(), [Action::StandAside(alone.now + Span::secs(60))]);
    alone.leadership.stand_aside(alone.now);
    assert_eq!(alone.go_on(), [], "nobody shall lead");
}

#[test]
fn who_leaves_does_not_stand_again() {
    let mut rig = Rig::aside(Hold::Default);
    rig.ask(Command::Leave);
    rig.leadership.disconnect(rig.now, OTHER);
    assert_eq!(rig.go_on(), []);
}

/// It is aside by then, and waits for the next leader: it neither stands again nor goes at once.
#[test]
fn whoever_leaves_is_not_held_up_and_not_hurried() {
    let mut rig = Rig::leading();
    rig.ask(Command::Leave);
    assert_eq!(rig.released(), [Action::StandAside(Time::NEVER)]);
    rig.leadership.stand_aside(rig.now);
    rig.announced(None, 1);
    for command in [Command::Stand, Command::Resign { hold: Hold::Default }, Command::Transfer { to: OTHER }]
    {
        assert_eq!(rig.ask(command), [Action::Answer(TICKET, Err(Refused::Leaving))]);
    }
    assert_eq!(rig.ask(Command::Leave), [], "nobody leads yet");
    assert_eq!(rig.announced(Some(OTHER), 2), [Action::Left]);
}

#[test]
fn asking_twice_to_leave_gives_the_work_no_more_time() {
    let mut rig = Rig::leading();
    rig.ask(Command::Leave);
    let due = rig.release.deadline();
    rig.now = rig.now + PATIENCE.work / 2;
    rig.ask(Command::Leave);
    assert_eq!(rig.release.deadline(), due);
}

#[test]
fn a_leader_that_leaves_waits_for_the_next_but_not_for_ever() {
    for comes in [true, false] {
        let mut rig = Rig::leading();
        rig.ask(Command::Leave);
        assert_eq!(rig.released(), [Action::StandAside(Time::NEVER)]);
        rig.announced(None, 1);
        let left = if comes {
            rig.announced(Some(OTHER), 2)
        } else {
            rig.now = rig.now + PATIENCE.successor;
            rig.go_on()
        };
        assert_eq!(left, [Action::Left]);
    }
}

#[test]
fn a_hand_over_is_answered_when_the_member_leads_or_has_not_taken_it() {
    for taken in [true, false] {
        let mut rig = Rig::leading();
        rig.ask(Command::Transfer { to: OTHER });
        assert_eq!(rig.released(), [Action::HandOver(OTHER)]);
        rig.announced(None, 1);
        if taken {
            assert_eq!(rig.announced(Some(OTHER), 2), [Action::Answer(TICKET, Ok(()))]);
        } else {
            rig.announced(Some(NodeId(3)), 2);
            rig.now = rig.now + PATIENCE.successor;
            assert_eq!(rig.go_on(), [Action::Answer(TICKET, Err(Refused::NotTaken { to: OTHER }))]);
        }
    }
}

/// It may have led already, beside this node, without hearing of it.
#[test]
fn an_earlier_leadership_is_not_taken_for_what_was_handed_over() {
    let mut rig = Rig::leading();
    let lead = LeadershipMsg::Lead { round: 1, epoch: 2, followers: 0 };
    rig.leadership.handle(rig.now, OTHER, lead);
    rig.ask(Command::Transfer { to: OTHER });
    assert_eq!(rig.released(), [Action::HandOver(OTHER)]);
    rig.announced(None, 1);
    assert_eq!(rig.announced(Some(OTHER), 2), []);
    assert_eq!(rig.announced(Some(OTHER), 3), [Action::Answer(TICKET, Ok(()))]);
}

/// The election need not do as it is told.
#[test]
fn a_hand_over_of_which_nothing_comes_lets_work_begin_again() {
    let mut rig = Rig::leading();
    rig.ask(Command::Transfer { to: OTHER });
    rig.released();
    rig.now = rig.now + PATIENCE.successor;
    let answer = Action::Answer(TICKET, Err(Refused::NotTaken { to: OTHER }));
    assert_eq!(rig.go_on(), [answer, Action::Tenure(Tenure::Held { epoch: 1 })]);
}

/// A hand-over that came to nothing leaves leadership here, but not if it is given back at that very moment.
#[test]
fn no_work_begins_in_leadership_that_is_given_back_when_a_hand_over_is_over() {
    let mut rig = Rig::leading();
    rig.ask(Command::Transfer { to: OTHER });
    rig.released();
    let over = rig.now + PATIENCE.successor;
    rig.announced(None, 1);
    assert_eq!(rig.announced(Some(ME), 2), [Action::Tenure(Tenure::Held { epoch: 2 })]);
    rig.now = over - Span::millis(1);
    assert_eq!(
        rig.ask_as(Ticket(8), Command::Resign { hold: Hold::Default }),
        [Action::Tenure(Tenure::AskedBack { epoch: 2 })]
    );
    rig.now = over;
    let answer = Action::Answer(TICKET, Err(Refused::NotTaken { to: OTHER }));
    assert_eq!(rig.released(), [Action::StandAside(rig.now + PATIENCE.hold), answer], "and nothing is held");
}

#[test]
fn leadership_stays_if_the_successor_has_gone_while_work_came_to_its_end() {
    let mut rig = Rig::leading();
    rig.ask(Command::Transfer { to: OTHER });
    rig.leadership.disconnect(rig.now, OTHER);
    let why = Refused::HandOver { to: OTHER, why: Reluctance::NotConnected };
    assert_eq!(rig.released(), [Action::Tenure(Tenure::Held { epoch: 1 }), Action::Answer(TICKET, Err(why))]);
}

#[test]
fn what_cannot_be_is_refused_and_nobody_stops_working() {
    let mut rig = Rig::leading();
    let refused = |why| [Action::Answer(TICKET, Err(why))];
    assert_eq!(rig.ask(Command::Stand), refused(Refused::NotAside { me: ME }));
    let nobody = Refused::HandOver { to: NodeId(9), why: Reluctance::NotConnected };
    assert_eq!(rig.ask(Command::Transfer { to: NodeId(9) }), refused(nobody));
    rig.leadership.disconnect(rig.now, OTHER);
    assert_eq!(rig.ask(Command::Resign { hold: Hold::Default }), refused(Refused::NoSuccessor));
    rig.announced(Some(OTHER), 2);
    rig.released();
    let not_leader = Refused::NotLeader { me: ME, leader: Some(OTHER) };
    assert_eq!(rig.ask(Command::Resign { hold: Hold::Default }), refused(not_leader));
}

#[test]
fn one_command_at_a_time_and_nothing_goes_before_leaving() {
    let mut rig = Rig::leading();
    rig.ask(Command::Resign { hold: Hold::Default });
    let second = rig.ask_as(Ticket(8), Command::Transfer { to: OTHER });
    assert_eq!(second, [Action::Answer(Ticket(8), Err(Refused::GivenBack))]);
    assert_eq!(rig.ask_as(Ticket(9), Command::Leave), [Action::Answer(TICKET, Err(Refused::Leaving))]);
    let late = rig.ask_as(Ticket(10), Command::Resign { hold: Hold::UntilTold });
    assert_eq!(late, [Action::Answer(Ticket(10), Err(Refused::Leaving))]);
}

#[test]
fn a_member_of_higher_priority_is_given_way_to_once() {
    let mut rig = Rig::leading();
    rig.release.yield_to(rig.now, OTHER);
    rig.release.yield_to(rig.now, NodeId(3));
    assert_eq!(rig.go_on(), [Action::Tenure(Tenure::AskedBack { epoch: 1 })]);
    assert_eq!(rig.released(), [Action::HandOver(OTHER)]);
    rig.release.yield_to(rig.now, NodeId(3));
    assert_eq!(rig.go_on(), [], "not while the first may take it");
}

/// While it is given back, leadership that comes back with another epoch is not for anybody to begin work in.
#[test]
fn no_work_begins_while_leadership_is_given_back() {
    let mut rig = Rig::leading();
    rig.ask(Command::Resign { hold: Hold::Default });
    rig.announced(None, 1);
    assert_eq!(rig.announced(Some(ME), 2), [Action::Tenure(Tenure::AskedBack { epoch: 2 })]);
}

#[test]
fn that_nobody_works_says_nothing_of_work_that_may_begin() {
    let mut rig = Rig::leading();
    assert_eq!(rig.released(), []);
    rig.ask(Command::Resign { hold: Hold::Default });
    assert_eq!(rig.go_on(), [], "work may have begun since");
}

#[test]
fn no_more_commands_wait_than_may() {
    let mut rig = Rig::leading();
    for no in 0..2 * WAITING_MAX as u64 {
        rig.release.wait(Awaited::Anybody(Ticket(no)), Time::NEVER);
        rig.go_on();
        assert_eq!(rig.release.breach(), None);
    }
    assert_eq!(rig.release.waiting.len(), WAITING_MAX);
}

#[test]
fn the_form_tells_what_is_waited_for() {
    let form = |rig: &Rig| {
        let mut form = Form::new();
        rig.release.canonical(rig.now, &mut form);
        form.timed()
    };
    let mut rig = Rig::leading();
    let mut forms = alloc::vec![form(&rig)];
    rig.ask(Command::Transfer { to: OTHER });
    forms.push(form(&rig));
    rig.now = rig.now + Span::millis(1);
    forms.push(form(&rig));
    rig.released();
    forms.push(form(&rig));
    rig.announced(None, 1);
    forms.push(form(&rig));
    forms.sort();
    forms.dedup();
    assert_eq!(forms.len(), 5);
}

struct Rig {
    now: Time,
    leadership: Leadership,
    release: Release,
}

impl Rig {
    /// Node 1 leads with epoch 1, works, and is connected with node 2.
    fn leading() -> Self {
        let period = Span::millis(50);
        let config = LeadershipConfig {
            period,
            settle: period,
            meet: period,
            priority: 0,
            preempt: None,
            hands_over: true,
            min_peers: 0,
            quorum: 1,
            epoch: 0,
        };
        let mut leadership = Leadership::new(ME, Incarnation(1), config, Time::ZERO);
        leadership.connect(Time::ZERO, OTHER);
        leadership.name(Time::ZERO, Some(ME), Cause::Started);
        let now = Time::ZERO + period;
        leadership.wake(now);
        drop(leadership.drain());
        let mut rig = Self { now, leadership, release: Release::new(ME, "fjr", PATIENCE) };
        assert_eq!(rig.announced(Some(ME), 1), [Action::Tenure(Tenure::Held { epoch: 1 })]);
        rig
    }

    /// It has resigned, and node 2 leads.
    fn aside(hold: Hold) -> Self {
        let mut rig = Self::leading();
        rig.ask(Command::Resign { hold });
        rig.released();
        rig.leadership.stand_aside(rig.now);
        drop(rig.leadership.drain());
        rig.announced(Some(OTHER), 2);
        rig
    }

    fn ask(&mut self, command: Command) -> Vec<Action> {
        self.ask_as(TICKET, command)
    }

    fn ask_as(&mut self, ticket: Ticket, command: Command) -> Vec<Action> {
        self.release.command(self.now, ticket, command, &self.leadership);
        self.go_on()
    }

    fn released(&mut self) -> Vec<Action> {
        self.release.released();
        self.go_on()
    }

    fn announced(&mut self, leader: Option<NodeId>, epoch: u64) -> Vec<Action> {
        let tenure = self.release.announced(Announcement { leader, epoch, cause: Cause::Started });
        tenure.map(Action::Tenure).into_iter().chain(self.go_on()).collect()
    }

    fn go_on(&mut self) -> Vec<Action> {
        self.release.go_on(self.now, &self.leadership);
        assert_eq!(self.release.breach(), None);
        self.release.drain().collect()
    }
}
