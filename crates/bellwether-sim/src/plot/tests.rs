//! Pictures are read back.

use bellwether_proto::election::Protocol;
use bellwether_proto::time::Span;
use roxmltree::Document;

use super::{Captions, draw};
use crate::measure::compare::{Campaign, Row};
use crate::measure::figures::Figures;
use crate::plan::FaultClass;
use crate::scenario::Latency;

fn rows(sizes: &[u32], faults: &[FaultClass]) -> Vec<Row> {
    let latency = Latency::constant(Span::millis(1));
    let campaign = Campaign {
        protocols: vec![Protocol::Lfa, Protocol::Fjr, Protocol::Adft],
        sizes: sizes.to_vec(),
        figures: Figures::new(0, latency, Span::millis(50)),
        faults: faults.iter().copied().collect(),
        runs: 4,
        seed: 1,
    };
    campaign.measure(2, &|| ())
}

fn captions() -> Captions {
    let notes = vec!["lfa: 1 < 2 & \"more\"".to_owned()];
    Captions { title: "Title".to_owned(), about: "About".to_owned(), notes }
}

#[test]
fn every_algorithm_has_its_line_in_every_panel() {
    let picture = draw(&rows(&[3, 5], &[FaultClass::Crash, FaultClass::Recover]), &captions());
    let document = Document::parse(&picture).expect("it is XML");
    for protocol in ["lfa", "fjr", "adft"] {
        let lines = document.descendants().filter(|node| {
            let of = node.parent().and_then(|series| series.attribute("data-protocol"));
            node.has_tag_name("polyline") && of == Some(protocol)
        });
        let points: Vec<_> = lines.map(|line| line.attribute("points").unwrap().split(' ').count()).collect();
        assert_eq!(points, [2, 2], "{protocol}: two panels, two sizes");
        let named = document.descendants().filter(|node| node.text() == Some(protocol));
        assert!(named.count() >= 3, "{protocol} has its name at its lines and bars");
    }
    let medians = document.descendants().filter(|node| node.attribute("class") == Some("median")).count();
    assert_eq!(medians, 6, "a failover for each algorithm and size");
    assert!(picture.contains("prefers-color-scheme:dark") && picture.contains("1 &lt; 2 &amp;"));
}

#[test]
fn what_was_not_measured_is_not_drawn() {
    let picture = draw(&rows(&[3], &[FaultClass::Pause]), &captions());
    let document = Document::parse(&picture).expect("it is XML");
    assert!(!picture.contains("Failover") && !picture.contains("NaN") && !picture.contains("inf"));
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("polyline")).count(), 0);
    let bars = document.descendants().filter(|node| node.attribute("class") == Some("bar")).count();
    assert_eq!(bars, 3 * 3, "messages, nobody and two, for each algorithm");
}

#[test]
fn everything_is_on_the_page_and_the_same_again() {
    let rows = rows(&[3, 5], &[FaultClass::Crash, FaultClass::Partition]);
    let picture = draw(&rows, &captions());
    assert_eq!(picture, draw(&rows, &captions()));
    let document = Document::parse(&picture).unwrap();
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| {
        node.attribute(name).map(|value| value.parse::<f64>().unwrap())
    };
    let root = document.root_element();
    let (width, height) = (number(&root, "width").unwrap(), number(&root, "height").unwrap());
    for node in document.descendants() {
        for (name, most) in [("x", width), ("y", height), ("cx", width), ("cy", height), ("x2", width)] {
            let value = number(&node, name).unwrap_or(0.0);
            assert!((0.0..=most).contains(&value), "{name} = {value}");
        }
    }
}
