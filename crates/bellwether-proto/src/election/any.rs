//! Every algorithm by name, and one type that can be any of them.

use super::adft::{self, Adft};
use super::async_bully::{self, AsyncBully};
use super::bully::{self, Bully};
use super::bully_fd::{self, BullyFd};
use super::fb_omega::{self, FbOmega};
use super::fjr::{self, Fjr};
use super::gamma::{self, Gamma};
use super::invitation::{self, Invitation};
use super::lfa::{self, Lfa};
use super::lockstep::{self, Lockstep};
use super::mmrt::{self, Mmrt};
use super::phi::{self, Phi};
use super::psi::{self, Psi};
use super::souto_bully::{self, SoutoBully};
use super::souto_invitation::{self, SoutoInvitation};
use super::{Action, Actions, Election, Input, Setup, Spec, franceschetti, stoller};
use crate::canonical::Form;
use crate::kind::{Kind, Message};
use crate::time::{Span, Time};
use crate::view::View;

/// The algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Stoller, Fig. 1.
    BullyFd,
    /// Stoller, Fig. 3.
    AsyncBully,
    /// Raynal, Fig. 1.
    Lfa,
    /// Raynal, Fig. 2.
    Adft,
    /// Raynal, Fig. 3.
    Mmrt,
    /// Raynal, Fig. 4.
    Fjr,
    /// Raynal, section 1.
    Lockstep,
    /// Garcia-Molina, Appendix I.
    Bully,
    /// Souto, The Bully Election Algorithm.
    SoutoBully,
    /// Garcia-Molina, Appendix II.
    Invitation,
    /// Souto, "The Invitation Algorithm".
    SoutoInvitation,
    /// Franceschetti and Bruck, section 3.1.
    Gamma,
    /// Franceschetti and Bruck, section 3.2.
    Phi,
    /// Franceschetti and Bruck, section 3.3.
    Psi,
    /// Franceschetti and Bruck, Fig. 2.
    FbOmega,
}

impl Protocol {
    /// Every algorithm.
    pub const ALL: [Self; 15] = [
        Self::BullyFd,
        Self::AsyncBully,
        Self::Lfa,
        Self::Adft,
        Self::Mmrt,
        Self::Fjr,
        Self::Lockstep,
        Self::Bully,
        Self::SoutoBully,
        Self::Invitation,
        Self::SoutoInvitation,
        Self::Gamma,
        Self::Phi,
        Self::Psi,
        Self::FbOmega,
    ];

