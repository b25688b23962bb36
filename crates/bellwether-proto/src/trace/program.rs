//! What passes between a member and the program that it serves, in the forms of a trace.

use core::fmt;

use crate::ident::NodeId;
use crate::tenure::{Command, Hold, Refused, Ticket};
use crate::time::Time;

/// Something between a member and its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The program asks something of the member.
    Asked {
        /// Tells what one member is asked apart.
        ticket: Ticket,
        /// What.
        command: Command,
    },
    /// The member answers.
    Answered {
        /// What it answers.
        ticket: Ticket,
        /// Nothing, if it was done; else why not, by its [name](crate::tenure::Refused::name).
        refused: Option<&'static str>,
    },
    /// The program begins to work as the leader.
    WorkBegins {
        /// Of this leadership.
        epoch: u64,
    },
    /// The member wants that work to end: leadership is about to be given back.
    AskedBack {
        /// Of this leadership.
        epoch: u64,
    },
    /// The work has ended.
    WorkEnds,
    /// The member tells the program that it holds the leadership, and until when it may act: of exclusive leadership alone.
    Valid {
        /// Of this leadership.
        epoch: u64,
        /// Until when, on the observer's clock; [`Time::NEVER`] if a store decides that.
        until: Time,
    },
    /// The member has left: its process ends, with a goodbye.
    Left,
}

/// The word used in traces.
pub(super) const fn name(told: &Program) -> &'static str {
    match told {
        Program::Asked { .. } => "asked",
        Program::Answered { .. } => "answered",
        Program::WorkBegins { .. } => "work-begins",
        Program::AskedBack { .. } => "asked-back",
        Program::WorkEnds => "work-ends",
        Program::Valid { .. } => "valid",
        Program::Left => "left",
    }
}

pub(super) fn binary(told: Program) -> (u64, [u64; 4]) {
    match told {
        Program::Asked { ticket, command } => {
            let (code, about) = match command {
                Command::Resign { hold: Hold::Default } => (0, 0),
                Command::Resign { hold: Hold::UntilTold } => (1, 0),
                Command::Resign { hold: Hold::For(span) } => (2, span.as_micros()),
                Command::Stand => (3, 0),
                Command::Transfer { to } => (4, u64::from(to.0)),
                Command::Leave => (5, 0),
            };
            (50, [ticket.0, code, about, 0])
        }
        Program::Answered { ticket, refused } => {
            let why = Refused::NAMES.iter().position(|name| Some(*name) == refused);
            (51, [ticket.0, why.map_or(0, |why| why as u64 + 1), 0, 0])
        }
        Program::WorkBegins { epoch } => (52, [epoch, 0, 0, 0]),
        Program::AskedBack { epoch } => (53, [epoch, 0, 0, 0]),
        Program::WorkEnds => (54, [0; 4]),
        Program::Left => (55, [0; 4]),
        Program::Valid { epoch, until } => (56, [epoch, until.as_micros(), 0, 0]),
    }
}

/// Whom it has to do with.
pub(super) const fn peer(told: Program) -> Option<NodeId> {
    match told {
        Program::Asked { command: Command::Transfer { to }, .. } => Some(to),
        _ => None,
    }
}

