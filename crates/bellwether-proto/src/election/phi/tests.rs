use alloc::vec::Vec;

use super::*;
use crate::election::franceschetti::rig::Rig;
use crate::election::{Primary, Variant};
use crate::time::Span;

/// Fig. 1: "links 1 = N1N2, 2 = N2N3, 3 = N3N4, 4 = N1N4, 5 = N2N4, 6 = N1N3".
const LINKS: [(u32, u32); 6] = [(1, 2), (2, 3), (3, 4), (1, 4), (2, 4), (1, 3)];

/// Table 1, message by message: what is sent after each loss.
const TABLE_1: [(usize, &[&str]); 5] = [
    (1, &["1 cand_down(2) 3", "1 cand_down(2) 4", "2 cand_down(1) 3", "2 cand_down(1) 4"]),
    (6, &["1 cand_down(3) 4", "3 accept_down(1) 2"]),
    (2, &["2 cand_down(3) 4", "3 cand_down(1) 4", "3 cand_down(2) 4"]),
    (4, &["4 accept_down(1) 2"]),
    (5, &["4 accept_down(1) 3", "4 accept_down(2) 3"]),
];

/// S6, E-FB2: level-triggered. "Note that node N3 is elected leader within the connected component of nodes N3 and N4."
#[test]
fn table_1_is_reproduced_message_by_message() {
    for variant in Variant::ALL {
        let mut rig: Rig<Phi> = Rig::new(4, variant, Primary::Any);
        for (link, expected) in TABLE_1 {
            rig.cut(&[LINKS[link - 1]]);
            rig.deliver();
            let said: Vec<_> = rig.take_said().into_iter().filter(|said| !said.contains("view")).collect();
            assert_eq!(said, expected, "{variant:?}, failure: link {link}");
        }
        assert_eq!(rig.leaders(&[3]), [Some(3)]);
        let dead = variant == Variant::Repaired;
        // E-FB3: as printed, the condition for leading holds of nodes that have no link left.
        assert_eq!([rig.is_dead(1), rig.is_dead(2)], [dead; 2]);
        assert_eq!(rig.leaders(&[1, 2]), if dead { [None, None] } else { [Some(1), Some(2)] });
    }
}

/// E-FB6: every order of the five losses that leave N3 and N4. Without a rule two leaders at once in some; with the rule of
/// the majority, of two of four, nobody.
#[test]
fn of_all_orders_of_the_losses_some_split_the_network() {
    let (mut both, mut earlier, mut orders) = (0, 0, 0);
    for order in permutations(&[1, 6, 2, 4, 5]) {
        orders += 1;
        let mut rig: Rig<Phi> = Rig::new(4, Variant::Repaired, Primary::Any);
        let mut voters: Rig<Phi> = Rig::new(4, Variant::Repaired, Primary::Majority);
        let (mut split, mut others) = (false, false);
        for link in order {
            for rig in [&mut rig, &mut voters] {
                rig.cut(&[LINKS[link - 1]]);
                rig.deliver();
            }
            let formed: Vec<_> = rig.take_said().into_iter().filter(|said| said.contains("view")).collect();
            others |= formed.iter().any(|said| !said.starts_with('3'));
            let led: Vec<_> =
                [1, 2, 3, 4].into_iter().filter(|id| rig.leaders(&[*id]) == [Some(*id)]).collect();
            split |= led.len() > 1;
            let leaders = voters.leaders(&[1, 2, 3, 4]).into_iter().flatten();
            let leaders: alloc::collections::BTreeSet<_> = leaders.collect();
            assert!(leaders.len() <= 1, "with a majority there is at most one: {leaders:?}");
        }
        assert_eq!(rig.leaders(&[3, 4]), [Some(3), Some(3)], "in the end 3 leads 4");
        assert_eq!(voters.leaders(&[3, 4]), [None, None], "two of four are no majority");
        both += u32::from(split);
        earlier += u32::from(others && !split);
    }
    assert_eq!((orders, both, earlier), (120, 24, 24));
}

/// C60: "for every k < n - 1 node failures the convergence condition eventually holds for exactly a single node"; with
/// k = n - 1 all are dead.
#[test]
fn the_lightest_that_is_left_leads_at_the_cost_of_the_corrected_formula() {
    for nodes in [4_u32, 5, 8, 16, 32] {
        for k in 1..nodes {
            let mut rig: Rig<Phi> = Rig::new(nodes, Variant::Repaired, Primary::Any);
            for victim in 1..=k {
                let links = rig.of(victim);
                rig.cut(&links);
            }
            rig.deliver();
            let left: Vec<u32> = (k + 1..=nodes).collect();
            if k == nodes - 1 {
                assert!((1..=nodes).all(|node| rig.is_dead(node)), "all suspect all others");
                continue;
            }
            assert!(rig.leaders(&left).into_iter().all(|leader| leader == Some(k + 1)), "{k} of {nodes}");
            assert!((1..=k).all(|node| rig.is_dead(node)));
            // What those who failed said before they were cut off altogether is not part of it.
            let winner = alloc::format!("{} cand_down", k + 1);
            let to_winner = alloc::format!(" {}", k + 1);
            let count =
                |test: &dyn Fn(&str) -> bool| rig.said.iter().filter(|said| test(said)).count() as u32;
            assert_eq!(count(&|said| said.starts_with(&winner)), k * (nodes - k - 1), "{k} of {nodes}");
            let accepts = count(&|said| said.contains("accept_down") && said.ends_with(&to_winner));
            assert_eq!(accepts, k * (nodes - k - 1), "{k} of {nodes}");
            assert_eq!(count(&|said| said.contains("view")), nodes - k - 1);
        }
    }
}

/// Φ has no way back.
#[test]
fn who_comes_back_stays_dead() {
    let mut rig: Rig<Phi> = Rig::new(4, Variant::Repaired, Primary::Majority);
    let links = rig.of(4);
    rig.cut(&links);
    rig.deliver();
    rig.mend(&links);
    rig.deliver();
    rig.pass(Span::secs(60));
    assert!(rig.is_dead(4));
    assert_eq!(rig.leaders(&[1, 2, 3]), [Some(1); 3]);
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return alloc::vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in items.iter().enumerate() {
        let rest: Vec<usize> = [&items[..at], &items[at + 1..]].concat();
        for mut order in permutations(&rest) {
            order.insert(0, *first);
            all.push(order);
        }
    }
    all
}