    /// What is to be known about it.
    pub const fn spec(self) -> &'static Spec {
        match self {
            Self::BullyFd => &bully_fd::SPEC,
            Self::AsyncBully => &async_bully::SPEC,
            Self::Lfa => &lfa::SPEC,
            Self::Adft => &adft::SPEC,
            Self::Mmrt => &mmrt::SPEC,
            Self::Fjr => &fjr::SPEC,
            Self::Lockstep => &lockstep::SPEC,
            Self::Bully => &bully::SPEC,
            Self::SoutoBully => &souto_bully::SPEC,
            Self::Invitation => &invitation::SPEC,
            Self::SoutoInvitation => &souto_invitation::SPEC,
            Self::Gamma => &gamma::SPEC,
            Self::Phi => &phi::SPEC,
            Self::Psi => &psi::SPEC,
            Self::FbOmega => &fb_omega::SPEC,
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
    /// Raynal, Fig. 1.
    Lfa(Lfa),
    /// Raynal, Fig. 2.
    Adft(Adft),
    /// Raynal, Fig. 3.
    Mmrt(Mmrt),
    /// Raynal, Fig. 4.
    Fjr(Fjr),
    /// Raynal, section 1.
    Lockstep(Lockstep),
    /// Garcia-Molina, Appendix I.
    Bully(Bully),
    /// Souto, The Bully Election Algorithm.
    SoutoBully(SoutoBully),
    /// Garcia-Molina, Appendix II.
    Invitation(Invitation),
    /// Souto, "The Invitation Algorithm".
    SoutoInvitation(SoutoInvitation),
    /// Franceschetti and Bruck, section 3.1.
    Gamma(Gamma),
    /// Franceschetti and Bruck, section 3.2.
    Phi(Phi),
    /// Franceschetti and Bruck, section 3.3.
    Psi(Psi),
    /// Franceschetti and Bruck, Fig. 2.
    FbOmega(FbOmega),
}

/// A message of any of the algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyMsg {
    /// Of Stoller's Fig. 1.
    BullyFd(stoller::Msg),
    /// Of Stoller's Fig. 3.
    AsyncBully(stoller::Msg),
    /// Of Raynal's Fig. 1.
    Lfa(lfa::Msg),
    /// Of Raynal's Fig. 2.
    Adft(adft::Msg),
    /// Of Raynal's Fig. 3.
    Mmrt(mmrt::Msg),
    /// Of Raynal's Fig. 4.
    Fjr(fjr::Msg),
    /// Of Raynal's section 1.
    Lockstep(lockstep::Msg),
    /// Of Garcia-Molina's Appendix I.
    Bully(bully::Msg),
    /// Of Souto's Bully Election Algorithm.
    SoutoBully(souto_bully::Msg),
    /// Of Garcia-Molina's Appendix II.
    Invitation(invitation::Msg),
    /// Of Souto's form of it.
    SoutoInvitation(souto_invitation::Msg),
    /// Of Franceschetti and Bruck's section 3.1.
    Gamma(gamma::Msg),
    /// Of Franceschetti and Bruck's section 3.2.
    Phi(franceschetti::Msg),
    /// Of Franceschetti and Bruck's section 3.3.
    Psi(franceschetti::Msg),
    /// Of Franceschetti and Bruck's Fig. 2.
    FbOmega(franceschetti::Msg),
}

/// Runs `$body` with `$inner` bound to what `$any` holds, whichever algorithm it is of.
macro_rules! whichever {
    ($any:expr, $inner:ident => $body:expr) => {
        match $any {
            Self::BullyFd($inner) => $body,
            Self::AsyncBully($inner) => $body,
            Self::Lfa($inner) => $body,
            Self::Adft($inner) => $body,
            Self::Mmrt($inner) => $body,
            Self::Fjr($inner) => $body,
            Self::Lockstep($inner) => $body,
            Self::Bully($inner) => $body,
            Self::SoutoBully($inner) => $body,
            Self::Invitation($inner) => $body,
            Self::SoutoInvitation($inner) => $body,
            Self::Gamma($inner) => $body,
            Self::Phi($inner) => $body,
            Self::Psi($inner) => $body,
            Self::FbOmega($inner) => $body,
        }
    };
}

/// Runs one algorithm's step; a message of another algorithm is not for this node and has no effect.
macro_rules! step {
    ($name:ident, $election:expr, $now:expr, $input:expr, $out:expr) => {
        forward($election, $now, $input, $out, AnyMsg::$name, |msg| match msg {
            AnyMsg::$name(msg) => Some(msg),
            _ => None,
        })
    };
}

/// What the algorithm says of two of its states; nothing if they are of different ones.
macro_rules! of_both {
    ($after:expr, $before:expr, $($algorithm:ident)*) => {
        match ($after, $before) {
            $((Self::$algorithm(after), Self::$algorithm(before)) => after.breach(before),)*
            _ => None,
        }
    };
}

impl Election for AnyElection {
    type Msg = AnyMsg;

