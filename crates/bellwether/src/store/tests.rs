use std::fs;
use std::sync::Arc;

use bellwether_proto::group::{Content, Kept, TASK_MAX, Task};
use bellwether_proto::ident::{ElectionId, Incarnation, NodeId};
use bellwether_proto::io::Durable;
use tempfile::TempDir;

use super::format::{self, Owner};
use super::{Fault, Stage, Store, StoreError};

const KEPT: Durable = Durable { incarnation: Incarnation(1_700_000_000), count: 7, epoch: 42, group: None };

fn open(dir: &TempDir) -> Result<Option<Durable>, StoreError> {
    Store::open(dir.path(), "flock", NodeId(3)).map(|(_, _, kept)| kept)
}

/// A directory in which that member's state is kept.
fn kept() -> (TempDir, Vec<u8>) {
    let dir = TempDir::new().unwrap();
    let (store, _, found) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    assert_eq!(found, None);
    store.write(&KEPT).unwrap();
    let bytes = fs::read(dir.path().join("state")).unwrap();
    (dir, bytes)
}

fn fault(dir: &TempDir, bytes: &[u8]) -> Fault {
    let path = dir.path().join("state");
    fs::write(&path, bytes).unwrap();
    let error = open(dir).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), bytes, "a refused file is left as it is");
    let StoreError::Unusable { path: named, fault } = error else { panic!("{error}") };
    assert_eq!(named, path);
    fault
}

#[test]
fn what_was_written_is_there_in_the_next_incarnation() {
    let (dir, _) = kept();
    assert_eq!(open(&dir).unwrap(), Some(KEPT));
    let (store, ..) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let later = Durable { epoch: 43, ..KEPT };
    store.write(&later).unwrap();
    drop(store);
    assert_eq!(open(&dir).unwrap(), Some(later));
}

#[test]
fn what_the_group_layer_keeps_is_there_in_the_next_incarnation() {
    let dir = TempDir::new().unwrap();
    let (store, ..) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let task = Task::new(
        ElectionId { node: NodeId(3), incarnation: Incarnation(9), seq: 1 },
        Content::new(vec![7; TASK_MAX]).unwrap(),
    );
    let kept = Durable { group: Some(Arc::new(Kept { task: Some(task), ..Kept::default() })), ..KEPT };
    store.write(&kept).unwrap();
    drop(store);
    assert_eq!(open(&dir).unwrap(), Some(kept));
}

/// Later versions read it, too.
#[test]
fn the_format_is_what_it_was() {
    let (_, bytes) = kept();
    let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(bytes, STATE);
}

/// [`KEPT`], of node 3 of `flock`.
const STATE: &str = "4257535441544500020000002900000005000000666c6f636b0300000000f153650000000007000000000000002a00000000000000000000006a94a1ee";

/// What a version wrote that knew no groups.
#[test]
fn the_format_before_this_one_is_still_read() {
    let (dir, _) = kept();
    let mut payload = 5_u32.to_le_bytes().to_vec();
    payload.extend(b"flock");
    payload.extend(3_u32.to_le_bytes());
    for number in [KEPT.incarnation.0, KEPT.count, KEPT.epoch] {
        payload.extend(number.to_le_bytes());
    }
    fs::write(dir.path().join("state"), format::seal(1, &payload)).unwrap();
    assert_eq!(open(&dir).unwrap(), Some(KEPT));
    payload.extend(0_u32.to_le_bytes());
    assert!(matches!(fault(&dir, &format::seal(1, &payload)), Fault::Torn { .. }), "it had no such field");
    payload.truncate(payload.len() - 4);
    payload.extend([3, 0, 0, 0, 0xff, 0xff, 0xff]);
    assert!(matches!(fault(&dir, &format::seal(2, &payload)), Fault::Torn { .. }), "that is nothing kept");
}

#[test]
fn directories_are_made_on_the_way() {
    let dir = TempDir::new().unwrap();
    let deep = dir.path().join("a/b");
    Store::open(&deep, "flock", NodeId(3)).unwrap().0.write(&KEPT).unwrap();
    assert!(deep.join("state").exists());
}

#[test]
fn two_cannot_share_a_directory() {
    let dir = TempDir::new().unwrap();
    let first = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let error = open(&dir).unwrap_err();
    assert!(matches!(&error, StoreError::Locked { .. }), "{error}");
    assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
    drop(first);
    open(&dir).unwrap();
}

