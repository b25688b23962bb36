//! `arbiter init`: the schema for PostgreSQL.

use crate::harness::bellwether;

#[test]
fn the_schema_is_printed_for_psql() {
    let schema = bellwether(&["arbiter", "init"]).done();
    assert!(schema.starts_with("BEGIN;\n") && schema.ends_with("COMMIT;\n"));
    assert!(schema.contains("CREATE SCHEMA IF NOT EXISTS bellwether;"));
}

#[test]
fn what_cannot_be_a_database_and_what_is_none_differ() {
    let odd = bellwether(&["arbiter", "init", "--url", "odd"]);
    assert_eq!(odd.code, 2, "{}", odd.err);
    assert!(odd.err.contains("url: found"), "{}", odd.err);
    let nobody = bellwether(&["arbiter", "init", "--url", "postgres://somebody@127.0.0.1:1/postgres"]);
    assert_eq!(nobody.code, 3, "{}", nobody.err);
    assert!(nobody.err.contains("no PostgreSQL answers at 127.0.0.1:1"), "{}", nobody.err);
    let ca = ["arbiter", "init", "--url", "postgres://somebody@127.0.0.1:1/postgres", "--ca", "no-such-file"];
    let file = bellwether(&ca);
    assert_eq!(file.code, 2, "{}", file.err);
    assert!(file.err.contains("no-such-file"), "{}", file.err);
}