    fn new(setup: Setup, tau_fd: Span) -> Self {
        match setup.protocol {
            Protocol::BullyFd => Self::BullyFd(BullyFd::new(setup, tau_fd)),
            Protocol::AsyncBully => Self::AsyncBully(AsyncBully::new(setup, tau_fd)),
            Protocol::Lfa => Self::Lfa(Lfa::new(setup, tau_fd)),
            Protocol::Adft => Self::Adft(Adft::new(setup, tau_fd)),
            Protocol::Mmrt => Self::Mmrt(Mmrt::new(setup, tau_fd)),
            Protocol::Fjr => Self::Fjr(Fjr::new(setup, tau_fd)),
            Protocol::Lockstep => Self::Lockstep(Lockstep::new(setup, tau_fd)),
            Protocol::Bully => Self::Bully(Bully::new(setup, tau_fd)),
            Protocol::SoutoBully => Self::SoutoBully(SoutoBully::new(setup, tau_fd)),
            Protocol::Invitation => Self::Invitation(Invitation::new(setup, tau_fd)),
            Protocol::SoutoInvitation => Self::SoutoInvitation(SoutoInvitation::new(setup, tau_fd)),
            Protocol::Gamma => Self::Gamma(Gamma::new(setup, tau_fd)),
            Protocol::Phi => Self::Phi(Phi::new(setup, tau_fd)),
            Protocol::Psi => Self::Psi(Psi::new(setup, tau_fd)),
            Protocol::FbOmega => Self::FbOmega(FbOmega::new(setup, tau_fd)),
        }
    }

    fn handle(&mut self, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        match self {
            Self::BullyFd(election) => step!(BullyFd, election, now, input, out),
            Self::AsyncBully(election) => step!(AsyncBully, election, now, input, out),
            Self::Lfa(election) => step!(Lfa, election, now, input, out),
            Self::Adft(election) => step!(Adft, election, now, input, out),
            Self::Mmrt(election) => step!(Mmrt, election, now, input, out),
            Self::Fjr(election) => step!(Fjr, election, now, input, out),
            Self::Lockstep(election) => step!(Lockstep, election, now, input, out),
            Self::Bully(election) => step!(Bully, election, now, input, out),
            Self::SoutoBully(election) => step!(SoutoBully, election, now, input, out),
            Self::Invitation(election) => step!(Invitation, election, now, input, out),
            Self::SoutoInvitation(election) => step!(SoutoInvitation, election, now, input, out),
            Self::Gamma(election) => step!(Gamma, election, now, input, out),
            Self::Phi(election) => step!(Phi, election, now, input, out),
            Self::Psi(election) => step!(Psi, election, now, input, out),
            Self::FbOmega(election) => step!(FbOmega, election, now, input, out),
        }
    }

    fn deadline(&self) -> Time {
        whichever!(self, election => election.deadline())
    }

    fn view(&self) -> View {
        whichever!(self, election => election.view())
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        whichever!(self, election => election.canonical(now, form));
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        of_both!(self, before, BullyFd AsyncBully Lfa Adft Mmrt Fjr Lockstep Bully SoutoBully Invitation SoutoInvitation Gamma Phi Psi FbOmega)
    }
}

impl Message for AnyMsg {
    fn kind(&self) -> Kind {
        whichever!(self, msg => msg.kind())
    }

    fn canonical(&self, form: &mut Form) {
        whichever!(self, msg => msg.canonical(form));
    }

    fn largest_counter(&self) -> u64 {
        whichever!(self, msg => msg.largest_counter())
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
        Input::NewLife(node) => Input::NewLife(node),
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
    for action in inner.drain() {
        out.push(match action {
            Action::Send { to, msg } => Action::Send { to, msg: wrap(msg) },
            Action::Join { to, msg } => Action::Join { to, msg: wrap(msg) },
            Action::Form(formation) => Action::Form(formation),
            Action::Disband => Action::Disband,
            Action::Broadcast(msg) => Action::Broadcast(wrap(msg)),
            Action::Persist { count } => Action::Persist { count },
            Action::Stand(standing) => Action::Stand(standing),
            Action::Install(members) => Action::Install(members),
            Action::Remember(pending) => Action::Remember(pending),
            Action::BeginLife => Action::BeginLife,
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
