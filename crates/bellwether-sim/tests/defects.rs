//! Every known defect still shows, and nothing else is in its folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bellwether_proto::promise::Property;
use bellwether_sim::defect::{self, KNOWN};
use bellwether_sim::environment::promised;
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

#[test]
fn every_known_defect_still_shows() {
    for defect in KNOWN {
        let path = folder().join(defect.file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(text.starts_with("# "), "{}: the first line says what is wrong", defect.file);
        let scenario = Scenario::parse(defect.file, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(scenario.agent, "{}: only the leadership layer has known defects", defect.file);
        assert_eq!(scenario.protocol, defect.protocol, "{}", defect.file);
        assert!(scenario.expect.violates.contains(&defect.property), "{}: {}", defect.file, defect.property);
        let listed = |property: &Property| defect::of(&scenario, *property).is_some();
        assert!(scenario.expect.violates.iter().all(listed), "{}: all that it breaks is listed", defect.file);
        assert!(promised(&scenario, defect.property, &[]), "{}: it is not promised there", defect.file);
        let report = run::run(&scenario);
        assert!(
            report.passed(&scenario),
            "{}: {:?} {:?}",
            defect.file,
            report.expectations,
            report.properties
        );
    }
}

#[test]
fn every_file_is_listed() {
    let files = fs::read_dir(folder()).expect("the folder exists").map(|entry| {
        entry.expect("it can be read").file_name().into_string().expect("our files have plain names")
    });
    let listed: BTreeSet<_> = KNOWN.iter().map(|defect| defect.file.to_owned()).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), listed);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../defects")
}
