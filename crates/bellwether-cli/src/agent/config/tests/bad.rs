//! Errors for wrong configurations.

use super::*;
use crate::Status;
use bellwether_proto::election::InAgent;

/// What stands in place of what in the least file, and what is said about it.
const BAD: &[(&str, &str, &str)] = &[
    (
        "cluster = \"demo\"\n",
        "",
        "agent.toml: missing key `cluster`, expected it in the file or as BELLWETHER_CLUSTER",
    ),
    (
        "\"demo\"",
        "\"Demo\"",
        "agent.toml:1:11: `cluster`: found \"Demo\", expected 1 to 40 characters of a-z, 0-9 and -, not beginning or ending with -",
    ),
    ("cluster", "clutser", "agent.toml:1:1: unknown key `clutser`, did you mean `cluster`?"),
    (
        "node = 1\n",
        "",
        "agent.toml: missing key `node`, expected it in the file or as BELLWETHER_NODE or --node",
    ),
    ("node = 1", "node = 0", "agent.toml:2:8: `node`: found 0, expected a whole number from 1 to 4294967295"),
    (
        "node = 1",
        "node = \"1\"",
        "agent.toml:2:8: `node`: found \"1\", expected a whole number from 1 to 4294967295",
    ),
    (
        "node = 1",
        "node = 1.5",
        "agent.toml:2:8: `node`: found a number with decimals, expected a whole number from 1 to 4294967295",
    ),
    ("node = 1", "node = ", "agent.toml:2:8: found no value, expected one after `=`"),
    (
        "node = 1",
        "node = 1\nnode = 2",
        "agent.toml:3:1: the key `node` stands here for the second time, expected it once",
    ),
    ("node = 1", "node = 3", "agent.toml:2:8: node (3) must be one of the ids of [[peer]]: 1"),
    (
        "node = 1",
        "node = 1\nprotocol = \"raft\"",
        "agent.toml:3:12: `protocol`: found \"raft\", expected `async-bully`, `lfa`, `adft`, `fjr`, `invitation` or `fb-omega`",
    ),
    (
        "node = 1",
        "node = 1\nvariant = \"printed\"",
        "agent.toml:3:11: `variant`: found \"printed\", which keeps the flaws of the papers and is for the laboratory only; expected `repaired`",
    ),
    (
        "node = 1",
        "node = 1\nmode = \"quorum\"",
        "agent.toml:3:8: `mode`: found \"quorum\", expected `any-survivor`, `majority` or `exclusive`",
    ),
    (
        "node = 1",
        "node = 1\nmode = \"exclusive\"\nprotocol = \"lfa\"\npreempt = true",
        "agent.toml:4:12: mode = \"exclusive\" needs protocol = \"fjr\", and this one is \"lfa\"",
    ),
    (
        "node = 1",
        "node = 1\nmode = \"exclusive\"\nmin_peers = 0",
        "agent.toml:4:13: min_peers has no meaning with mode = \"exclusive\": nobody leads without a majority of the voters",
    ),
    (
        "node = 1\ndata_dir = \"data\"",
        "node = 1\ndata_dir = \"data\"\nmode = \"exclusive\"\n[exclusive]\ndrift = \"-1%\"",
        "agent.toml:6:9: `exclusive.drift`: found \"-1%\", expected a share above 0% and below 50% such as \"1%\"",
    ),
    (
        "node = 1\ndata_dir = \"data\"",
        "node = 1\ndata_dir = \"data\"\nmode = \"exclusive\"\n[exclusive]\nvoters = [1, \"2\"]",
        "agent.toml:6:10: `exclusive.voters`: found \"2\" in the list, expected a list of ids such as [1, 2, 3]",
    ),
    (
        "node = 1\ndata_dir = \"data\"",
        "node = 1\ndata_dir = \"data\"\n[exclusive]\nttl = \"2s\"",
        "agent.toml:5:7: `exclusive.ttl` needs mode = \"exclusive\"",
    ),
    (
        "node = 1",
        "node = 1\nmode = \"majority\"",
        "agent.toml:3:8: mode = \"majority\" does not fit protocol = \"fjr\", whose mode is \"any-survivor\"",
    ),
    (
        "node = 1",
        "node = 1\nprotocol = \"fb-omega\"\npreempt = true\nmode = \"any-survivor\"",
        "agent.toml:5:8: mode = \"any-survivor\" does not fit protocol = \"fb-omega\", whose mode is \"majority\"",
    ),
    (
        "node = 1",
        "node = 1\npriority = 1001",
        "agent.toml:3:12: `priority`: found 1001, expected a whole number from 0 to 1000",
    ),
    (
        "node = 1",
        "node = 1\npreempt = \"yes\"",
        "agent.toml:3:11: `preempt`: found \"yes\", expected true or false",
    ),
    (
        "node = 1",
        "node = 1\nresign_hold = 30",
        "agent.toml:3:15: `resign_hold`: found 30, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    (
        "node = 1",
        "node = 1\nresign_hold = \"30\"",
        "agent.toml:3:15: `resign_hold`: found \"30\", expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    (
        "node = 1",
        "node = 1\nheartbeat = \"50ms\"",
        "agent.toml:3:1: unknown key `heartbeat`, did you mean `timing.heartbeat`?",
    ),
    ("[tls]", "[tsl]", "agent.toml:4:2: unknown key `tsl`, did you mean `tls`?"),
    (
        "[tls]",
        "[timing]\nheartbeet = 1\n[tls]",
        "agent.toml:5:1: unknown key `timing.heartbeet`, did you mean `timing.heartbeat`?",
    ),
    ("data_dir", "timing = 3\ndata_dir", "agent.toml:3:10: `timing`: found 3, expected a table [timing]"),
    (
        "ca = \"ca.pem\"\n",
        "",
        "agent.toml: missing key `tls.ca`, expected it in the file or as BELLWETHER_TLS_CA",
    ),
    ("\"ca.pem\"", "\"\"", "agent.toml:5:6: `tls.ca`: found \"\", expected a path"),
    ("id = 1\n", "", "agent.toml:8:1: a [[peer]] without `id`, expected `id` and `address`"),
    (
        "id = 1",
        "id = -1",
        "agent.toml:9:6: `peer.id`: found -1, expected a whole number from 1 to 4294967295",
    ),
    (
        "id = 1",
        "id = 1\nadress = 3",
        "agent.toml:10:1: unknown key `adress` of a peer, did you mean `address`?",
    ),
    (
        "\"10.0.0.1\"",
        "\"::1\"",
        "agent.toml:10:11: `peer.address`: found \"::1\", expected a host and a port such as \"10.0.0.1:3170\"",
    ),
    (
        "[[peer]]\nid = 1\naddress = \"10.0.0.1\"\n",
        "",
        "agent.toml: neither [[peer]] nor [discovery] is given, expected one of them",
    ),
    (
        "[[peer]]\n",
        "[discovery]\ndns = [\"x\"]\n[[peer]]\n",
        "agent.toml:9:7: [discovery] and [[peer]] are both given, expected one of them",
    ),
    (
        "[[peer]]\nid = 1\naddress = \"10.0.0.1\"\n",
        "[discovery]\ndns = [1]\n",
        "agent.toml:9:7: `discovery.dns`: found 1 in the list, expected a list of names and ports such as [\"bellwether.default.svc:3170\"]",
    ),
    (
        "[[peer]]\n",
        "[peer]\n",
        "agent.toml:8:1: `peer`: found a table, expected a table [[peer]] for each member",
    ),
    (
        "[[peer]]\n",
        "[[peer]]\nid = 1\naddress = \"other\"\n[[peer]]\n",
        "agent.toml:12:6: `peer.id`: there is a peer 1 already, expected each once",
    ),
    (
        "[[peer]]\n",
        "[[peer]]\nid = 2\naddress = \"10.0.0.1:3170\"\n[[peer]]\n",
        "agent.toml:13:11: `peer.address`: \"10.0.0.1:3170\" is the address of peer 2, too, expected one for each",
    ),
    (
        "[tls]",
        "[listen]\npeer = \"localhost:3170\"\n[tls]",
        "agent.toml:5:8: `listen.peer`: found \"localhost:3170\", expected an address and a port such as \"0.0.0.0:3170\"",
    ),
    (
        "[tls]",
        "[listen]\napi = \"127.0.0.1:3170\"\n[tls]",
        "agent.toml:5:7: listen.peer (0.0.0.0:3170) and listen.api (127.0.0.1:3170) must differ",
    ),
    (
        "[tls]",
        "[listen]\nsocket = \"\"\n[tls]",
        "agent.toml:5:10: `listen.socket`: found \"\", expected a path",
    ),
    (
        "[tls]",
        "[listen]\nsocket = \"{id}.sock\"\n[tls]",
        "agent.toml:5:10: `listen.socket`: found \"{id}.sock\", expected a path with no placeholder but {node}",
    ),
    (
        "[tls]",
        "[listen]\nsocket = \"a.sock\"\nsocket_mode = \"rw\"\n[tls]",
        "agent.toml:6:15: `listen.socket_mode`: found \"rw\", expected permissions in octal such as \"0660\"",
    ),
    (
        "[tls]",
        "[listen]\nsocket = \"a.sock\"\nsocket_mode = 660\n[tls]",
        "agent.toml:6:15: `listen.socket_mode`: found 660, expected permissions in octal such as \"0660\"",
    ),
    (
        "[tls]",
        "[listen]\nsocket = \"a.sock\"\nsocket_mode = \"7777\"\n[tls]",
        "agent.toml:6:15: `listen.socket_mode`: found \"7777\", expected permissions in octal such as \"0660\"",
    ),
    (
        "[tls]",
        "[listen]\nsocket_mode = \"0600\"\n[tls]",
        "agent.toml:5:15: listen.socket_mode has no meaning without listen.socket",
    ),
    (
        "[tls]",
        "[timing]\ntimeout = \"100ms\"\n[tls]",
        "agent.toml:5:11: timing.timeout (100ms) must be at least three times timing.heartbeat (50ms): otherwise one late heartbeat unseats a leader that works",
    ),
    (
        "[tls]",
        "[timing]\nheartbeat = \"500us\"\n[tls]",
        "agent.toml:5:13: timing.heartbeat (500us) must be at least 1ms",
    ),
    (
        "[tls]",
        "[log]\nlevel = \"inf\"\n[tls]",
        "agent.toml:5:9: `log.level`: found \"inf\", expected `off`, `error`, `warn`, `info`, `debug` or `trace`",
    ),
    (
        "[tls]",
        "[log]\nformat = \"xml\"\n[tls]",
        "agent.toml:5:10: `log.format`: found \"xml\", expected `text` or `json`",
    ),
    (
        "[tls]",
        "[api]\ntoken = \"0123456789abcdef\"\ntoken_file = \"b\"\n[tls]",
        "agent.toml:6:14: `api.token` and `api.token_file` are both given, expected one of them",
    ),
    (
        "[tls]",
        "[api]\ntoken = \"two words\"\n[tls]",
        "agent.toml:5:9: `api.token`: found one with spaces, expected a token of visible ASCII characters, without spaces",
    ),
    (
        "node = 1",
        "node = 1\nprotocol = \"lfa\"",
        "agent.toml:3:12: preempt = false does not fit protocol = \"lfa\", whose leader gives way to the preferred node at once: say preempt = true, or take \"fjr\"",
    ),
    (
        "node = 1",
        "node = 1\nprotocol = \"fb-omega\"",
        "agent.toml:3:12: preempt = false does not fit protocol = \"fb-omega\", whose leader gives way to the preferred node when its view changes next: say preempt = true, or take \"fjr\"",
    ),
    (
        "node = 1",
        "node = 1\nprotocol = \"invitation\"\npreempt = true",
        "agent.toml:4:11: preempt = true does not fit protocol = \"invitation\", whose leader does not give way: say preempt = false, or take \"fjr\"",
    ),
    (
        "node = 1",
        "node = 1\nprotocol = \"adft\"\npreempt = true\npriority = 2",
        "agent.toml:5:12: priority (2) needs protocol = \"fjr\": with \"adft\" only the ids say who is preferred",
    ),
    (
        "node = 1",
        "node = 1\npreempt_delay = \"1s\"",
        "agent.toml:3:17: preempt_delay has no meaning with preempt = false: say preempt = true",
    ),
    (
        "node = 1",
        "node = 1\nmin_peers = 1",
        "agent.toml:3:13: min_peers (1) must be at most 0, the number of other [[peer]]s",
    ),
    (
        "node = 1",
        "node = 1\nmin_peers = -1",
        "agent.toml:3:13: `min_peers`: found -1, expected a whole number from 0 to 1000",
    ),
];

