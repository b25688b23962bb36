//! Files that are not scenarios, and what their authors are told.

use super::{LEAST, Scenario};

/// What follows the three lines of the smallest file; the line to blame; what is said about it.
const BAD: &[(&str, usize, &str)] = &[
    ("mode = \"majority\"", 4, "unknown mode `majority`, expected `exclusive`"),
    ("mode = \"exclusive\"", 4, "`mode` needs `agent = true` beside it"),
    ("[exclusive]\nttl = \"1s\"", 5, "`[exclusive]` needs `mode = \"exclusive\"` at the top"),
    (
        "agent = true\nmode = \"exclusive\"\n[exclusive]\nttl = \"0s\"",
        7,
        "`ttl` is zero, expected a longer time such as \"10ms\"",
    ),
    (
        "agent = true\nmode = \"exclusive\"\n[exclusive]\ndrift_ppm = 500000",
        7,
        "`drift_ppm` is 500000, expected a whole number from 0 to 499999",
    ),
    (
        "agent = true\nmode = \"exclusive\"\n[exclusive]\nvoters = [1, 2]",
        7,
        "2 nodes vote, expected an odd number of at most 9: name them in `voters`",
    ),
    (
        "agent = true\nmode = \"exclusive\"\n[exclusive]\nkind = \"lock\"",
        7,
        "unknown kind `lock`, expected `lease` or `token`",
    ),
    ("nodez = 6", 4, "unknown key `nodez`, did you mean `nodes`?"),
    ("nodes = 6", 4, "the key `nodes` stands here for the second time, expected it once"),
    ("name = 6", 4, "found integer `6`, expected a string"),
    ("variant = \"fixed\"", 4, "unknown variant `fixed`, expected `repaired` or `printed`"),
    ("seed = -1", 4, "`seed` is -1, expected a whole number from 0 to 18446744073709551615"),
    (
        "seed = 18446744073709551616",
        4,
        "`seed` is 18446744073709551616, expected a whole number from 0 to 18446744073709551615",
    ),
    ("seed = 1.0", 4, "found floating point `1.0`, expected a whole number"),
    ("seed =", 4, "found no value, expected one after `=`"),
    ("seed 1", 4, "key with no value, expected `=`"),
    ("name = \"half", 4, "invalid basic string, expected `\"`"),
    ("name = six", 4, "found something without quotes, expected a string in quotes, a number, true or false"),
    ("network = 5", 4, "found integer `5`, expected one table [network]"),
    ("[[network]]\nloss = 0.1", 4, "found a list, expected one table [network]"),
    (
        "[network]\nlatency = 5",
        5,
        "found integer `5`, expected a time with a unit such as \"10ms\", or the shortest and the longest: [\"1ms\", \"5ms\"]",
    ),
    (
        "[network]\nlatency = \"5\"",
        5,
        "found \"5\", expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    (
        "[network]\nlatency = \"-5ms\"",
        5,
        "found \"-5ms\", expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    ("[network]\nlatency = \"0.5us\"", 5, "found \"0.5us\", expected a whole number of microseconds"),
    ("[network]\nlatency = \"9999999h\"", 5, "found \"9999999h\", expected a time of at most \"1000000h\""),
    (
        "[network]\nlatency = [\"5ms\", \"1ms\"]",
        5,
        "the range from 5ms to 1ms is upside down, expected [shortest, longest]",
    ),
    ("[network]\nlatency = [\"5ms\"]", 5, "found a list of 1, expected two times: [shortest, longest]"),
    (
        "[network]\nlatency = [1, 5]",
        5,
        "found integer `1`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    ("[network]\nloss = 1.5", 5, "found 1.5, expected a probability from 0 to 1"),
    ("[network]\nloss = -1", 5, "found -1, expected a probability from 0 to 1"),
    ("[network]\nduplicate = nan", 5, "found NaN, expected a probability from 0 to 1"),
    ("[network]\nduplicate = \"10%\"", 5, "found string \"10%\", expected a probability from 0 to 1"),
    ("[network]\nfifo = 1", 5, "found integer `1`, expected true or false"),
    (
        "[network]\nlag = 1",
        5,
        "unknown key `lag`, expected one of `latency`, `loss`, `duplicate`, `fifo`, `resend`, `link`, `model`",
    ),
    ("[network.link]\nfrom = 1\nto = 2", 4, "found a table, expected tables headed [[network.link]]"),
    ("[[network.link]]\nfrom = 1", 4, "missing key `to`"),
    ("[[network.link]]\nfrom = 1\nto = 1", 6, "a link from node 1 to itself, expected two different nodes"),
    ("[[network.link]]\nfrom = 1\nto = 7", 6, "there is no node 7, expected one from 1 to 6"),
    (
        "[[network.link]]\nfrom = 1\nto = 2\n[[network.link]]\nfrom = 1\nto = 2",
        7,
        "a second rule for the link from 1 to 2, expected one for each direction",
    ),
    ("[network]\nmodel = \"gst\"", 5, "found string \"gst\", expected one table [network.model]"),
    ("[[network.model]]\nkind = \"gst\"", 4, "found a list, expected one table [network.model]"),
    ("[network.model]\ngst = \"1s\"", 4, "missing key `kind`"),
    (
        "[network.model]\nkind = \"omega\"",
        5,
        "unknown model `omega`, expected `synchronous`, `gst`, `t-source`, `t-accessible`, `t-moving-source`, `mp`, \
         `combined`, `kcs` or `adversary`",
    ),
    (
        "[network.model]\nkind = \"gst\"\nsource = 2",
        6,
        "`source` means nothing to a model of kind gst, expected besides `kind` only `gst`, `delta`",
    ),
    (
        "[network.model]\nkind = \"synchronous\"\ngst = \"1s\"",
        6,
        "`gst` means nothing to a model of kind synchronous, expected besides `kind` only `delta`",
    ),
    (
        "[network.model]\ndelta = \"1s\"\nkind = \"adversary\"",
        5,
        "`delta` means nothing to a model of kind adversary, expected no key but `kind`",
    ),
    ("[network.model]\nkind = \"kcs\"\nt = 1", 6, "`t` means nothing to a model of kind kcs, expected"),
    ("[network.model]\nkind = \"mp\"\nloss = 0.1", 6, "`loss` means nothing to a model of kind mp"),
    ("[network.model]\nkind = \"t-source\"\nsource = 9", 6, "there is no node 9, expected one from 1 to 6"),
    ("[network.model]\nkind = \"t-source\"\nt = 0", 6, "`t` is 0, expected a whole number from 1 to 5"),
    ("[network.model]\nkind = \"t-source\"\nt = 6", 6, "`t` is 6, expected a whole number from 1 to 5"),
    (
        "[network.model]\nkind = \"mp\"\nt = 5",
        6,
        "`t` is 5, expected a whole number from 1 to 4: with more, only a process's own response wins",
    ),
    (
        "[parameters]\nt = 5\n[network.model]\nkind = \"combined\"",
        7,
        "`t`, taken from [parameters], is 5, expected a whole number from 1 to 4: with more, only a process's own response wins",
    ),
    (
        "[network.model]\nkind = \"gst\"\ngst = \"30s\"",
        6,
        "`gst` is 30s, at or after `until`, expected a time before 30s",
    ),
    (
        "[network]\nlatency = \"2ms\"\n[network.model]\nkind = \"gst\"\ndelta = \"1ms\"",
        8,
        "`delta` is 1ms, shorter than the shortest `latency`, expected at least 2ms",
    ),
    (
        "[network.model]\nkind = \"t-accessible\"\ndelta = \"1ms\"",
        6,
        "`delta` is 1ms, shorter than a round trip, expected at least 2ms",
    ),
    (
        "[network.model]\nkind = \"kcs\"\nloss = 1",
        6,
        "`loss` is 1, expected a probability from 0 to less than 1: a fair link lets something through",
    ),
    ("[timing]\ndelta = \"0s\"", 5, "`delta` is zero, expected a longer time such as \"10ms\""),
    (
        "[timing]\ntau = 100",
        5,
        "found integer `100`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    ("[timing]\nalpha = \"1s\"", 5, "unknown key `alpha`, expected one of `delta`, `tau`, `step`"),
    ("[detector]\nkind = \"psychic\"", 5, "unknown detector `psychic`, expected"),
    ("[detector]\nperiod = \"0ms\"", 5, "`period` is zero, expected a longer time such as \"10ms\""),
    ("[detector]\nk = 0", 5, "`k` is 0, expected a whole number from 1 to 4000"),
    ("[detector]\nkind = \"cooperative\"\nk = 6", 6, "`k` is 6, expected a whole number from 1 to 5"),
    ("[parameters]\nt = 6", 5, "`t` is 6, expected a whole number from 0 to 5"),
    ("[parameters]\nt = -1", 5, "`t` is -1, expected a whole number from 0 to 5"),
    ("[parameters]\ncandidates = []", 5, "found an empty list, expected at least one node"),
    ("[parameters]\ncandidates = [2, 2]", 5, "node 2 is a candidate twice, expected it once"),
    ("[parameters]\ncandidates = 2", 5, "found integer `2`, expected a list of nodes such as [1, 2]"),
    ("[parameters]\nprimary = \"most\"", 5, "unknown rule `most`, expected `majority` or `none`"),
    ("[parameters]\nu = 6", 5, "unknown key `u`, expected one of `t`, `candidates`, `primary`"),
    ("[clock]\ndrift_ppm = { 7 = 200 }", 5, "there is no node 7, expected one from 1 to 6"),
    ("[clock]\ndrift_ppm = { 02 = 200 }", 5, "there is no node 02, expected one from 1 to 6"),
    (
        "[clock]\ndrift_ppm = { 2 = 100001 }",
        5,
        "`drift_ppm` is 100001, expected a whole number from -100000 to 100000",
    ),
    (
        "[clock]\ndrift_ppm = 200",
        5,
        "found integer `200`, expected a table with a number for each node such as { 1 = 2, 3 = 2 }",
    ),
    ("[event]\nat = \"1s\"\ncrash = [1]", 4, "found a table, expected tables headed [[event]]"),
    ("[[event]]\ncrash = [1]", 4, "missing key `at`"),
    ("[[event]]\nat = \"1s\"", 4, "an event in which nothing happens, expected"),
    (
        "[[event]]\nat = \"1s\"\nheal = true\ncrash = [1]",
        7,
        "`crash` in an event that has `heal`, expected one action in each [[event]]",
    ),
    (
        "[[event]]\nat = \"30s\"\nheal = true",
        5,
        "an event at 30s, at or after `until`, expected a time before 30s",
    ),
    (
        "[[event]]\nat = 1\nheal = true",
        5,
        "found integer `1`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    ("[[event]]\nat = \"1s\"\nkill = [1]", 6, "unknown key `kill`, expected"),
    ("[[event]]\nat = \"1s\"\nheal = false", 6, "`heal = false` does nothing, expected `heal = true`"),
    ("[[event]]\nat = \"1s\"\ncrash = 1", 6, "found integer `1`, expected a list of nodes such as [1, 2]"),
    ("[[event]]\nat = \"1s\"\ncrash = []", 6, "found an empty list, expected at least one node"),
    ("[[event]]\nat = \"1s\"\ncrash = [0]", 6, "there is no node 0, expected one from 1 to 6"),
    ("[[event]]\nat = \"1s\"\ncrash = [\n  1,\n  7,\n]", 8, "there is no node 7, expected one from 1 to 6"),
    ("[[event]]\nat = \"1s\"\ncrash = [\"one\"]", 6, "found string \"one\", expected a whole number"),
    ("[[event]]\nat = \"1s\"\ncut = [1, 2]", 6, "found integer `1`, expected a list of nodes such as [1, 2]"),
    ("[[event]]\nat = \"1s\"\ncut = []", 6, "found an empty list, expected at least one pair of nodes"),
    (
        "[[event]]\nat = \"1s\"\ncut = [[1, 2, 3]]",
        6,
        "found a list of 3, expected a pair of nodes such as [1, 2]",
    ),
    (
        "[[event]]\nat = \"1s\"\ncut_one_way = [[2, 2]]",
        6,
        "a link from node 2 to itself, expected two different nodes",
    ),
    (
        "[[event]]\nat = \"1s\"\npartition = []",
        6,
        "found an empty list, expected at least one block of nodes",
    ),
    ("[[event]]\nat = \"1s\"\npartition = [[1], []]", 6, "found an empty list, expected at least one node"),
    (
        "[[event]]\nat = \"1s\"\npartition = [[1, 2],\n [2]]",
        7,
        "node 2 is in the partition twice, expected each node in one block",
    ),
    (
        "[[event]]\nat = \"1s\"\nslow = [1, 2, \"2s\"]",
        6,
        "found a list, expected a table such as { from = 1, to = 2, latency = \"2s\" }",
    ),
    ("[[event]]\nat = \"1s\"\nslow = { from = 1, to = 2 }", 6, "missing key `latency`"),
    (
        "[[event]]\nat = \"1s\"\ndrop_next = { from = 1, to = 2, kind = \"Hlt\" }",
        6,
        "unknown kind of message `Hlt`, did you mean `Halt`?",
    ),
    (
        "[[event]]\nat = \"1s\"\nmessage = { from = 1, to = 2, kind = \"Halt\" }",
        6,
        "a message to which nothing happens, expected one of `drop`, `delay` or `duplicate`",
    ),
    (
        "[[event]]\nat = \"1s\"\nmessage = { from = 1, to = 2, kind = \"Halt\", drop = true, delay = \"1s\" }",
        6,
        "a message to which several things happen, expected one of `drop`, `delay` or `duplicate`",
    ),
    (
        "[[event]]\nat = \"1s\"\nmessage = { from = 1, to = 2, kind = \"Halt\", drop = false }",
        6,
        "`drop = false` does nothing, expected `drop = true`",
    ),
    (
        "[[event]]\nat = \"1s\"\nmessage = { from = 1, to = 2, kind = \"Halt\", nth = 0, drop = true }",
        6,
        "`nth` is 0, expected a whole number from 1 to 9223372036854775807",
    ),
    (
        "[[event]]\nat = \"1s\"\ncrash_before_send = { node = 9, kind = \"Halt\" }",
        6,
        "there is no node 9, expected one from 1 to 6",
    ),
    (
        "[[event]]\nat = \"1s\"\nperform = { node = 1, op = 7 }",
        6,
        "async-bully forms no groups that perform operations, expected an algorithm that does",
    ),
    ("[[event]]\nat = \"1s\"\nperform = { node = 1 }", 6, "missing key `op`"),
    (
        "[[event]]\nat = \"1s\"\nnetwork = {}",
        6,
        "a change of the network that changes nothing, expected `latency`, `loss`, `duplicate` or `fifo`",
    ),
    ("[[event]]\nat = \"1s\"\nnetwork = { loss = 2 }", 6, "found 2, expected a probability from 0 to 1"),
    ("[expect]\nleader = { 1 = 7 }", 5, "there is no node 7, expected one from 1 to 6"),
    ("[expect]\nleader = { one = 1 }", 5, "there is no node one, expected one from 1 to 6"),
    ("[expect]\nepoch = { 7 = 1 }", 5, "there is no node 7, expected one from 1 to 6"),
    (
        "[expect]\nepoch = { 1 = 0 }",
        5,
        "`epoch` is 0, expected a whole number from 1 to 18446744073709551615",
    ),
    (
        "[expect]\nleader = 1",
        5,
        "found integer `1`, expected a table with a number for each node such as { 1 = 2, 3 = 2 }",
    ),
    ("[expect]\ngroup = { 7 = \"1.1.1\" }", 5, "there is no node 7, expected one from 1 to 6"),
    ("[expect]\ngroup = { 1 = \"1.1\" }", 5, "found the group \"1.1\", expected one such as \"2.1.4\""),
    ("[expect]\ngroup = { 1 = 11 }", 5, "found integer `11`, expected a string"),
    (
        "[expect]\ngroup = \"1.1.1\"",
        5,
        "found string \"1.1.1\", expected a table with a text for each such as { 1 = \"…\" }",
    ),
    (
        "[expect]\noutcome = { 7 = \"committed\" }",
        5,
        "no event asks for operation 7, expected an event with `perform`",
    ),
    ("[expect]\nholds = [\"ALE3\"]", 5, "unknown property `ALE3`, expected"),
    ("[expect]\nholds = \"ALE1\"", 5, "found string \"ALE1\", expected a list of names such as [\"ALE1\"]"),
    (
        "[expect]\nholds = [\"ALE1\"]\nviolates = [\"ALE2\", \"ALE1\"]",
        6,
        "`ALE1` is in `holds` as well, expected it in one of them",
    ),
    ("[expect]\nmessages = { halt = 4 }", 5, "unknown kind of message `halt`, did you mean `Halt`?"),
    (
        "[expect]\nmessages = { Halt = \"few\" }",
        5,
        "found \"few\", expected a bound such as \"<= 40\": one of <, <=, =, ==, >=, > and a whole number",
    ),
    (
        "[expect]\nmessages = { Halt = \"=> 4\" }",
        5,
        "found \"=> 4\", expected a bound such as \"<= 40\": one of <, <=, =, ==, >=, > and a whole number",
    ),
    (
        "[expect]\nmessages = { Halt = -4 }",
        5,
        "found -4, expected a bound such as \"<= 40\": one of <, <=, =, ==, >=, > and a whole number",
    ),
    ("[expect]\nleaders = {}", 5, "unknown key `leaders`, did you mean `leader`?"),
    ("[expect]\nholds = 2024-01-01", 5, "found a table, expected a list of names such as [\"ALE1\"]"),
];

/// Whole files.
const BAD_HEADS: &[(&str, usize, &str)] = &[
    ("", 1, "missing key `protocol`"),
    ("nodes = 3\nuntil = \"1s\"", 1, "missing key `protocol`"),
    ("protocol = \"async-bully\"\nuntil = \"1s\"", 1, "missing key `nodes`"),
    ("protocol = \"async-bully\"\nnodes = 3", 1, "missing key `until`"),
    ("protocol = \"paxos\"\nnodes = 3\nuntil = \"1s\"", 1, "unknown protocol `paxos`, expected"),
    (
        "protocol = \"async-bully\"\nnodes = 0\nuntil = \"1s\"",
        2,
        "`nodes` is 0, expected a whole number from 1 to 4000",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 10001\nuntil = \"1s\"",
        2,
        "`nodes` is 10001, expected a whole number from 1 to 4000",
    ),
    (
        "protocol = \"async-bully\"\nnodes = \"six\"\nuntil = \"1s\"",
        2,
        "found string \"six\", expected a whole number",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 3\nuntil = \"0s\"",
        3,
        "`until` is zero, expected a longer time such as \"10ms\"",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 3\nuntil = 30",
        3,
        "found integer `30`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 1\nuntil = \"1s\"\nevent = [{ at = \"0s\", crash = [2] }]",
        4,
        "there is no node 2, expected node 1, the only one",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 1\nuntil = \"1s\"\ndetector = { kind = \"cooperative\", k = 1 }",
        4,
        "a cluster of one node has no reporters, expected no `k`",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 1\nuntil = \"1s\"\nnetwork.model = { kind = \"t-source\" }",
        4,
        "too few nodes for a model of kind t-source, expected at least 2",
    ),
    (
        "protocol = \"async-bully\"\nnodes = 2\nuntil = \"1s\"\nnetwork.model.kind = \"mp\"",
        4,
        "too few nodes for a model of kind mp, expected at least 3",
    ),
    (
        "protocol = \"invitation\"\nnodes = 2\nuntil = \"1s\"\nexpect.outcome = { 07 = \"aborted\" }\n\
         event = [{ at = \"0s\", perform = { node = 1, op = 7 } }]",
        4,
        "no event asks for operation 07, expected `7`",
    ),
    (
        "protocol = \"invitation\"\nnodes = 2\nuntil = \"1s\"\nexpect.outcome = { 7 = \"abort\" }\n\
         event = [{ at = \"0s\", perform = { node = 1, op = 7 } }]",
        4,
        "unknown outcome `abort`, did you mean `aborted`?",
    ),
];

#[test]
fn bad_files_are_refused_with_the_line_and_the_reason() {
    for (rest, line, message) in BAD {
        refuse(&format!("{LEAST}{rest}"), *line, message);
    }
    for (text, line, message) in BAD_HEADS {
        refuse(text, *line, message);
    }
}

#[test]
fn an_error_is_one_line_that_editors_can_follow() {
    let error = Scenario::parse("scenarios/x.toml", &format!("{LEAST}  \u{e9} = 1")).expect_err("not a key");
    assert_eq!((error.line, error.column), (4, 3));
    let text = format!("{LEAST}[parameters]\n  nodez = 6");
    let error = Scenario::parse("scenarios/x.toml", &text).expect_err("not a key");
    assert_eq!(
        error.to_string(),
        "scenarios/x.toml:5:3: unknown key `nodez`, expected one of `t`, `candidates`, `primary`"
    );
}

fn refuse(text: &str, line: usize, message: &str) {
    let error = Scenario::parse("x.toml", text).expect_err(text);
    assert_eq!(error.line, line, "{error}\n{text}");
    assert!(error.message.contains(message), "{error}\nis not: {message}\n{text}");
}

/// Views name their members.
#[test]
fn a_cluster_that_is_too_large_for_views_is_refused() {
    let text = "protocol = \"fb-omega\"\nnodes = 129\nuntil = \"1s\"\n";
    let error = Scenario::parse("x.toml", text).unwrap_err();
    let said = "`nodes` is 129, expected at most 128 with fb-omega, whose views name their members";
    assert_eq!(error.to_string(), format!("x.toml:2:9: {said}"));
}

#[test]
fn a_run_that_is_too_long_is_refused() {
    let text = LEAST.replace("30s", "1000000h");
    refuse(&text, 3, "expected at most \"87600h\"");
}
