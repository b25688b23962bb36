//! The table `[hooks]`: programs that the agent runs when leadership changes.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bellwether::elections::Name;
use bellwether_toml::{Entry, Spanned, Value};
use nix::unistd::{AccessFlags, access};

use super::given::{Given, Place};
use super::keys::{self, HOOK_EVENTS, HOOK_KEYS, HOOKS_OF_ELECTIONS};
use super::layers::Settings;

/// What is run when, and for which elections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HooksConfig {
    /// For the cluster's own leadership.
    own: ElectionHooks,
    named: BTreeMap<Name, ElectionHooks>,
    /// For every other election.
    others: Option<ElectionHooks>,
}

/// What is run for one election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ElectionHooks {
    pub(crate) became_leader: Option<Command>,
    pub(crate) lost_leader: Option<Command>,
    pub(crate) new_leader: Option<Command>,
    /// How long each may take.
    pub(crate) timeout: Duration,
}

/// A program and its arguments. No shell reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
}

impl HooksConfig {
    /// How long a hook may take, if nothing else is said.
    const TIMEOUT: Duration = Duration::from_secs(30);

    /// For every election that has no hooks of its own.
    const ANY: &str = "*";

    pub(super) fn read(settings: &mut Settings) -> Self {
        let timeout = settings.or("hooks.timeout", Self::TIMEOUT, timeout);
        let dir = settings.directory();
        let mut command = |key| settings.get(key, |given| command(given, &dir));
        let own = ElectionHooks {
            became_leader: command("hooks.became_leader"),
            lost_leader: command("hooks.lost_leader"),
            new_leader: command("hooks.new_leader"),
            timeout,
        };
        let mut hooks = Self { own, ..Self::default() };
        let rows = settings.get(HOOKS_OF_ELECTIONS, rows).unwrap_or_default();
        rows.into_iter().for_each(|row| hooks.add(settings, row, timeout));
        hooks
    }

    /// What is run for that election.
    pub(crate) fn of(&self, election: &Name) -> Option<&ElectionHooks> {
        match *election == Name::leader() {
            true => Some(&self.own),
            false => self.named.get(election).or(self.others.as_ref()),
        }
    }

    /// Whether anything is run for the cluster's own leadership.
    pub(crate) fn are_for_the_cluster(&self) -> bool {
        self.own.are_any()
    }

    /// Whether anything is run for other elections.
    pub(crate) fn are_for_names(&self) -> bool {
        !self.named.is_empty() || self.others.is_some()
    }

    fn add(&mut self, settings: &mut Settings, row: Spanned<Value>, timeout: Duration) {
        let place = Place::File(row.span());
        let Some(Row { name, hooks }) = Row::read(settings, row, timeout) else { return };
        let name_is_taken = match &name {
            Some(name) => self.named.insert(name.clone(), hooks).is_some(),
            None => self.others.replace(hooks).is_some(),
        };
        if name_is_taken {
            let name = name.as_ref().map_or(Self::ANY, Name::as_str);
            let problem =
                format!("`hooks.election`: there is one with name {name:?} already, expected each once");
            settings.problem(&place, problem);
        }
    }
}

impl ElectionHooks {
    /// Whether there is any.
    fn are_any(&self) -> bool {
        self.became_leader.is_some() || self.lost_leader.is_some() || self.new_leader.is_some()
    }
}

impl Default for ElectionHooks {
    fn default() -> Self {
        let timeout = HooksConfig::TIMEOUT;
        Self { became_leader: None, lost_leader: None, new_leader: None, timeout }
    }
}

fn rows(given: &Given) -> Result<Vec<Spanned<Value>>, String> {
    match &given.value {
        Value::List(rows) if !rows.is_empty() => Ok(rows.clone()),
        found => Err(format!("found {found}, expected a table [[hooks.election]] for each election")),
    }
}

/// A `[[hooks.election]]`.
struct Row {
    /// `None` for every other election.
    name: Option<Name>,
    hooks: ElectionHooks,
}