/// The path counts, not what was written: it may be relative to a long directory.
#[test]
fn a_socket_with_a_path_that_is_too_long_cannot_be() {
    let long = format!("/run/{}.sock", "x".repeat(120));
    let text = LEAST.replace("[tls]", &format!("[listen]\nsocket = \"{long}\"\n[tls]"));
    let problems = Place::with(text).problems(&Overrides::default(), &[]);
    assert_eq!(
        problems,
        [format!(
            "agent.toml:5:10: listen.socket ({long}) has 130 bytes, and the path of a socket has at most 107"
        )]
    );
    let flags = Overrides { listen_socket: Some(long.clone()), ..Overrides::default() };
    let problems = Place::with(LEAST).problems(&flags, &[]);
    assert!(
        problems[0].starts_with(&format!("--listen-socket: listen.socket ({long}) has 130 bytes")),
        "{problems:?}"
    );
    let place =
        Place::with(LEAST.replace("[tls]", &format!("[listen]\nsocket = \"{}\"\n[tls]", "y".repeat(107))));
    assert!(place.problems(&Overrides::default(), &[])[0].contains("has at most"), "it is in a directory");
}

/// However it is given, and whatever is wrong with it.
#[test]
fn a_secret_is_not_repeated() {
    for lines in [
        "[api]\ntoken = hush-hush\n",
        "[api]\ntoken = hush-hush # a note\n",
        "[api]\ntoken = 'hush-hush\n",
        "[api]\ntoken = \"hush-hush\n",
        "[api]\ntoken = \"hush-hush \"\n",
        "[api]\ntoken = [\"hush-hush\"]\n",
        "[api]\ntoken.x = \"hush-hush\"\n",
        "[api]\ntoken = hush-hush\ntoken = hush-hush\n",
        "[api]\ntokn = \"hush-hush\"\n",
        "api = \"hush-hush\"\n",
        "api = hush-hush\n",
        "api.token = hush-hush\n",
    ] {
        let problems = Place::with(format!("{lines}{LEAST}")).problems(&Overrides::default(), &[]);
        assert!(problems.iter().all(|problem| !problem.contains("hush")), "{lines}: {problems:?}");
    }
    let place = Place::with(LEAST);
    for variable in ["BELLWETHER_API_TOKEN", "BELLWETHER_API_TOKN"] {
        let problems = place.problems(&Overrides::default(), &[(variable, "hush hush")]);
        assert!(problems.iter().all(|problem| !problem.contains("hush")), "{problems:?}");
    }
}

