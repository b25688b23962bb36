//! How many cliques are needed to cover a graph: exactly for small components, within bounds for large ones.
//!
//! Finding the least number is NP-hard (it is colouring the complement), but the graphs of experiments are small or
//! fall into small components, and each component can be covered on its own.

/// The largest component whose cover is computed exactly.
const EXACT_MAX: usize = 20;

/// An undirected graph on the vertices 0 to n - 1.
pub(super) struct Graph {
    neighbours: Vec<VertexSet>,
}

impl Graph {
    pub(super) fn new(n: usize, connected: impl Fn(usize, usize) -> bool) -> Self {
        let mut neighbours = vec![VertexSet::empty(n); n];
        for a in 0..n {
            for b in (a + 1..n).filter(|b| connected(a, *b)) {
                neighbours[a].insert(b);
                neighbours[b].insert(a);
            }
        }
        Self { neighbours }
    }

    fn components(&self) -> Vec<Vec<usize>> {
        let mut components = Vec::new();
        let mut unseen = VertexSet::full(self.neighbours.len());
        while let Some(start) = unseen.first() {
            unseen.remove(start);
            let mut component = vec![start];
            let mut next = 0;
            while let Some(vertex) = component.get(next) {
                let found = self.neighbours[*vertex].common(&unseen);
                found.iter().for_each(|vertex| unseen.remove(vertex));
                component.extend(found.iter());
                next += 1;
            }
            components.push(component);
        }
        components
    }
}

/// What is known of the least number of cliques.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) at_least: usize,
    pub(super) at_most: usize,
}

/// The least number of cliques that cover the graph.
pub(super) fn cover(graph: &Graph) -> Bounds {
    let mut sum = Bounds { at_least: 0, at_most: 0 };
    for component in graph.components() {
        let Bounds { at_least, at_most } = cover_component(graph, &component);
        sum.at_least += at_least;
        sum.at_most += at_most;
    }
    sum
}

fn cover_component(graph: &Graph, component: &[usize]) -> Bounds {
    let bounds = Bounds {
        at_least: independent_greedily(graph, component),
        at_most: cover_greedily(graph, component),
    };
    if bounds.at_least == bounds.at_most || component.len() > EXACT_MAX {
        return bounds;
    }
    let exact = Search::new(graph, component, bounds).run();
    Bounds { at_least: exact, at_most: exact }
}

/// The size of some independent set: a clique covers at most one of its vertices.
fn independent_greedily(graph: &Graph, component: &[usize]) -> usize {
    let mut by_degree = component.to_vec();
    by_degree.sort_by_key(|vertex| graph.neighbours[*vertex].len());
    let mut chosen = VertexSet::empty(graph.neighbours.len());
    for vertex in by_degree {
        if graph.neighbours[vertex].common(&chosen).is_empty() {
            chosen.insert(vertex);
        }
    }
    chosen.len()
}

/// The size of some cover.
fn cover_greedily(graph: &Graph, component: &[usize]) -> usize {
    let mut cliques: Vec<VertexSet> = Vec::new();
    for vertex in component {
        let neighbours = &graph.neighbours[*vertex];
        match cliques.iter_mut().find(|clique| clique.is_within(neighbours)) {
            Some(clique) => clique.insert(*vertex),
            None => {
                let mut clique = VertexSet::empty(graph.neighbours.len());
                clique.insert(*vertex);
                cliques.push(clique);
            }
        }
    }
    cliques.len()
}

/// Branch and bound, the vertex with the fewest choices first: DSATUR on the complement.
struct Search {
    /// Of the component's vertices, renumbered from 0.
    neighbours: Vec<u32>,
    /// Those of the branch.
    cliques: Vec<u32>,
    at_least: usize,
    best: usize,
}

impl Search {
    fn new(graph: &Graph, component: &[usize], bounds: Bounds) -> Self {
        let row = |a: &usize| {
            let bits = component.iter().enumerate().filter(|(_, b)| graph.neighbours[*a].contains(**b));
            bits.fold(0, |row, (bit, _)| row | 1 << bit)
        };
        Self {
            neighbours: component.iter().map(row).collect(),
            cliques: Vec::new(),
            at_least: bounds.at_least,
            best: bounds.at_most,
        }
    }

    fn run(mut self) -> usize {
        let all = (1 << self.neighbours.len()) - 1;
        self.branch(all);
        self.best
    }

    fn branch(&mut self, left: u32) {
        if self.cliques.len() >= self.best || self.best == self.at_least {
            return;
        }
        let Some(vertex) = self.most_constrained(left) else {
            self.best = self.cliques.len();
            return;
        };
        let bit = 1 << vertex;
        for at in 0..self.cliques.len() {
            if self.fits(vertex, self.cliques[at]) {
                self.cliques[at] |= bit;
                self.branch(left & !bit);
                self.cliques[at] &= !bit;
            }
        }
        self.cliques.push(bit);
        self.branch(left & !bit);
        self.cliques.pop();
    }

