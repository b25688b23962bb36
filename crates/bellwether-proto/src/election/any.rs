//! Every algorithm by name, and one type that can be any of them.

use super::async_bully::{self, AsyncBully};
use super::bully_fd::{self, BullyFd};
use super::{Action, Actions, Election, Input, Setup, Spec, stoller};
use crate::canonical::Form;
use crate::message::{Kind, Message};
use crate::time::{Span, Time};
use crate::view::View;

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Stoller, Fig. 1.
    BullyFd,
    /// Stoller, Fig. 3.
    AsyncBully,
}

impl Protocol {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::BullyFd, Self::AsyncBully];

    /// What is to be known about it.
    pub const fn spec(self) -> &'static Spec {
        match self {
            Self::BullyFd => &bully_fd::SPEC,
            Self::AsyncBully => &async_bully::SPEC,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The algorithm of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }
}

/// Any of the algorithms, chosen when the node starts.
#[derive(Clone, Debug)]
pub enum AnyElection {
    /// Stoller, Fig. 1.
    BullyFd(BullyFd),
    /// Stoller, Fig. 3.
    AsyncBully(AsyncBully),
}

/// A message of any of the algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyMsg {
    /// Of Fig. 1.
    BullyFd(stoller::Msg),
    /// Of Fig. 3.
    AsyncBully(stoller::Msg),
}

impl Election for AnyElection {
    type Msg = AnyMsg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        match setup.protocol {
            Protocol::BullyFd => Self::BullyFd(BullyFd::new(setup, tau_fd)),
            Protocol::AsyncBully => Self::AsyncBully(AsyncBully::new(setup, tau_fd)),
        }
    }

    fn handle(&mut self, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        match self {
            Self::BullyFd(election) => forward(election, now, input, out, AnyMsg::BullyFd, |msg| match msg {
                AnyMsg::BullyFd(msg) => Some(msg),
                AnyMsg::AsyncBully(_) => None,
            }),
            Self::AsyncBully(election) => {
                forward(election, now, input, out, AnyMsg::AsyncBully, |msg| match msg {
                    AnyMsg::AsyncBully(msg) => Some(msg),
                    AnyMsg::BullyFd(_) => None,
                })
            }
        }
    }

    fn deadline(&self) -> Time {
        match self {
            Self::BullyFd(election) => election.deadline(),
            Self::AsyncBully(election) => election.deadline(),
        }
    }

    fn view(&self) -> View {
        match self {
            Self::BullyFd(election) => election.view(),
            Self::AsyncBully(election) => election.view(),
        }
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        match self {
            Self::BullyFd(election) => election.canonical(now, form),
            Self::AsyncBully(election) => election.canonical(now, form),
        }
    }
}

impl Message for AnyMsg {
    fn kind(&self) -> Kind {
        match self {
            Self::BullyFd(msg) | Self::AsyncBully(msg) => msg.kind(),
        }
    }

    fn canonical(&self, form: &mut Form) {
        match self {
            Self::BullyFd(msg) | Self::AsyncBully(msg) => msg.canonical(form),
        }
    }
}

/// Runs one algorithm's step, its messages unwrapped on the way in and wrapped on the way out. A message of another
/// algorithm is not for this node and has no effect.
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
        Input::DownSig(node) => Input::DownSig(node),
        Input::Deadline => Input::Deadline,
        Input::Message { from, msg } => match unwrap(msg) {
            Some(msg) => Input::Message { from, msg },
            None => return,
        },
    };
    let mut inner = Actions::new();
    election.handle(now, input, &mut inner);
    for action in inner.drain() {
        out.push(match action {
            Action::Send { to, msg } => Action::Send { to, msg: wrap(msg) },
            Action::Start(node) => Action::Start(node),
            Action::Stop(node) => Action::Stop(node),
            Action::StopAll => Action::StopAll,
            Action::PlayDead => Action::PlayDead,
            Action::PlayAlive => Action::PlayAlive,
        });
    }
}