#[test]
fn a_name_of_a_host_has_no_port() {
    let said = "`api.hosts`: found \"x:80\" in the list, expected a list of names without ports such as [\"node-1.example\"]";
    let place = Place::with(format!("{LEAST}[api]\nhosts = [\"x\", \"x:80\"]\n"));
    assert_eq!(place.problems(&Overrides::default(), &[]), [format!("agent.toml:12:9: {said}")]);
}

#[test]
fn a_bad_file_is_located_and_explained() {
    for (replaced, by, said) in BAD {
        assert!(LEAST.contains(replaced), "{replaced}");
        let place = Place::with(LEAST.replacen(replaced, by, 1));
        assert_eq!(place.problems(&Overrides::default(), &[]), [*said], "{by}");
        assert_eq!(place.load(&Overrides::default(), &[]).unwrap_err().status(), Status::BadInput);
    }
}

#[test]
fn an_algorithm_for_the_laboratory_is_refused_with_the_reason() {
    let place = Place::with(LEAST.replace("node = 1", "node = 1\nprotocol = \"mmrt\""));
    let problems = place.problems(&Overrides::default(), &[]);
    let InAgent::No(reason) = Protocol::Mmrt.spec().in_agent else { panic!("it is not in the agent") };
    assert!(problems[0].contains(&format!("for the laboratory only: {reason}; expected ")), "{problems:?}");
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let text = LEAST.replace("node = 1", "node = 0\npriority = \"high\"") + "adress = 1";
    let problems = Place::with(text).problems(&Overrides::default(), &[]);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    let text = LEAST.replace("node = 1", "node = 2\npreempt_delay = \"1s\"") + "[timing]\ntimeout = \"1ms\"";
    let problems = Place::with(text).problems(&Overrides::default(), &[]);
    assert_eq!(problems.len(), 3, "{problems:#?}");
}

