//! The object that `sim --json` prints: its fields and their types are a stable format.

use serde_json::{Value, json};

use crate::harness::{report, reports, scenarios};

const STATUSES: [&str; 6] = ["down", "election", "waiting", "reorganizing", "normal", "dead"];

#[test]
fn a_report_has_the_documented_fields_and_no_others() {
    let files = scenarios();
    let (_, reports) = reports(&files.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(reports.len(), files.len());
    for report in &reports {
        let mut expected = report_shape();
        if report["properties"] == json!([]) {
            expected["properties"] = json!([]); // Nothing was promised, and nothing named.
        }
        if report["operations"] == json!([]) {
            expected["operations"] = json!([]); // Nothing was asked for.
        }
        for operation in report["operations"].as_array().unwrap() {
            if operation["known_to"] == json!([]) {
                expected["operations"][0]["known_to"] = json!([]); // Nothing was committed.
            }
        }
        assert_eq!(shape(report), expected, "{}", report["scenario"]);
    }
}

#[test]
fn a_report_tells_each_node_at_the_end() {
    let (code, report) = report(&["scenarios/est11-serial-worst-case.toml"]);
    assert_eq!(code, 0);
    assert_eq!((&report["protocol"], &report["variant"]), (&json!("async-bully"), &json!("repaired")));
    assert_eq!((&report["nodes"], &report["ended_at_us"]), (&json!(5), &json!(20_000_000)));
    let nodes = report["final"].as_array().unwrap();
    assert_eq!(nodes[0], json!({"node": 1, "up": false, "status": "down", "leader": null, "group": null}));
    for (node, id) in nodes[1..].iter().zip(2..) {
        let group = node["group"].as_str().unwrap();
        assert_eq!(*node, json!({"node": id, "up": true, "status": "normal", "leader": 2, "group": group}));
        let parts: Vec<u64> = group.split('.').map(|part| part.parse().unwrap()).collect();
        assert!(matches!(parts[..], [2, 1, _]), "{group}");
    }
    let messages = &report["messages"];
    let count = |what: &str| messages[what].as_u64().unwrap();
    assert_eq!(count("protocol") + count("detector"), count("sent"));
    assert_eq!(
        messages["by_kind"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>(),
        count("sent")
    );
    assert_eq!(messages["by_kind"]["Halt"], 13);
}

#[test]
fn statuses_are_the_documented_words() {
    let files = scenarios();
    let (_, reports) = reports(&files.iter().map(String::as_str).collect::<Vec<_>>());
    for node in reports.iter().flat_map(|report| report["final"].as_array().unwrap()) {
        assert!(STATUSES.contains(&node["status"].as_str().unwrap()), "{node}");
        assert_eq!(node["up"], node["status"] != "down");
    }
}

#[test]
fn a_violation_is_told_where_a_property_is_broken() {
    let (code, report) = report(&["scenarios/est06a-lost-halt-printed.toml"]);
    assert_eq!(code, 0, "it is expected");
    for judged in report["properties"].as_array().unwrap() {
        assert_eq!(judged["holds"], judged["name"] != "ALE2'");
        assert_eq!(judged["violation"].is_null(), judged["holds"] == true);
    }
    assert_eq!(report["expectations"], json!([{"what": "violates", "met": true, "detail": null}]));
}

#[test]
fn protocols_are_one_object_per_line() {
    let out = crate::harness::bellwether(&["protocols", "--json"]).done();
    let names: Vec<_> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.contains(&"bully-fd".to_owned()) && names.contains(&"async-bully".to_owned()));
}

fn report_shape() -> Value {
    json!({
        "scenario": "string", "protocol": "string", "variant": "string", "nodes": "count", "seed": "count",
        "ended_at_us": "count",
        "final": [{"node": "count", "up": "bool", "status": "string", "leader": "?", "group": "?"}],
        "messages": {
            "sent": "count", "delivered": "count", "lost": "count", "protocol": "count", "detector": "count",
            "by_kind": "counts"
        },
        "operations": [{
            "op": "count", "outcome": "string", "group": "?", "known_to": ["count"],
            "answers": [{"t_us": "count", "node": "count", "answer": "string", "reason": "?"}]
        }],
        "leader_changes": "count",
        "properties": [{"name": "string", "holds": "bool", "violation": "?"}],
        "expectations": [{"what": "string", "met": "bool", "detail": "?"}],
        "trace_hash": "hash"
    })
}

/// A report with each value replaced by the name of its type. The items of a list must be alike.
fn shape(report: &Value) -> Value {
    let object = |object: &serde_json::Map<String, Value>| {
        object.iter().map(|(key, value)| (key.clone(), shape_of(key, value))).collect()
    };
    match report {
        Value::Object(fields) => Value::Object(object(fields)),
        Value::Array(items) if items.is_empty() => json!([]),
        Value::Array(items) => {
            let first = shape(&items[0]);
            assert!(items.iter().all(|item| shape(item) == first), "{report}");
            json!([first])
        }
        Value::Bool(_) => json!("bool"),
        Value::Number(number) if number.is_u64() => json!("count"),
        Value::String(_) => json!("string"),
        Value::Number(_) | Value::Null => panic!("not expected: {report}"),
    }
}

fn shape_of(key: &str, value: &Value) -> Value {
    match key {
        "by_kind" => {
            assert!(value.as_object().unwrap().values().all(Value::is_u64));
            json!("counts")
        }
        "trace_hash" => {
            let hash = value.as_str().unwrap();
            assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
            json!("hash")
        }
        "leader" => optional(value, Value::is_u64),
        "group" | "reason" | "violation" | "detail" => optional(value, Value::is_string),
        _ => shape(value),
    }
}

fn optional(value: &Value, is_right: fn(&Value) -> bool) -> Value {
    assert!(value.is_null() || is_right(value), "{value}");
    json!("?")
}
