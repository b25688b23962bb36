use std::fs;

use bellwether_proto::exclusive::configuration::{Address, Configuration};
use bellwether_proto::exclusive::grant::{Accepted, Content, Grant, GrantKind, Name};
use bellwether_proto::exclusive::ident::{Age, Ballot, Life, LifeId, Stamp};
use bellwether_proto::ident::Incarnation;
use tempfile::TempDir;

use super::*;

const STORE: StoreId = StoreId(77);

fn owner() -> Owner {
    Owner { cluster: "flock".to_owned(), id: NodeId(3) }
}

fn open(dir: &TempDir) -> Result<(VotesFile, VoterKept), VotesError> {
    VotesFile::open(dir.path(), &owner(), || Some(STORE))
}

fn life(node: u32) -> Life {
    Life { node: NodeId(node), incarnation: Incarnation(9), id: LifeId(u128::MAX) }
}

fn changes() -> Vec<Change> {
    let ballot = Ballot { round: 4, of: life(1) };
    let accepted = |content| Accepted { stamp: Stamp { ballot, write: 2 }, content };
    let voters = Configuration::founding([(NodeId(3), STORE, Address::default())]);
    vec![
        Change::Met(life(1)),
        Change::Promised(ballot),
        Change::Accepted(Name::configuration(), accepted(Content::Configuration(voters.into()))),
        Change::Accepted(Name::leader(), accepted(Content::Grant(Grant::unheld(GrantKind::Lease).into()))),
        Change::Dead(NodeId(2), Age { incarnation: Incarnation(5), number: 6 }),
    ]
}

/// What a voter holds in memory after these changes.
fn in_memory(changes: &[Change]) -> VoterKept {
    let mut kept = VoterKept::new(STORE);
    changes.iter().for_each(|change| kept.keep(change.clone()));
    kept
}

/// A directory in which these changes were kept.
fn kept() -> TempDir {
    let dir = TempDir::new().unwrap();
    let (mut file, kept) = open(&dir).unwrap();
    assert_eq!(kept, VoterKept::new(STORE));
    assert_eq!(file.keep(&changes()).unwrap(), 5);
    dir
}

fn path(dir: &TempDir) -> PathBuf {
    dir.path().join("votes.redb")
}

/// Puts another file in its place, and nothing tells what was in the first.
fn replace(dir: &TempDir, bytes: &[u8]) {
    let _ = fs::remove_file(dir.path().join("votes.count"));
    fs::remove_file(path(dir)).unwrap();
    fs::write(path(dir), bytes).unwrap();
}