#[test]
fn variables_and_flags_are_named() {
    let place = Place::with(LEAST);
    let node = Overrides { node: Some("-1".to_owned()), ..Overrides::default() };
    let none = Overrides::default();
    let said = |flags, variables| place.problems(flags, variables).remove(0);
    assert_eq!(said(&node, &[]), "--node: found \"-1\", expected a whole number from 1 to 4294967295");
    assert_eq!(
        said(&none, &[("BELLWETHER_TIMING_HEARTBEAT", "fast")]),
        "environment variable BELLWETHER_TIMING_HEARTBEAT: found \"fast\", expected a time with a unit (us, ms, s, m, h) such as \"10ms\""
    );
    assert_eq!(
        said(&none, &[("BELLWETHER_HEARTBEAT", "20ms")]),
        "environment variable BELLWETHER_HEARTBEAT: there is no such setting; the nearest is BELLWETHER_TIMING_HEARTBEAT"
    );
    assert_eq!(
        said(&none, &[("BELLWETHER_TIMING_TIMEOUT", "60ms")]),
        "environment variable BELLWETHER_TIMING_TIMEOUT: timing.timeout (60ms) must be at least three times timing.heartbeat (50ms): otherwise one late heartbeat unseats a leader that works"
    );
}

#[test]
fn discovery_is_for_those_that_can_meet_strangers() {
    let without_peers = LEAST.split("[[peer]]").next().unwrap();
    let text = without_peers.replace("node = 1", "node = 1\nprotocol = \"lfa\"\npreempt = true");
    let problems =
        Place::with(format!("{text}[discovery]\ndns = [\"x\"]")).problems(&Overrides::default(), &[]);
    assert_eq!(
        problems,
        [
            "agent.toml:11:7: [discovery] needs protocol = \"fjr\": with \"lfa\" every node must know all members beforehand, list them as [[peer]]"
        ]
    );
}