#[test]
fn a_file_that_was_cut_off_anywhere_is_refused() {
    let (dir, bytes) = kept();
    for len in 0..bytes.len() {
        assert_eq!(fault(&dir, &bytes[..len]), Fault::Truncated { len });
    }
}

#[test]
fn a_file_with_any_bit_flipped_is_refused() {
    let (dir, bytes) = kept();
    for (place, bit) in (0..bytes.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << bit;
        match fault(&dir, &flipped) {
            Fault::Foreign => assert!(place < 8, "byte {place}"),
            // The length is the one field whose damage can look like a missing end.
            Fault::Truncated { .. } => assert!((12..16).contains(&place), "byte {place}"),
            Fault::Torn { .. } => assert!(place >= 8, "byte {place}"),
            other => panic!("byte {place}, bit {bit}: {other}"),
        }
    }
}

#[test]
fn a_file_that_goes_on_is_refused() {
    let (dir, mut bytes) = kept();
    bytes.push(0);
    assert!(matches!(fault(&dir, &bytes), Fault::Torn { .. }));
    bytes.resize(format::LEN_MAX * 10, 0);
    assert!(matches!(fault(&dir, &bytes), Fault::Torn { .. }));
}

#[test]
fn files_of_others_are_told_apart() {
    let (dir, _) = kept();
    let other =
        |cluster: &str, id| format::encode(&Owner { cluster: cluster.to_owned(), id: NodeId(id) }, &KEPT);
    assert_eq!(fault(&dir, &other("herd", 3)), Fault::OtherCluster { found: "herd".to_owned() });
    assert_eq!(fault(&dir, &other("flock", 4)), Fault::OtherNode { found: NodeId(4) });
    assert_eq!(fault(&dir, b"[cluster]\nname = \"flock\"\n"), Fault::Foreign);
    let newer = format::seal(format::VERSION + 1, b"who knows");
    assert_eq!(fault(&dir, &newer), Fault::Newer { found: format::VERSION + 1 });
    assert_eq!(fault(&dir, &format::seal(0, b"")), Fault::Older { found: 0 });
    assert!(matches!(fault(&dir, &format::seal(format::VERSION, b"short")), Fault::Torn { .. }));
}

#[test]
fn a_refusal_says_which_file_what_is_wrong_and_how_to_go_on() {
    let (dir, bytes) = kept();
    fs::write(dir.path().join("state"), &bytes[..5]).unwrap();
    let text = open(&dir).unwrap_err().to_string();
    let wanted =
        ["state", "is cut off: it has 5 bytes", "delete it to join as if the disk were new", "clock"];
    for words in wanted {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn what_a_crash_left_beside_the_file_does_not_matter() {
    let (dir, _) = kept();
    fs::write(dir.path().join("state.new"), b"half of a st").unwrap();
    assert_eq!(open(&dir).unwrap(), Some(KEPT));
    let (store, ..) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    store.write(&Durable { count: 8, ..KEPT }).unwrap();
    drop(store);
    assert_eq!(open(&dir).unwrap(), Some(Durable { count: 8, ..KEPT }));
    assert!(!dir.path().join("state.new").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_state() {
    let (dir, _) = kept();
    let new = dir.path().join("state.new");
    std::os::unix::fs::symlink("/dev/full", &new).unwrap();
    let (store, ..) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let error = store.write(&Durable { count: 8, ..KEPT }).unwrap_err();
    assert!(matches!(error, StoreError::Write { stage: Stage::Write, .. }), "{error}");
    assert!(error.to_string().ends_with("the old state is still there"), "{error}");
    assert!(fs::symlink_metadata(&new).is_err(), "nothing is left of the attempt");
    drop(store);
    assert_eq!(open(&dir).unwrap(), Some(KEPT));
}

#[test]
fn a_state_that_cannot_be_written_beside_the_old_one_leaves_it() {
    let (dir, _) = kept();
    fs::create_dir(dir.path().join("state.new")).unwrap();
    let (store, ..) = Store::open(dir.path(), "flock", NodeId(3)).unwrap();
    let error = store.write(&Durable { count: 8, ..KEPT }).unwrap_err();
    assert!(matches!(error, StoreError::Write { stage: Stage::Write, .. }), "{error}");
    drop(store);
    assert_eq!(open(&dir).unwrap(), Some(KEPT));
}

#[test]
fn a_place_that_is_no_directory_is_named() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = Store::open(&file, "flock", NodeId(3)).unwrap_err();
    assert!(matches!(&error, StoreError::Dir { .. }), "{error}");
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}
