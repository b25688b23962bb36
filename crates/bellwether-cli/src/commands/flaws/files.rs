//! The folder of flaws, and what is written about them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bellwether_sim::diagram::{self, Options};
use bellwether_sim::flaw::{Evidence, Flaw};

use super::document;
use super::hunt::Shown;

/// Reads every flaw of a folder, ordered by number. All errors are reported at once.
pub(super) fn read(dir: &Path) -> Result<Vec<Flaw>, Vec<String>> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            vec![format!("{}: there is no such folder, expected one with flaws", dir.display())]
        }
        _ => vec![format!("{}: {error}", dir.display())],
    };
    let entries = fs::read_dir(dir).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> =
        entries.collect::<Result<Vec<_>, _>>().map_err(unreadable)?.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    if paths.is_empty() {
        return Err(vec![format!(
            "{}: there is no flaw here, expected files such as E-ST7.toml",
            dir.display()
        )]);
    }
    let (mut flaws, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match read_one(&path) {
            Ok(flaw) => flaws.push(flaw),
            Err(error) => errors.push(error),
        }
    }
    errors.sort();
    flaws.sort_by_key(|flaw| order(&flaw.erratum));
    if errors.is_empty() { Ok(flaws) } else { Err(errors) }
}

fn read_one(path: &Path) -> Result<Flaw, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let flaw = Flaw::parse(&path.display().to_string(), &text).map_err(|error| error.to_string())?;
    if path.file_stem().is_none_or(|stem| stem != flaw.erratum.as_str()) {
        let (file, erratum) = (path.display(), &flaw.erratum);
        return Err(format!("{file}: the erratum is {erratum}, expected the name of the file"));
    }
    Ok(flaw)
}

/// Errata before claims, by paper, by number, by letter.
fn order(erratum: &str) -> (bool, String, u64, String) {
    let digits = erratum.find(|c: char| c.is_ascii_digit()).unwrap_or(erratum.len());
    let (paper, rest) = erratum.split_at(digits);
    let letter = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, letter) = rest.split_at(letter);
    (!erratum.starts_with("E-"), paper.to_owned(), number.parse().unwrap_or(0), letter.to_owned())
}

/// Where the table, the scenarios and the pictures are.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A folder that was written before. If the argument is the name of a flaw, the error says where names
    /// go.
    pub(super) fn written(dir: &Path, flaws: &[Flaw]) -> Result<Self, String> {
        if dir.join("flaws").is_dir() {
            return Ok(Self(dir.to_owned()));
        }
        let known: Vec<_> = flaws.iter().map(|flaw| flaw.erratum.as_str()).collect();
        Err(format!(
            "--verify {}: no flaws were written there, expected the folder that --out wrote; to verify one of {}, \
             name it before: bellwether flaws {} --verify DIR",
            dir.display(),
            known.join(", "),
            known.first().unwrap_or(&"NAME"),
        ))
    }

    /// Makes sure that something can be written, before anybody waits for it.
    pub(super) fn prepare(dir: &Path) -> Result<Self, String> {
        let cannot = |path: &Path, error| format!("cannot write {}: {error}", path.display());
        let flaws = dir.join("flaws");
        fs::create_dir_all(&flaws).map_err(|error| cannot(&flaws, error))?;
        tempfile::tempfile_in(&flaws).map_err(|error| cannot(&flaws, error))?;
        Ok(Self(dir.to_owned()))
    }

    pub(super) fn write_shown(&self, flaw: &Flaw, shown: &Shown) -> Result<(), String> {
        files_of(flaw, shown).into_iter().try_for_each(|(name, text)| self.write(&name, &text))
    }

    pub(super) fn write_table(&self, text: &str) -> Result<(), String> {
        self.write(TABLE, text)
    }

    /// The seed of the plan that was found, as its scenario tells.
    pub(super) fn seed_of(&self, flaw: &Flaw) -> Result<u64, String> {
        let name = scenario_of(flaw);
        let text = self.read(&name)?;
        let plan = text.lines().find_map(|line| line.strip_prefix(PLAN)?.split_whitespace().next());
        let seed = plan.and_then(|seed| seed.parse().ok());
        seed.ok_or_else(|| format!("{}: does not say which plan it was", self.0.join(name).display()))
    }

    pub(super) fn differences(&self, flaw: &Flaw, shown: &Shown) -> Vec<String> {
        let files = files_of(flaw, shown);
        files.iter().filter_map(|(name, text)| self.difference(name, |found| found == text)).collect()
    }

    /// How the table differs from this text, leaving out the times.
    pub(super) fn table_difference(&self, lasting: &str) -> Option<String> {
        self.difference(TABLE, |found| found.starts_with(lasting))
    }

    fn difference(&self, name: &str, same: impl Fn(&str) -> bool) -> Option<String> {
        match self.read(name) {
            Ok(text) if same(&text) => None,
            Ok(_) => Some(format!("{} is not what would be written today", self.0.join(name).display())),
            Err(error) => Some(error),
        }
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let path = self.0.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

const TABLE: &str = "flaws.md";
/// The beginning of the line that says where a scenario comes from.
const PLAN: &str = "# Plan ";

/// The file of the scenario, from the folder.
pub(super) fn scenario_of(flaw: &Flaw) -> String {
    format!("flaws/{}.toml", flaw.erratum)
}

/// The file of the picture, from the folder.
pub(super) fn picture_of(flaw: &Flaw) -> String {
    format!("flaws/{}.svg", flaw.erratum)
}

/// The files about a flaw that was found: their names and texts.
fn files_of(flaw: &Flaw, shown: &Shown) -> Vec<(String, String)> {
    let Evidence::Run(hunt) = &flaw.evidence else { return Vec::new() };
    let plan = format!(
        "Plan {} of the search in flaws/{}.toml, shrunk. Made by `bellwether flaws`.",
        shown.seed, flaw.erratum
    );
    let story = document::one_line(&hunt.story);
    let scenario = shown.shrunk.file(&[&plan, &story]);
    let replay = format!("bellwether sim docs/{}", scenario_of(flaw));
    let options = Options { replay: Some(replay), ..Options::default() };
    let picture = diagram::draw(&shown.shrunk.scenario, &options);
    vec![(scenario_of(flaw), scenario), (picture_of(flaw), picture)]
}