impl Row {
    fn read(settings: &mut Settings, row: Spanned<Value>, timeout: Duration) -> Option<Self> {
        let (place, dir) = (Place::File(row.span()), settings.directory());
        let entries = match row.into_inner() {
            Value::Table(entries) => entries,
            found => {
                let problem = format!("`hooks.election`: found {found}, expected a table [[hooks.election]]");
                settings.problem(&place, problem);
                return None;
            }
        };
        let (mut name, mut hooks) = (None, ElectionHooks { timeout, ..ElectionHooks::default() });
        let runs_any = entries.iter().any(|entry| HOOK_EVENTS.contains(&entry.key.get_ref().as_str()));
        for Entry { key, value } in entries {
            let at_key = Place::File(key.span());
            let run = |given: &Given| command(given, &dir);
            match key.get_ref().as_str() {
                "name" => name = Some(settings.entry("hooks.election.name", value, self::name)),
                "became_leader" => {
                    hooks.became_leader =
                        settings.entry("hooks.election.became_leader", value, run).map(|(it, _)| it);
                }
                "lost_leader" => {
                    hooks.lost_leader =
                        settings.entry("hooks.election.lost_leader", value, run).map(|(it, _)| it);
                }
                "new_leader" => {
                    hooks.new_leader =
                        settings.entry("hooks.election.new_leader", value, run).map(|(it, _)| it);
                }
                "timeout" => {
                    let given = settings.entry("hooks.election.timeout", value, self::timeout);
                    hooks.timeout = given.map_or(timeout, |(it, _)| it);
                }
                unknown => {
                    settings.problem(&at_key, keys::unknown_key_of("a hook", &HOOK_KEYS, unknown));
                }
            }
        }
        if name.is_none() || !runs_any {
            let problem =
                "a [[hooks.election]] that is not whole, expected a `name` and a command for an event";
            settings.problem(&place, problem.to_owned());
        }
        let (name, _) = name??;
        Some(Self { name, hooks })
    }
}

/// The name of an election; `None` stands for all.
fn name(given: &Given) -> Result<Option<Name>, String> {
    let expected = "the name of an election, of 1 to 255 bytes without control characters, or \"*\"";
    let text = given.text(expected)?;
    if text == HooksConfig::ANY {
        return Ok(None);
    }
    match Name::new(text) {
        Ok(name) if name == Name::leader() => Err(format!(
            "found {text:?}, which is the cluster's own leadership: its hooks are those of [hooks] itself"
        )),
        Ok(name) => Ok(Some(name)),
        Err(_) => Err(format!("found {text:?}, expected {expected}")),
    }
}

fn timeout(given: &Given) -> Result<Duration, String> {
    let timeout = given.duration()?;
    let is_none = timeout.is_zero();
    if is_none { Err("found no time at all, expected some, such as \"30s\"".to_owned()) } else { Ok(timeout) }
}

/// A command that can be run now. A path in the file is relative to the file, as all are; a mere name is looked for as a shell would.
fn command(given: &Given, dir: &Path) -> Result<Command, String> {
    let expected = "a program and its arguments such as [\"/usr/local/bin/on-leader\", \"now\"]";
    let mut words = given.texts(expected)?.into_iter();
    let Some(program) = words.next().filter(|program| !program.is_empty()) else {
        return Err(format!("found no program, expected {expected}"));
    };
    let args: Vec<String> = words.collect();
    if args.iter().chain([&program]).any(|word| word.contains('\0')) {
        return Err(format!("found a zero in it, expected {expected}"));
    }
    let program = if program.contains('/') {
        let path = Path::new(&program);
        let path = if matches!(given.place, Place::File(_)) { dir.join(path) } else { path.to_owned() };
        runs(&path).then_some(path).ok_or(program)
    } else {
        on_path(&program).ok_or(program)
    };
    match program {
        Ok(program) => Ok(Command { program, args }),
        Err(program) => Err(format!("found {program:?}, which cannot be run, expected {expected}")),
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(program)).find(|path| runs(path))
}

fn runs(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}