/// Views name their members in so many bits.
#[test]
fn views_of_more_than_128_members_cannot_be() {
    let text =
        LEAST.replace("node = 1", "node = 1\nprotocol = \"fb-omega\"\npreempt = true\nmode = \"majority\"");
    let peer = |id: u32| format!("[[peer]]\nid = {id}\naddress = \"10.0.1.{id}\"\n");
    let with = |last| Place::with((2..=last).map(peer).fold(text.clone(), |text, peer| text + &peer));
    assert_eq!(
        with(128).load(&Overrides::default(), &[]).map(|_| ()).map_err(|error| error.to_string()),
        Ok(())
    );
    let problems = with(129).problems(&Overrides::default(), &[]);
    assert_eq!(problems, ["agent.toml:3:12: found 129 [[peer]]s, fb-omega takes at most 128"]);
}

#[test]
fn what_cannot_be_read_is_another_matter() {
    let place = Place::with(LEAST);
    fs::remove_file(place.path().join("key.pem")).unwrap();
    let error = place.load(&Overrides::default(), &[]).unwrap_err();
    assert_eq!(error.status(), Status::Failed);
    assert!(error.to_string().contains("key.pem"), "{error}");
    fs::write(place.path().join("key.pem"), "no key").unwrap();
    assert_eq!(place.load(&Overrides::default(), &[]).unwrap_err().status(), Status::BadInput);
    let missing = AgentConfig::load(Path::new("no/such.toml"), &Overrides::default(), &environment(&[]));
    let error = missing.unwrap_err();
    assert_eq!(error.to_string(), "no/such.toml: there is no such file, expected a configuration");
    assert_eq!(error.status(), Status::BadInput);
    let problems = Place::with(b"cluster = \"demo\"\n\xff").problems(&Overrides::default(), &[]);
    assert_eq!(problems, ["agent.toml:2: found the byte 0xff, expected text in UTF-8"]);
}