/// The keys that only these events have.
pub(super) fn write_json(told: &Program, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match told {
        Program::Asked { ticket: Ticket(ticket), command } => {
            write!(f, r#","ticket":{ticket},"command":"{}""#, command.name())?;
            match command {
                Command::Resign { hold } => write!(f, r#","hold":"{hold}""#),
                Command::Stand | Command::Transfer { .. } | Command::Leave => Ok(()),
            }
        }
        Program::Answered { ticket: Ticket(ticket), refused } => {
            write!(f, r#","ticket":{ticket},"done":{}"#, refused.is_none())
        }
        Program::WorkBegins { epoch } | Program::AskedBack { epoch } => write!(f, r#","epoch":{epoch}"#),
        Program::Valid { epoch, until } => {
            write!(f, r#","epoch":{epoch},"until_us":{}"#, until.as_micros())
        }
        Program::WorkEnds | Program::Left => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TraceEvent, What};
    use super::*;
    use crate::ident::Incarnation;
    use crate::time::Span;
    use alloc::string::{String, ToString};

    const COMMANDS: [Command; 6] = [
        Command::Resign { hold: Hold::Default },
        Command::Resign { hold: Hold::For(Span::millis(1_500)) },
        Command::Resign { hold: Hold::UntilTold },
        Command::Stand,
        Command::Transfer { to: NodeId(3) },
        Command::Leave,
    ];

    fn asked(ticket: u64, command: Command) -> Program {
        Program::Asked { ticket: Ticket(ticket), command }
    }

    fn answered(ticket: u64, refused: Option<&'static str>) -> Program {
        Program::Answered { ticket: Ticket(ticket), refused }
    }

    fn event(told: Program) -> TraceEvent {
        let what = What::Program(told);
        TraceEvent { at: Time::from_micros(1500), node: NodeId(2), incarnation: Incarnation(1), what }
    }

    fn keys(told: Program) -> String {
        let begins = r#"{"v":1,"t_us":1500,"node":2,"inc":1,"ev":""#;
        let line = event(told).json().to_string();
        line.strip_prefix(begins).map(ToString::to_string).expect("all lines begin alike")
    }

    #[test]
    fn a_line_says_what_was_asked_and_what_came_of_it() {
        let transfer = asked(7, Command::Transfer { to: NodeId(3) });
        assert_eq!(keys(transfer), r#"asked","peer":3,"ticket":7,"command":"transfer"}"#);
        assert_eq!(keys(asked(8, COMMANDS[1])), r#"asked","ticket":8,"command":"resign","hold":"1500ms"}"#);
        assert_eq!(keys(answered(8, None)), r#"answered","ticket":8,"done":true}"#);
        assert_eq!(
            keys(answered(7, Some("not-taken"))),
            r#"answered","reason":"not-taken","ticket":7,"done":false}"#
        );
        assert_eq!(keys(Program::WorkBegins { epoch: 4 }), r#"work-begins","epoch":4}"#);
        assert_eq!(keys(Program::AskedBack { epoch: 4 }), r#"asked-back","epoch":4}"#);
        assert_eq!([keys(Program::WorkEnds), keys(Program::Left)], [r#"work-ends"}"#, r#"left"}"#]);
    }

    #[test]
    fn every_command_is_found_by_the_words_for_it() {
        for command in COMMANDS {
            let hold = match command {
                Command::Resign { hold } => hold.to_string().parse().ok(),
                _ => None,
            };
            let peer = peer(asked(1, command));
            assert_eq!(Command::by_name(command.name(), hold, peer), Some(command));
        }
        assert_eq!(Command::by_name("transfer", None, None), None, "to whom?");
        assert_eq!(Command::by_name("resign", None, None), None, "for how long?");
        assert_eq!(Command::by_name("abdicate", Some(Hold::Default), Some(NodeId(1))), None);
    }

    #[test]
    fn distinct_events_have_distinct_binary_forms() {
        let mut all: alloc::vec::Vec<_> = COMMANDS.into_iter().map(|command| asked(1, command)).collect();
        all.extend(Refused::NAMES.map(|name| answered(1, Some(name))));
        all.extend([
            asked(1, Command::Transfer { to: NodeId(4) }),
            asked(2, Command::Stand),
            answered(1, None),
            Program::WorkBegins { epoch: 1 },
            Program::AskedBack { epoch: 1 },
            Program::WorkEnds,
            Program::Left,
            Program::Valid { epoch: 1, until: Time::ZERO },
            Program::Valid { epoch: 1, until: Time::NEVER },
        ]);
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert_ne!(event(*a).binary(), event(*b).binary());
            }
        }
    }
}
