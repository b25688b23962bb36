//! Defaults, and which layer overrides which.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn what_is_left_out_has_a_default() {
    let place = Place::with(LEAST);
    let AgentConfig { member, api, log, .. } = place.load(&Overrides::default(), &[]).unwrap();
    assert_eq!((member.cluster.as_str(), member.id, member.protocol), ("demo", NodeId(1), Protocol::Fjr));
    assert_eq!(member.data_dir, place.path().join("data"));
    assert_eq!((member.heartbeat, member.timeout), (Config::HEARTBEAT, Config::TIMEOUT));
    assert_eq!((member.resign_hold, member.release_timeout), (Config::RESIGN_HOLD, Config::RELEASE_TIMEOUT));
    assert_eq!((member.priority, member.preempt, member.min_peers, member.trace), (0, None, None, None));
    assert_eq!(member.listen.to_string(), "0.0.0.0:3170");
    assert_eq!(member.identity.cert, fs::read_to_string(place.path().join("cert.pem")).unwrap());
    assert_eq!((api.listen.to_string().as_str(), api.token), ("127.0.0.1:3171", None));
    assert!(api.hosts.is_empty() && api.socket.is_none());
    assert_eq!(log, LogConfig { format: LogFormat::Text, level: "info".to_owned() });
}

#[test]
fn flags_count_more_than_variables_and_those_more_than_the_file() {
    let text = LEAST.replace("node = 1", "node = 7\npriority = 1\nprotocol = \"lfa\"")
        + "[log]\nlevel = \"warn\"\nformat = \"json\"";
    let place = Place::with(text);
    let flags = Overrides {
        node: Some("1".to_owned()),
        protocol: Some("fjr".to_owned()),
        data_dir: Some("elsewhere".to_owned()),
        listen_api: Some("127.0.0.1:0".to_owned()),
        log_level: Some("debug".to_owned()),
        ..Overrides::default()
    };
    let variables = [
        ("BELLWETHER_NODE", "5"),
        ("BELLWETHER_PRIORITY", "9"),
        ("BELLWETHER_PREEMPT", "true"),
        ("BELLWETHER_PREEMPT_DELAY", "2s"),
        ("BELLWETHER_TIMING_HEARTBEAT", "20ms"),
        ("BELLWETHER_LOG_LEVEL", "trace"),
        ("BELLWETHER_LOG_TRACE", "run-{node}.jsonl"),
        ("BELLWETHER_API_TOKEN", "0123456789abcdef"),
        ("BELLWETHER_API_HOSTS", "a.example, b"),
        ("BELLWETHER_TOKEN", "for a client"),
        ("HOME", "no business of ours"),
    ];
    let AgentConfig { member, api, log, .. } = place.load(&flags, &variables).unwrap();
    assert_eq!((member.id, member.protocol, member.priority), (NodeId(1), Protocol::Fjr, 9));
    assert_eq!(member.preempt, Some(Duration::from_secs(2)));
    assert_eq!((member.heartbeat, member.timeout), (Duration::from_millis(20), Config::TIMEOUT));
    assert_eq!(member.data_dir, Path::new("elsewhere"), "typed here, so relative to here");
    assert_eq!(member.trace.as_deref(), Some(Path::new("run-1.jsonl")));
    assert_eq!((api.listen.port(), api.token.as_deref()), (0, Some("0123456789abcdef")));
    assert_eq!(api.hosts, ["a.example", "b"]);
    assert_eq!(log, LogConfig { format: LogFormat::Json, level: "debug".to_owned() });
}

#[test]
fn a_socket_is_named_after_the_node_and_for_its_group() {
    let place = Place::with(LEAST.replace("[tls]", "[listen]\nsocket = \"{node}.sock\"\n[tls]"));
    let socket = |flags: &Overrides, variables: &[(&str, &str)]| {
        let socket = place.load(flags, variables).unwrap().api.socket.expect("there is one");
        (socket.path, socket.mode)
    };
    let none = Overrides::default();
    assert_eq!(socket(&none, &[]), (place.path().join("1.sock"), 0o660));
    let variables =
        [("BELLWETHER_LISTEN_SOCKET", "/run/{node}.sock"), ("BELLWETHER_LISTEN_SOCKET_MODE", "600")];
    assert_eq!(socket(&none, &variables), ("/run/1.sock".into(), 0o600));
    let flags = Overrides { listen_socket: Some("here.sock".to_owned()), ..none };
    assert_eq!(
        socket(&flags, &variables),
        ("here.sock".into(), 0o600),
        "a variable is for clients, another for agents"
    );
    assert!(place.load(&flags, &[("BELLWETHER_SOCKET", "x")]).is_ok());
}

#[test]
fn a_node_listens_at_the_port_of_its_own_address() {
    let place = Place::with(LEAST.replace("10.0.0.1", "10.0.0.1:4000"));
    assert_eq!(place.load(&Overrides::default(), &[]).unwrap().member.listen.to_string(), "0.0.0.0:4000");
}