    fn most_constrained(&self, left: u32) -> Option<usize> {
        let vertices = (0..self.neighbours.len()).filter(|vertex| left & 1 << vertex != 0);
        vertices.min_by_key(|vertex| {
            let choices = self.cliques.iter().filter(|clique| self.fits(*vertex, **clique)).count();
            (choices, (self.neighbours[*vertex] & left).count_ones())
        })
    }

    fn fits(&self, vertex: usize, clique: u32) -> bool {
        clique & !self.neighbours[vertex] == 0
    }
}

#[derive(Clone)]
struct VertexSet(Vec<u64>);

impl VertexSet {
    fn empty(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    fn full(n: usize) -> Self {
        let mut set = Self::empty(n);
        (0..n).for_each(|vertex| set.insert(vertex));
        set
    }

    fn insert(&mut self, vertex: usize) {
        self.0[vertex / 64] |= 1 << (vertex % 64);
    }

    fn remove(&mut self, vertex: usize) {
        self.0[vertex / 64] &= !(1 << (vertex % 64));
    }

    fn contains(&self, vertex: usize) -> bool {
        self.0[vertex / 64] & 1 << (vertex % 64) != 0
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }

    fn common(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(mine, theirs)| mine & theirs).collect())
    }

    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len() * 64).filter(|vertex| self.contains(*vertex))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The graph on n vertices whose edges, in order, are the bits of a number.
    fn graph(n: usize, edges: u64) -> Graph {
        let place = |a: usize, b: usize| b * (b - 1) / 2 + a;
        Graph::new(n, |a, b| edges & 1 << place(a.min(b), a.max(b)) != 0)
    }

    /// Tries every way to put the vertices into cliques.
    fn by_brute_force(graph: &Graph, cliques: &mut Vec<Vec<usize>>, vertex: usize) -> usize {
        if vertex == graph.neighbours.len() {
            return cliques.len();
        }
        cliques.push(vec![vertex]);
        let mut best = by_brute_force(graph, cliques, vertex + 1);
        cliques.pop();
        for at in 0..cliques.len() {
            if cliques[at].iter().all(|other| graph.neighbours[vertex].contains(*other)) {
                cliques[at].push(vertex);
                best = best.min(by_brute_force(graph, cliques, vertex + 1));
                cliques[at].pop();
            }
        }
        best
    }

    fn assert_exact(graph: &Graph) {
        let least = by_brute_force(graph, &mut Vec::new(), 0);
        assert_eq!(cover(graph), Bounds { at_least: least, at_most: least });
    }

    /// Enough of a random number for a test.
    fn scrambled(i: u64) -> u64 {
        let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ x >> 27
    }

    #[test]
    fn every_graph_up_to_five_vertices_is_covered_as_by_brute_force() {
        for n in 0..=5_usize {
            for edges in 0..1_u64 << (n * n.saturating_sub(1) / 2) {
                assert_exact(&graph(n, edges));
            }
        }
    }

    #[test]
    fn graphs_of_six_and_seven_vertices_are_covered_as_by_brute_force() {
        for i in 0..3_000 {
            assert_exact(&graph(6 + (i % 2) as usize, scrambled(i)));
        }
    }

    #[test]
    fn the_search_is_needed_and_finds_what_is_between_the_greedy_bounds() {
        // A cycle of five has no independent set of three, but needs three cliques.
        let cycle = Graph::new(5, |a, b| (a + 1) % 5 == b || (b + 1) % 5 == a);
        assert_eq!(independent_greedily(&cycle, &[0, 1, 2, 3, 4]), 2);
        assert_eq!(cover(&cycle), Bounds { at_least: 3, at_most: 3 });
    }

    #[test]
    fn dense_components_of_the_largest_exact_size_are_quick() {
        for i in 0..40 {
            let n = EXACT_MAX;
            let graph = Graph::new(n, |a, b| scrambled((i * 1_000 + a * n + b) as u64) & 3 != 0);
            let bounds = cover(&graph);
            assert_eq!(bounds.at_least, bounds.at_most);
        }
    }

    #[test]
    fn large_components_have_sound_bounds() {
        let complete = Graph::new(100, |_, _| true);
        assert_eq!(cover(&complete), Bounds { at_least: 1, at_most: 1 });
        let path = Graph::new(100, |a, b| a + 1 == b || b + 1 == a);
        let bounds = cover(&path);
        assert!(bounds.at_least <= 50 && 50 <= bounds.at_most);
    }
}
