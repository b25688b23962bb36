//! Leadership that at most one has at a time: what its members agree on.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use bellwether_proto::election::NOMINATES;
use bellwether_proto::exclusive::configuration::Configuration;
use bellwether_proto::exclusive::terms::Terms;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;

use super::{BadConfig, Config, Peers};

pub use bellwether_proto::exclusive::grant::GrantKind;
pub use bellwether_proto::exclusive::terms::Drift;

/// The terms of exclusive leadership. Members whose terms differ refuse each other.
///
/// ```
/// # use bellwether::{Config, Exclusive};
/// # fn example(mut config: Config) {
/// config.exclusive = Some(Exclusive::default());
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exclusive {
    /// For how long a leader that is silent may still act. Nobody else leads before that.
    pub ttl: Duration,
    /// By how much the clocks of two members may differ in speed.
    pub drift: Drift,
    /// Whether a deadline or a store says who may act.
    pub kind: GrantKind,
    /// The members that vote, an odd number. `None`: all.
    pub voters: Option<Vec<NodeId>>,
    /// The members that never lead. They may vote.
    pub witnesses: Vec<NodeId>,
    /// What to do if the leader's work has not ended when leadership has.
    pub on_lost: OnLost,
}

/// What to do if the leader's work has not ended when leadership has: it was told to end in good time.
#[derive(Clone, Copy, Debug, Default)]
pub enum OnLost {
    /// Log it, and go on: the member campaigns again.
    #[default]
    Restart,
    /// Call this, on the member's own thread. It should end the process: whatever the work does then, it does beside another leader. If
    /// it returns, the member goes on.
    Exit(fn(Overrun)),
}

/// Work that went on when leadership had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overrun {
    /// The member.
    pub node: NodeId,
    /// With which token it led.
    pub token: u64,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, token } = self;
        write!(f, "node {node} leads no more, and its work with token {token} has not ended")
    }
}

impl Exclusive {
    /// For how long a silent leader may act, by default.
    pub const TTL: Duration = Duration::from_secs(1);
    /// By how much clocks may differ in speed, by default: 1 %, which is far more than any clock that works.
    pub const DRIFT: Drift = Drift(10_000);
    /// Clocks of which one is more than half as fast again as another measure nothing.
    pub(crate) const DRIFT_END: Drift = Drift(500_000);
    /// A leader that is gone is not waited for any longer.
    pub const TTL_MAX: Duration = Duration::from_secs(60 * 60);
    /// A leader that has missed fewer heartbeats than this is not replaced.
    pub const HEARTBEATS_IN_TTL: u32 = 5;
    /// No more members vote.
    pub(crate) const VOTERS_MAX: usize = Configuration::VOTERS_MAX;

    /// Who votes.
    pub(crate) fn voters(&self, members: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        self.voters.as_ref().map_or_else(|| members.clone(), |voters| voters.iter().copied().collect())
    }

    /// How long leases last, and how far clocks are trusted.
    pub(crate) fn terms(&self, heartbeat: Duration) -> Terms {
        let ttl = Span::from(self.ttl);
        Terms { ttl, longest: ttl, drift: self.drift, retry: heartbeat.into() }
    }

    /// What all members must agree on, in words. The lists of voters are compared when the cluster is founded.
    pub(crate) fn agreed(&self) -> String {
        let (kind, ttl, drift) = (self.kind.name(), Span::from(self.ttl), Percent(self.drift));
        format!("exclusive ({kind}, ttl {ttl}, drift {drift})")
    }

    /// All that is wrong with it in that configuration.
    pub(super) fn problems(&self, config: &Config) -> Vec<BadConfig> {
        let mut found = Vec::new();
        let protocol = config.protocol;
        found.extend((protocol != NOMINATES).then_some(BadConfig::ExclusiveProtocol { found: protocol }));
        found.extend(config.preempt.map(|found| BadConfig::ExclusivePreempt { found }));
        let heartbeat = config.heartbeat;
        let least = heartbeat.saturating_mul(Self::HEARTBEATS_IN_TTL);
        found.extend((self.ttl < least).then_some(BadConfig::Ttl { found: self.ttl, heartbeat }));
        found.extend((self.ttl > Self::TTL_MAX).then_some(BadConfig::LongTtl { found: self.ttl }));
        let sound = Drift(1)..Self::DRIFT_END;
        found.extend((!sound.contains(&self.drift)).then_some(BadConfig::Drift { found: self.drift }));
        match config.peers {
            Peers::Named(_) => found.push(BadConfig::ExclusiveNeedsList),
            Peers::Listed(_) => found.extend(self.lists_that_do_not_fit(&config.members())),
        }
        found
    }

    fn lists_that_do_not_fit(&self, members: &BTreeSet<NodeId>) -> Vec<BadConfig> {
        let mut found = Vec::new();
        for (list, listed) in
            [("voters", self.voters.as_deref()), ("witnesses", Some(self.witnesses.as_slice()))]
        {
            let mut once = BTreeSet::new();
            for id in listed.into_iter().flatten().copied() {
                found.extend((!members.contains(&id)).then_some(BadConfig::NoMember { list, id }));
                found.extend((!once.insert(id)).then_some(BadConfig::ListedTwice { list, id }));
            }
        }
        let (voters, all) = (self.voters(members).len(), self.voters.is_none());
        found.extend((voters % 2 == 0).then_some(BadConfig::EvenVoters { found: voters, all }));
        found.extend((voters > Self::VOTERS_MAX).then_some(BadConfig::TooManyVoters { found: voters, all }));
        let nobody = members.iter().all(|member| self.witnesses.contains(member));
        found.extend(nobody.then_some(BadConfig::NobodyLeads));
        found
    }
}

impl Default for Exclusive {
    fn default() -> Self {
        Self {
            ttl: Self::TTL,
            drift: Self::DRIFT,
            kind: GrantKind::default(),
            voters: None,
            witnesses: Vec::new(),
            on_lost: OnLost::default(),
        }
    }
}

/// A drift as people write it: `1%`.
#[derive(Clone, Copy, Debug)]
pub struct Percent(pub Drift);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = self.0.0;
        let (whole, rest) = (millionths / 10_000, format!("{:04}", millionths % 10_000));
        match rest.trim_end_matches('0') {
            "" => write!(f, "{whole}%"),
            decimals => write!(f, "{whole}.{decimals}%"),
        }
    }
}

/// What an error says was expected where a drift should be.
impl Percent {
    /// What to write.
    pub const EXPECTED: &str = "a share above 0% and below 50% such as \"1%\"";

    /// Reads `1%` or `0.05%`: at most four decimals, which are millionths.
    pub fn parse(text: &str) -> Option<Drift> {
        let number = text.strip_suffix('%')?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 4 {
            return None;
        }
        let rest: u32 = format!("{decimals:0<4}").parse().ok()?;
        whole.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(rest).map(Drift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_read_as_it_is_written() {
        for (text, millionths) in [("1%", 10_000), ("0.05%", 500), ("0.0001%", 1), ("12.5%", 125_000)] {
            assert_eq!(Percent::parse(text), Some(Drift(millionths)), "{text}");
            assert_eq!(Percent(Drift(millionths)).to_string(), text);
        }
        for text in ["", "%", "1", "-1%", "1.%", ".5%", "0.00001%", "1 %", "+1%", "99999999%"] {
            assert_eq!(Percent::parse(text), None, "{text}");
        }
    }
}
