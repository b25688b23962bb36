//! Small stores that refuse old tokens, as the guide shows them.

use super::python::run;

/// PostgreSQL is left out where it is not installed, unless `BELLWETHER_REQUIRE_ENGINES=1`: `make postgres` installs it.
#[test]
fn fences_refuse_old_tokens() {
    let required = std::env::var("BELLWETHER_REQUIRE_ENGINES");
    let required: Vec<_> =
        required.iter().map(|value| ("BELLWETHER_REQUIRE_ENGINES", value.as_str())).collect();
    run("clients/fences", "test_*.py", &required);
}
