use alloc::vec::Vec;

use super::*;
use crate::election::franceschetti::rig::Rig;
use crate::election::{Primary, Variant};
use crate::time::Span;

/// Theorem 3.2, counts corrected: k of m fail while q come back.
#[test]
fn failures_and_repairs_cost_what_the_corrected_formula_says() {
    for (nodes, m, k, q) in [(5, 4, 0, 1), (6, 5, 1, 1), (8, 5, 1, 2), (16, 12, 2, 3), (32, 28, 3, 4)] {
        // The isolated are the last; those that fail are the heaviest of the component.
        let isolated: Vec<u32> = (m + 1..=nodes).collect();
        let mut rig: Rig<Psi> = Rig::without(nodes, Variant::Repaired, Primary::Any, &isolated);
        rig.take_said();
        let back: Vec<u32> = (m + 1..=m + q).collect();
        let gone: Vec<u32> = (m - k + 1..=m).collect();
        let left: Vec<u32> = (1..=m - k).chain(back.iter().copied()).collect();
        for victim in &gone {
            let links = rig.of(*victim);
            rig.cut(&links);
        }
        for node in &back {
            let links: Vec<_> = left.iter().filter(|peer| *peer != node).map(|peer| (*node, *peer)).collect();
            rig.mend(&links);
        }
        rig.deliver();
        assert!(rig.leaders(&left).into_iter().all(|leader| leader == Some(1)), "{nodes} {m} {k} {q}");
        // What those who fail say and hear before they are cut off altogether is not part of it.
        let of = |said: &str, node: u32| {
            said.starts_with(&alloc::format!("{node} ")) || said.ends_with(&alloc::format!(" {node}"))
        };
        let said: Vec<_> = rig.said.iter().filter(|said| !gone.iter().any(|node| of(said, *node))).collect();
        let count = |test: &dyn Fn(&str) -> bool| said.iter().filter(|said| test(said)).count() as u32;
        let (cands, accepts) = (
            count(&|said| said.starts_with("1 cand")),
            count(&|said| said.contains("accept") && said.ends_with(" 1")),
        );
        let expected = (k + q) * (m - k + q - 1);
        assert_eq!((cands, accepts), (expected, expected), "{nodes} {m} {k} {q}");
        assert_eq!(count(&|said| said.contains("view")), m - k + q - 1);
    }
}

/// S8, section 3.4.1: 1 and 3 suspect 4, which passes; 5 comes up. 1 still waits for accept_down(4) from 2, for ever.
#[test]
fn a_wrong_suspicion_hangs_psi() {
    for variant in Variant::ALL {
        let mut rig: Rig<Psi> = Rig::without(5, variant, Primary::Majority, &[5]);
        rig.cut(&[(1, 4), (3, 4)]);
        rig.deliver();
        assert_eq!(rig.take_said(), ["1 cand_down(4) 2", "1 cand_down(4) 3", "3 accept_down(4) 1"]);
        rig.mend(&[(1, 4), (3, 4)]);
        let links = rig.of(5);
        rig.mend(&links);
        rig.deliver();
        rig.pass(Span::secs(60));
        assert!(rig.is_dead(5), "{variant:?}: it is never admitted");
        assert!(!rig.said.iter().any(|said| said.contains("view")));
    }
}
