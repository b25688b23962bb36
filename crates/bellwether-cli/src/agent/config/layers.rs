//! The file, the environment and the flags, each overriding the one before: one value for each key, and where
//! it was given.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use bellwether_proto::ident::NodeId;
use bellwether_toml::{Entry, Spanned, Value, Wrong};

use super::error::ConfigError;
use super::flags::Overrides;
use super::given::{Given, Place};
use super::keys::{self, Variable};

/// The variables that the process was given and that are ours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    pub(crate) fn of_process() -> Self {
        let text = |os: std::ffi::OsString| os.to_string_lossy().into_owned();
        std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(all: I) -> Self {
        Self(all.into_iter().filter(|(name, _)| name.starts_with(keys::PREFIX)).collect())
    }
}

/// What was given for each key, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Settings {
    file: PathBuf,
    text: String,
    given: BTreeMap<&'static str, Given>,
    problems: Vec<String>,
}

impl Settings {
    pub(super) fn load(path: &Path, flags: &Overrides, env: &Environment) -> Result<Self, ConfigError> {
        let text = read(path)?;
        let entries = bellwether_toml::entries(&text);
        let mut settings = Self { file: path.to_owned(), text, given: BTreeMap::new(), problems: Vec::new() };
        match entries {
            Ok(entries) => settings.take_table("", entries),
            Err(wrong) => return Err(ConfigError::wrong(settings.locate(wrong))),
        }
        settings.take_variables(env);
        for (flag, key, value) in flags.given() {
            let given = Given { key, value: Value::Text(value.to_owned()), place: Place::Flag(flag) };
            settings.given.insert(key, given);
        }
        settings.finish(Some(()))?;
        Ok(settings)
    }

