//! Every algorithm by name, and one type that can be any of them. All of it is generated from the table of
//! algorithms.

use super::{Action, Actions, Election, Input, Setup, Spec, protocols};
use crate::canonical::Form;
use crate::kind::{Kind, Message};
use crate::opinion::Opinion;
use crate::time::{Span, Time};

macro_rules! dispatch {
    ($($document:literal $module:ident::$name:ident = $tag:literal,)*) => {
        /// The algorithms.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Protocol {
            $(#[doc = $document] $name,)*
        }

        impl Protocol {
            /// Every algorithm.
            pub const ALL: [Self; [$($tag),*].len()] = [$(Self::$name),*];

            /// The facts about it.
            pub const fn spec(self) -> &'static Spec {
                match self {
                    $(Self::$name => &super::$module::SPEC,)*
                }
            }
        }

        /// Any of the algorithms, chosen when the node starts.
        #[derive(Clone, Debug)]
        pub enum AnyElection {
            $(#[doc = $document] $name(super::$module::$name),)*
        }

        /// A message of any of the algorithms.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum AnyMsg {
            $(#[doc = $document] $name(<super::$module::$name as Election>::Msg),)*
        }

        impl Election for AnyElection {
            type Msg = AnyMsg;

            fn new(setup: Setup, tau_fd: Span) -> Self {
                match setup.protocol {
                    $(Protocol::$name => Self::$name(Election::new(setup, tau_fd)),)*
                }
            }

            /// A message of another algorithm is not for this node and has no effect.
            fn handle(&mut self, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
                match self {
                    $(Self::$name(election) => forward(election, now, input, out, AnyMsg::$name, |msg| match msg {
                        AnyMsg::$name(msg) => Some(msg),
                        _ => None,
                    }),)*
                }
            }

            fn deadline(&self) -> Time {
                match self {
                    $(Self::$name(election) => election.deadline(),)*
                }
            }

            fn opinion(&self) -> Opinion {
                match self {
                    $(Self::$name(election) => election.opinion(),)*
                }
            }

            fn canonical(&self, now: Time, form: &mut Form) {
                match self {
                    $(Self::$name(election) => election.canonical(now, form),)*
                }
            }

            /// `None` for states of two different algorithms.
            fn breach(&self, before: &Self) -> Option<&'static str> {
                match (self, before) {
                    $((Self::$name(after), Self::$name(before)) => after.breach(before),)*
                    _ => None,
                }
            }
        }

        impl Message for AnyMsg {
            fn kind(&self) -> Kind {
                match self {
                    $(Self::$name(msg) => msg.kind(),)*
                }
            }

            fn canonical(&self, form: &mut Form) {
                match self {
                    $(Self::$name(msg) => msg.canonical(form),)*
                }
            }

            fn largest_counter(&self) -> u64 {
                match self {
                    $(Self::$name(msg) => msg.largest_counter(),)*
                }
            }
        }
    };
}

protocols!(dispatch);

impl Protocol {
    /// Its name.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The algorithm of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }
}

/// Its messages are unwrapped on the way in and wrapped on the way out.
fn forward<E: Election>(
    election: &mut E,
    now: Time,
    input: Input<AnyMsg>,
    out: &mut Actions<AnyMsg>,
    wrap: impl Fn(E::Msg) -> AnyMsg,
    unwrap: impl Fn(AnyMsg) -> Option<E::Msg>,
) {
    let input = match input {
        Input::Recovery => Input::Recovery,
        Input::NewIncarnation(node) => Input::NewIncarnation(node),
        Input::DownSig(node) => Input::DownSig(node),
        Input::Gone(node) => Input::Gone(node),
        Input::Resigned { who, next } => Input::Resigned { who, next },
        Input::HandOver(node) => Input::HandOver(node),
        Input::Reorganized => Input::Reorganized,
        Input::ReorganizationFailed(node) => Input::ReorganizationFailed(node),
        Input::Link { peer, up } => Input::Link { peer, up },
        Input::Deadline => Input::Deadline,
        Input::Message { from, msg } => match unwrap(msg) {
            Some(msg) => Input::Message { from, msg },
            None => return,
        },
    };
    let mut inner = Actions::new();
    election.handle(now, input, &mut inner);
    if let Some(why) = inner.why.take() {
        out.because(why);
    }
    for action in inner.drain() {
        out.push(match action {
            Action::Send { to, msg } => Action::Send { to, msg: wrap(msg) },
            Action::Join { to, msg } => Action::Join { to, msg: wrap(msg) },
            Action::Form(formation) => Action::Form(formation),
            Action::Disband => Action::Disband,
            Action::Broadcast(msg) => Action::Broadcast(wrap(msg)),
            Action::Persist { count } => Action::Persist { count },
            Action::Note { count } => Action::Note { count },
            Action::Stand(membership) => Action::Stand(membership),
            Action::Install(members) => Action::Install(members),
            Action::Remember(pending) => Action::Remember(pending),
            Action::BeginIncarnation(why) => Action::BeginIncarnation(why),
            Action::Start(node) => Action::Start(node),
            Action::Stop(node) => Action::Stop(node),
            Action::StopAll => Action::StopAll,
            Action::PlayDead => Action::PlayDead,
            Action::PlayAlive => Action::PlayAlive,
        });
    }
}

#[cfg(test)]
mod tests;
