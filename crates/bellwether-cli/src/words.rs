//! Numbers in sentences.

/// `1 row`, `2 rows`.
pub(crate) fn counted(count: impl Into<u64>, one: &str) -> String {
    let count = count.into();
    format!("{count} {}", plural(count, one))
}

/// `row` for one, `rows` for any other number.
pub(crate) fn plural(count: u64, one: &str) -> String {
    format!("{one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let told = [0_u32, 1, 2].map(|count| counted(count, "row"));
        assert_eq!(told, ["0 rows", "1 row", "2 rows"]);
    }
}
