//! A cluster on a network that fails when it is told to.

use crate::cluster::{Befalls, Cluster, Shape, Views, agreed, http};
use crate::network::{Faults, Network, Way};
use crate::verdict::{self, RECORDING};

/// Who leads, and since which epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Led {
    pub(crate) by: u32,
    pub(crate) epoch: u64,
}

/// The processes go before the network that they are on.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    network: Network,
    nodes: u32,
    faults: Faults,
    protocol: &'static str,
}

impl World {
    /// That many nodes, all connected and led by one.
    pub(crate) fn start(nodes: u32) -> Self {
        Self::start_with("fjr", nodes)
    }

    /// The same, led by whom another algorithm finds.
    pub(crate) fn start_with(protocol: &'static str, nodes: u32) -> Self {
        Self::start_as(Shape { protocol, ..Shape::of(nodes) })
    }

    /// The same, of which at most one leads at a time.
    pub(crate) fn start_exclusive(nodes: u32) -> Self {
        Self::start_as(Shape { more: "mode = \"exclusive\"", ..Shape::of(nodes) })
    }

    fn start_as(shape: Shape) -> Self {
        let (nodes, protocol) = (shape.nodes, shape.protocol);
        let network = Network::new(nodes).unwrap();
        let shape = Shape { tables: RECORDING, ..shape };
        let cluster = Cluster::prepare_at(&shape, &network.places());
        let mut world = Self { cluster, network, nodes, faults: Faults::default(), protocol };
        (1..=nodes).for_each(|id| world.start_node(id));
        world.wait_for_links();
        world.cluster.wait_for_leader();
        world
    }

    /// Starts a node where it belongs.
    pub(crate) fn start_node(&mut self, id: u32) {
        self.network.inside(id, || self.cluster.start_node(id)).unwrap();
    }

    /// The same with these variables.
    pub(crate) fn start_node_with(&mut self, id: u32, variables: &[(&str, String)]) {
        self.network.inside(id, || self.cluster.start_node_with(id, variables)).unwrap();
    }

    /// Every way from one of the groups to another.
    pub(crate) fn between(groups: &[&[u32]]) -> Vec<Way> {
        let group_of = |id: u32| groups.iter().position(|group| group.contains(&id));
        let ids: Vec<u32> = groups.concat();
        ways(&ids).filter(|(from, to)| group_of(*from) != group_of(*to)).collect()
    }

    /// Every way that there is.
    pub(crate) fn ways(&self) -> Vec<Way> {
        ways(&(1..=self.nodes).collect::<Vec<_>>()).collect()
    }

    /// Nothing passes there any more.
    pub(crate) fn cut(&mut self, ways: &[Way]) {
        self.note(ways, Befalls::Cut);
        self.faults.cuts.extend(ways);
        self.network.set(&self.faults).unwrap();
    }

    /// So many packets of a hundred are lost, whichever way they go.
    pub(crate) fn lose(&mut self, percent: u32) {
        self.note(&self.ways(), Befalls::Slow);
        self.faults.loss = percent;
        self.network.set(&self.faults).unwrap();
    }

    /// The network is whole again.
    pub(crate) fn heal(&mut self) {
        let healed = std::mem::take(&mut self.faults);
        self.network.set(&self.faults).unwrap();
        self.note(&healed.cuts.into_iter().collect::<Vec<_>>(), Befalls::Mend);
        if healed.loss > 0 {
            self.note(&self.ways(), Befalls::Slow);
        }
    }

    fn note(&mut self, ways: &[Way], what: fn(u32) -> Befalls) {
        ways.iter().for_each(|(from, to)| self.cluster.note(*from, what(*to)));
    }

    /// Whether two nodes can speak with each other, both ways.
    pub(crate) fn reach(&self, one: u32, other: u32) -> bool {
        one == other || ![(one, other), (other, one)].iter().any(|way| self.faults.cuts.contains(way))
    }