fn fault(dir: &TempDir, bytes: &[u8]) -> VotesFault {
    replace(dir, bytes);
    match open(dir).map(|(_, kept)| kept).unwrap_err() {
        VotesError::Unusable { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn what_was_kept_is_found_again() {
    let dir = kept();
    let (mut file, kept) = open(&dir).unwrap();
    assert_eq!(kept, in_memory(&changes()));
    let again = [Change::Met(life(2)), Change::Met(life(1))];
    assert_eq!(file.keep(&again).unwrap(), 7);
    drop(file);
    let all: Vec<Change> = changes().into_iter().chain(again).collect();
    assert_eq!(open(&dir).unwrap().1, in_memory(&all));
}

/// Later versions read them, too.
#[test]
fn values_are_what_they_were() {
    let sealed = |change| match change {
        Change::Promised(ballot) => seal::seal(&ballot),
        Change::Accepted(_, accepted) => seal::seal(&accepted),
        Change::Dead(_, age) => seal::seal(&age),
        Change::Met(life) => seal::seal(&life),
        Change::Dropped(name) => seal::seal(&name),
    };
    let values: Vec<Vec<u8>> = changes().into_iter().map(sealed).collect();
    let hex = |value: &Vec<u8>| -> String { value.iter().map(|byte| format!("{byte:02x}")).collect() };
    assert_eq!(values.iter().map(hex).collect::<Vec<_>>(), VALUES);
}

/// Of [`changes`], in their order.
const VALUES: [&str; 5] = [
    "010109ffffffffffffffffffffffffffffffffffff037587e297",
    "01040109ffffffffffffffffffffffffffffffffffff03c50f919d",
    "01040109ffffffffffffffffffffffffffffffffffff0302010001034d000100007a8a5c5d",
    "01040109ffffffffffffffffffffffffffffffffffff030200000000001cb548cf",
    "01050655e2976a",
];

/// The process is killed: nobody closes the file.
#[test]
fn what_was_kept_is_there_after_a_crash() {
    let (dir, after) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (mut file, _) = open(&dir).unwrap();
    file.keep(&changes()).unwrap();
    fs::copy(path(&dir), path(&after)).unwrap();
    assert_eq!(open(&after).unwrap().1, in_memory(&changes()));
}

#[test]
fn a_new_file_is_whole_or_not_there() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("votes.new"), b"half of a fi").unwrap();
    assert_eq!(open(&dir).unwrap().1, VoterKept::new(STORE));
    assert!(!dir.path().join("votes.new").exists());
    let none = TempDir::new().unwrap();
    assert!(matches!(VotesFile::open(none.path(), &owner(), || None), Err(VotesError::Random)));
    assert!(!path(&none).exists());
}

/// Whatever byte is wrong, what is read is what was written, or it is refused.
#[test]
fn a_damaged_file_is_refused_or_harmless() {
    let dir = kept();
    let whole = fs::read(path(&dir)).unwrap();
    let wanted = in_memory(&changes());
    let mut refused = 0;
    let written: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    for at in written.iter().copied().step_by(written.len() / 100) {
        let mut torn = whole.clone();
        torn[at] ^= 0x55;
        replace(&dir, &torn);
        match open(&dir) {
            Ok((mut file, kept)) => {
                assert_eq!(kept, wanted, "byte {at}");
                file.keep(&changes()).unwrap();
            }
            Err(VotesError::Unusable { .. }) => refused += 1,
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
    assert!(refused > 0);
    for len in [0, 1, 9, 100, 4096, whole.len() / 2, whole.len() - 1] {
        assert!(matches!(fault(&dir, &whole[..len]), VotesFault::Damaged { .. }), "cut at {len}");
        assert_eq!(fs::read(path(&dir)).unwrap(), &whole[..len], "it is left as it was");
    }
}

/// The database takes what it cannot read for what was not finished, if nobody closed it.
#[test]
fn a_byte_that_is_wrong_after_a_crash_has_nothing_forgotten_in_silence() {
    let dir = TempDir::new().unwrap();
    let (mut file, _) = open(&dir).unwrap();
    file.keep(&changes()).unwrap();
    file.keep(&[Change::Met(life(2))]).unwrap();
    let wanted = in_memory(&[changes(), vec![Change::Met(life(2))]].concat());
    let whole = fs::read(path(&dir)).unwrap();
    let written: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let after = TempDir::new().unwrap();
    let mut refused = 0;
    for at in written.iter().copied().step_by(written.len() / 60) {
        let mut torn = whole.clone();
        torn[at] ^= 0x55;
        fs::write(path(&after), &torn).unwrap();
        fs::copy(dir.path().join("votes.count"), after.path().join("votes.count")).unwrap();
        match open(&after) {
            Ok((_, kept)) => assert_eq!(kept, wanted, "byte {at}"),
            Err(VotesError::Unusable { .. }) => refused += 1,
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
    assert!(refused > 0);
}

#[test]
fn an_older_copy_of_the_file_is_refused_and_another_store_is_not() {
    let dir = kept();
    let before = fs::read(path(&dir)).unwrap();
    let (mut file, _) = open(&dir).unwrap();
    file.keep(&[Change::Met(life(2))]).unwrap();
    drop(file);
    fs::write(path(&dir), before).unwrap();
    let refused = open(&dir).map(|(_, kept)| kept).unwrap_err().to_string();
    assert!(refused.contains("is damaged: its last commits cannot be read; move it away"), "{refused}");
    fs::remove_file(path(&dir)).unwrap();
    let (_, kept) = VotesFile::open(dir.path(), &owner(), || Some(StoreId(78))).unwrap();
    assert_eq!(kept, VoterKept::new(StoreId(78)));
}

#[test]
fn what_is_not_this_members_is_refused() {
    let dir = kept();
    assert_eq!(fault(&dir, b"[cluster]\nname = \"flock\"\n"), VotesFault::Foreign);
    let found = |cluster: &str, id| {
        let (dir, owner) = (kept(), Owner { cluster: cluster.to_owned(), id: NodeId(id) });
        match VotesFile::open(dir.path(), &owner, || Some(STORE)).map(|(_, kept)| kept) {
            Err(VotesError::Unusable { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found("herd", 3), VotesFault::OtherCluster { found: "flock".to_owned() });
    assert_eq!(found("flock", 4), VotesFault::OtherNode { found: NodeId(3) });
}

#[test]
fn a_later_format_is_refused_and_says_what_to_do() {
    let dir = kept();
    let database = Database::open(path(&dir)).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(ABOUT).unwrap().insert("format", (FORMAT + 1).to_le_bytes().as_slice()).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let text = open(&dir).map(|(_, kept)| kept).unwrap_err().to_string();
    for words in ["votes.redb", "is of format 2", "run the version that wrote it"] {
        assert!(text.contains(words), "{text}");
    }
}

/// The process was killed, and then the end of the file was lost.
#[test]
fn what_is_refused_is_left_as_it_was_even_if_nobody_closed_it() {
    let dir = TempDir::new().unwrap();
    let (mut file, _) = open(&dir).unwrap();
    file.keep(&changes()).unwrap();
    let bytes = fs::read(path(&dir)).unwrap();
    let torn = TempDir::new().unwrap();
    for len in [bytes.len() / 4, bytes.len() / 2] {
        fs::write(path(&torn), &bytes[..len]).unwrap();
        let refused = open(&torn).map(|(_, kept)| kept);
        assert!(matches!(refused, Err(VotesError::Unusable { .. })), "{refused:?}");
        assert_eq!(fs::read(path(&torn)).unwrap(), &bytes[..len]);
        assert!(!torn.path().join("votes.new").exists(), "nothing is left of the attempt");
    }
}