    /// The value, unless problems were found on the way to it.
    pub(super) fn finish<T>(&mut self, value: Option<T>) -> Result<T, ConfigError> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(ConfigError::Wrong(std::mem::take(&mut self.problems))),
        }
    }

    /// The value of the key, if it was given and is valid.
    pub(super) fn get<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Given) -> Result<T, String>,
    ) -> Option<T> {
        let given = self.given.get(key)?;
        match read(given) {
            Ok(value) => Some(value),
            Err(problem) => {
                let (place, problem) = (given.place.clone(), given.about(&problem));
                self.problem(&place, problem);
                None
            }
        }
    }

    /// As [`Settings::get`], with a default. If the given value is wrong, that is noted and reported later.
    pub(super) fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(&Given) -> Result<T, String>,
    ) -> T {
        self.get(key, read).unwrap_or(default)
    }

    /// As [`Settings::get`], of a key that must be given.
    pub(super) fn need<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Given) -> Result<T, String>,
    ) -> Option<T> {
        if !self.given.contains_key(key) {
            let flag = if key == "node" { " or --node" } else { "" };
            let problem = format!(
                "{}: missing key `{key}`, expected it in the file or as {}{flag}",
                self.name(),
                keys::variable(key)
            );
            self.problems.push(problem);
        }
        self.get(key, read)
    }

    /// The value of a key of a row of a list, and where it was given, if it is valid.
    pub(super) fn entry<T>(
        &mut self,
        key: &'static str,
        value: Spanned<Value>,
        read: impl FnOnce(&Given) -> Result<T, String>,
    ) -> Option<(T, Place)> {
        let place = Place::File(value.span());
        let given = Given { key, value: value.into_inner(), place };
        match read(&given) {
            Ok(value) => Some((value, given.place)),
            Err(problem) => {
                self.problem(&given.place, given.about(&problem));
                None
            }
        }
    }

    /// Where the file is. Paths in it are relative to that.
    pub(super) fn directory(&self) -> PathBuf {
        self.file.parent().map(Path::to_owned).unwrap_or_default()
    }

    /// A path. Paths in the file are relative to the file; `{node}` stands for the node's id.
    pub(super) fn path(&mut self, key: &'static str, node: Option<NodeId>) -> Option<PathBuf> {
        let directory = self.directory();
        self.get(key, |given| {
            let text = given.text("a path")?;
            let rest = text.replace("{node}", "");
            if rest.contains(['{', '}']) {
                return Err(format!("found {text:?}, expected a path with no placeholder but {{node}}"));
            }
            let path = match node {
                Some(node) => PathBuf::from(text.replace("{node}", &node.to_string())),
                None => PathBuf::from(text),
            };
            Ok(match given.place {
                Place::File(_) => directory.join(path),
                Place::Variable(_) | Place::Flag(_) => path,
            })
        })
    }

    /// A path that must be given.
    pub(super) fn need_path(&mut self, key: &'static str, node: Option<NodeId>) -> Option<PathBuf> {
        self.need(key, |_| Ok(()))?;
        self.path(key, node)
    }

    /// What was given for the key, as it was given.
    pub(super) fn given(&self, key: &str) -> Option<&Given> {
        self.given.get(key)
    }

    /// What was given for each key.
    pub(super) fn values(&self) -> BTreeMap<&'static str, Value> {
        self.given.iter().map(|(key, given)| (*key, given.value.clone())).collect()
    }

    /// The layer in which the key was given. A higher one overrides a lower one.
    pub(super) fn rank(&self, key: &str) -> Option<u8> {
        self.given.get(key).map(|given| match given.place {
            Place::File(_) => 0,
            Place::Variable(_) => 1,
            Place::Flag(_) => 2,
        })
    }

    /// The file, if the key was given in it.
    pub(super) fn file_that_gives(&self, key: &str) -> Option<&Path> {
        let given = self.given.get(key)?;
        matches!(given.place, Place::File(_)).then_some(self.file.as_path())
    }

    /// Notes a problem with the key's value, or that it is missing.
    pub(super) fn wrong(&mut self, key: &str, problem: impl Into<String>) {
        match self.given.get(key).map(|given| given.place.clone()) {
            Some(place) => self.problem(&place, problem.into()),
            None => self.problems.push(format!("{}: {}", self.name(), problem.into())),
        }
    }

    /// Notes a problem at a place.
    pub(super) fn problem(&mut self, place: &Place, problem: String) {
        let problem = match place {
            Place::File(span) => self.locate(Wrong::at(span.clone(), problem)),
            Place::Variable(name) => format!("environment variable {name}: {problem}"),
            Place::Flag(flag) => format!("{flag}: {problem}"),
        };
        self.problems.push(problem);
    }

    fn take_table(&mut self, path: &str, entries: Vec<Entry>) {
        for Entry { key, value } in entries {
            let at =
                if path.is_empty() { key.get_ref().clone() } else { format!("{path}.{}", key.get_ref()) };
            let (key_at, value_at) = (Place::File(key.span()), Place::File(value.span()));
            match (keys::known(&at), value.into_inner()) {
                (Some(key), value) => {
                    self.given.insert(key, Given { key, value, place: value_at });
                }
                (None, Value::Table(inner)) if path.is_empty() && keys::is_table(&at) => {
                    self.take_table(&at, inner);
                }
                (None, found) if path.is_empty() && keys::is_table(&at) => {
                    let found = keys::shown(&at, &found);
                    self.problem(&value_at, format!("`{at}`: found {found}, expected a table [{at}]"));
                }
                (None, _) => self.problem(&key_at, keys::unknown_key(&at)),
            }
        }
    }

    fn take_variables(&mut self, env: &Environment) {
        for (name, value) in &env.0 {
            match Variable::of(name) {
                Variable::Key(key) => {
                    let place = Place::Variable(name.clone());
                    self.given.insert(key, Given { key, value: Value::Text(value.clone()), place });
                }
                Variable::Foreign => {}
                Variable::Unknown => self.problems.push(keys::unknown_variable(name)),
            }
        }
    }

    fn locate(&self, wrong: Wrong) -> String {
        wrong.locate(&self.name(), &self.text).to_string()
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }
}

/// No configuration is longer than this.
const FILE_MAX: u64 = 1 << 20;

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

fn read(path: &Path) -> Result<String, ConfigError> {
    let file = path.display();
    let bytes = read_bounded(path).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            ConfigError::wrong(format!("{file}: found more than {FILE_MAX} bytes, expected a configuration"))
        }
        ErrorKind::NotFound => {
            ConfigError::wrong(format!("{file}: there is no such file, expected a configuration"))
        }
        ErrorKind::IsADirectory => {
            ConfigError::wrong(format!("{file}: found a directory, expected a configuration file"))
        }
        _ => ConfigError::Failed(format!("cannot read {file}: {error}")),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = error.as_bytes()[before.len()];
        ConfigError::wrong(format!("{file}:{line}: found the byte 0x{byte:02x}, expected text in UTF-8"))
    })
}