#[test]
fn protocols_that_follow_the_ids_preempt_by_themselves() {
    let place = Place::with(LEAST.replace("node = 1", "node = 1\nprotocol = \"lfa\"\npreempt = true"));
    assert_eq!(place.load(&Overrides::default(), &[]).unwrap().member.preempt, None);
}

#[test]
fn members_may_be_discovered() {
    let without_peers = LEAST.split("[[peer]]").next().unwrap();
    let place =
        Place::with(format!("{without_peers}[discovery]\ndns = [\"one.example\", \"two.example:9\"]"));
    let named = |names: [&str; 2]| Peers::Named(names.map(str::to_owned).into());
    let peers = |variables| place.load(&Overrides::default(), variables).unwrap().member.peers;
    assert_eq!(peers(&[]), named(["one.example:3170", "two.example:9"]));
    assert_eq!(peers(&[("BELLWETHER_DISCOVERY_DNS", "a, b:1")]), named(["a:3170", "b:1"]));
}

#[test]
fn a_token_may_be_in_a_file() {
    let place = Place::with(format!("{LEAST}[api]\ntoken_file = \"token\""));
    fs::write(place.path().join("token"), "secret-secret-secret\n").unwrap();
    let token = |variables| place.load(&Overrides::default(), variables).unwrap().api.token;
    assert_eq!(token(&[]).as_deref(), Some("secret-secret-secret"));
    let other = "other-other-other";
    assert_eq!(token(&[("BELLWETHER_API_TOKEN", other)]).as_deref(), Some(other));
    let shown = format!("{:?}", place.load(&Overrides::default(), &[]).unwrap());
    assert!(!shown.contains("secret-secret"), "{shown}");
    fs::write(place.path().join("token"), "short").unwrap();
    let cautions = place.load(&Overrides::default(), &[]).unwrap().cautions;
    assert!(cautions.iter().any(|caution| caution.contains("has 5 characters")), "{cautions:?}");
    assert!(!cautions.iter().any(|caution| caution.contains("short")), "{cautions:?}");
}

/// What is allowed and unwise. None of it keeps an agent from starting: a container may have to do all of it.
#[test]
fn what_is_unwise_is_said() {
    let place =
        Place::with(format!("{LEAST}[api]\ntoken = \"0123456789abcdef\"\n[listen]\napi = \"0.0.0.0:3171\""));
    let mode = |file: &str, mode| {
        fs::set_permissions(place.path().join(file), fs::Permissions::from_mode(mode)).unwrap();
    };
    let said = || place.load(&Overrides::default(), &[]).unwrap().cautions;
    mode("agent.toml", 0o644);
    mode("key.pem", 0o604);
    let all = said();
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[0].contains("key.pem") && all[0].contains("0604"), "{all:?}");
    assert!(all[1].contains("agent.toml") && !all[1].contains("0123456789abcdef"), "{all:?}");
    assert!(all[2].contains("0.0.0.0:3171") && all[2].contains("token"), "{all:?}");
    mode("agent.toml", 0o640);
    mode("key.pem", 0o600);
    assert_eq!(said().len(), 1);
    let local = Overrides { listen_api: Some("127.0.0.1:0".to_owned()), ..Overrides::default() };
    assert!(place.load(&local, &[]).unwrap().cautions.is_empty());
}

#[test]
fn the_documented_file_is_valid() {
    let place = Place::with(include_str!("../../../../../../docs/reference/agent.toml"));
    fs::create_dir(place.path().join("tls")).unwrap();
    place.certify(NodeId(3), ["tls/ca.pem", "tls/node-3.pem", "tls/node-3.key"]);
    fs::write(place.path().join("token"), "0123456789abcdef").unwrap();
    let flags = Overrides { node: Some("3".to_owned()), ..Overrides::default() };
    let AgentConfig { member, api, .. } = place.load(&flags, &[]).unwrap();
    assert_eq!((member.id, member.data_dir), (NodeId(3), place.path().join("data/3")));
    assert_eq!(
        (member.preempt, api.token.as_deref()),
        (Some(Duration::from_secs(10)), Some("0123456789abcdef"))
    );
    let Peers::Listed(peers) = member.peers else { panic!("they are listed") };
    let addresses: Vec<_> = peers.values().map(String::as_str).collect();
    assert_eq!(addresses, ["10.0.0.1:3170", "10.0.0.2:3170", "node-3.example:3170"]);
}

#[test]
fn every_key_is_in_the_documented_file() {
    let text = include_str!("../../../../../../docs/reference/agent.toml");
    for key in keys::KEYS {
        let word = key.rsplit('.').next().unwrap();
        assert!(text.contains(word), "{key}");
    }
}

#[test]
fn a_cluster_is_known_without_node_and_certificates() {
    let place = Place::with(LEAST.replace("node = 1\n", ""));
    let file = place.path().join("agent.toml");
    fs::remove_file(place.path().join("ca.pem")).unwrap();
    let expected = ClusterFile {
        cluster: "demo".to_owned(),
        nodes: Some(vec![NodeId(1)]),
        ca: place.path().join("ca.pem"),
    };
    assert_eq!(ClusterFile::load(&file, &environment(&[])).unwrap(), expected);
}
