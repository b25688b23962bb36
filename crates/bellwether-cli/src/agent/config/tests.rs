//! Files, variables and flags in; an agent or an explanation out.

mod bad;
mod hooks;
mod layered;

use std::fs;
use std::path::Path;

use bellwether::tls::{Authority, Validity};
use tempfile::TempDir;

use super::*;

/// The least that a file can say.
const LEAST: &str = r#"cluster = "demo"
node = 1
data_dir = "data"
[tls]
ca = "ca.pem"
cert = "cert.pem"
key = "key.pem"
[[peer]]
id = 1
address = "10.0.0.1"
"#;

/// A directory with a configuration and with certificates.
struct Place(TempDir);

impl Place {
    fn with(text: impl AsRef<[u8]>) -> Self {
        let dir = tempfile::tempdir().expect("there is room for a test");
        fs::write(dir.path().join("agent.toml"), text).unwrap();
        let place = Self(dir);
        place.certify(NodeId(1), ["ca.pem", "cert.pem", "key.pem"]);
        place
    }

    fn certify(&self, id: NodeId, files: [&str; 3]) {
        let authority = Authority::create("demo", Validity::days(1)).unwrap();
        let identity = authority.issue(id, Validity::days(1)).unwrap();
        for (file, content) in files.iter().zip([identity.ca, identity.cert, identity.key]) {
            fs::write(self.path().join(file), content).unwrap();
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn load(&self, flags: &Overrides, variables: &[(&str, &str)]) -> Result<AgentConfig, ConfigError> {
        AgentConfig::load(&self.path().join("agent.toml"), flags, &environment(variables))
    }

    /// What is said about it, the directory left out.
    fn problems(&self, flags: &Overrides, variables: &[(&str, &str)]) -> Vec<String> {
        let directory = format!("{}/", self.path().display());
        let error = self.load(flags, variables).expect_err("something is wrong");
        error.problems().iter().map(|problem| problem.replace(&directory, "")).collect()
    }
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