    /// Waits until those are connected, and only those, that reach each other.
    #[track_caller]
    pub(crate) fn wait_for_links(&self) {
        let ids = || 1..=self.nodes;
        let reached = |id: u32| ids().filter(|other| *other != id && self.reach(id, *other)).count();
        self.cluster.wait_for("those are connected that reach each other", |_| {
            ids().all(|id| self.peers_connected(id) == Some(reached(id)))
        });
    }

    fn peers_connected(&self, id: u32) -> Option<usize> {
        let metrics = http::try_get(&self.cluster.api(id), "/metrics")?.body;
        metrics.lines().find_map(|line| line.strip_prefix("bellwether_peers_connected "))?.parse().ok()
    }

    /// Waits until these nodes agree on one of them.
    #[track_caller]
    pub(crate) fn wait_for_leader_of(&self, group: &[u32]) -> Led {
        let of = |views: &Views| led(&group.iter().map(|id| (*id, views[id].clone())).collect());
        let what = format!("{group:?} have a leader of their own");
        of(&self.cluster.wait_for(&what, |views| of(views).is_some())).unwrap()
    }

    /// Waits until all agree on one: one of these leaderships, if it alone has the highest epoch, or one above them all.
    #[track_caller]
    pub(crate) fn wait_for_one_after<'a>(&self, before: impl IntoIterator<Item = &'a Led>) -> Led {
        let before: Vec<Led> = before.into_iter().copied().collect();
        let is_after = |led: Led| before.iter().all(|before| led.epoch > before.epoch || led == *before);
        let all = |views: &Views| led(views).filter(|_| views.values().all(Option::is_some));
        let what = format!("all agree, in an epoch above {before:?}");
        all(&self.cluster.wait_for(&what, |views| all(views).is_some_and(is_after))).unwrap()
    }

    /// Waits until these nodes are in one group, and nobody else is: its number. A coordinator whose members left keeps its
    /// group, so that its record may name more.
    #[track_caller]
    pub(crate) fn wait_for_group_of(&self, members: &[u32]) -> String {
        let number =
            |views: &Views, id: u32| views[&id].as_ref()?["group"]["group"].as_str().map(str::to_owned);
        let of = |views: &Views| {
            let group = number(views, members[0])?;
            let together = |id| members.contains(&id) == (number(views, id).as_ref() == Some(&group));
            (1..=self.nodes).all(together).then_some(group)
        };
        let what = format!("{members:?} are a group");
        of(&self.cluster.wait_for(&what, |views| of(views).is_some())).unwrap()
    }

    /// The groups that one came from, as a node remembers them.
    #[track_caller]
    pub(crate) fn ancestors(&self, id: u32, group: &str) -> Vec<String> {
        let history = self.cluster.get(id, "/v1/history").json();
        let groups = history["groups"].as_array().expect("there is a list");
        let (mut found, mut next) = (Vec::new(), vec![group.to_owned()]);
        while let Some(name) = next.pop() {
            let parents = groups
                .iter()
                .filter(|group| group["group"] == name)
                .filter_map(|group| group["parents"].as_array());
            let parents = parents.flatten().filter_map(|parent| parent.as_str()).map(str::to_owned);
            let new: Vec<String> = parents.filter(|parent| !found.contains(parent)).collect();
            found.extend(new.clone());
            next.extend(new);
        }
        found
    }

    /// Judges what the nodes recorded, when they have come to rest.
    #[track_caller]
    pub(crate) fn judge(&self) {
        verdict::judge(&self.cluster, self.protocol);
    }
}

fn ways(ids: &[u32]) -> impl Iterator<Item = Way> {
    ids.iter().flat_map(|from| ids.iter().map(|to| (*from, *to))).filter(|(from, to)| from != to)
}

/// Whom these all name, if that is one of them and leads.
fn led(views: &Views) -> Option<Led> {
    let by = agreed(views)?;
    Some(Led { by, epoch: views[&by].as_ref()?["epoch"].as_u64()? })
}
