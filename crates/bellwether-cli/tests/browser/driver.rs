//! A headless browser, driven over HTTP as the W3C's WebDriver says. That is a handful of requests, so no library speaks for us.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;

use crate::cluster::{Process, undisturbed};
use crate::faults::skip_unless_required;

/// What a browser that is asked for something may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// One window of a browser of its own.
pub(super) struct Browser {
    session: String,
    http: Agent,
    /// Ends with this.
    _driver: Speaker,
    _profile: TempDir,
}

/// How a browser shows pages.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) width: u32,
    pub(super) dark: bool,
}

pub(super) const WIDE: Window = Window { width: 1400, dark: false };

impl Browser {
    /// `None` if there is no browser, and that may be.
    #[track_caller]
    pub(super) fn open(window: Window) -> Option<Self> {
        // Whoever only wants the agents' tests is spared the browser, even where there is one.
        if env::var("BELLWETHER_REQUIRE_BROWSER").as_deref() != Ok("1") {
            skip_unless_required(
                "BELLWETHER_REQUIRE_BROWSER",
                "the pages in a browser",
                "BELLWETHER_REQUIRE_BROWSER is not 1",
            );
            return None;
        }
        let (driver, port) = driver();
        let profile = tempfile::tempdir().expect("there is room for a profile");
        let config =
            Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false).build();
        let mut browser = Self {
            session: format!("http://127.0.0.1:{port}/session"),
            http: config.into(),
            _driver: driver,
            _profile: profile,
        };
        let profile = browser._profile.path().display();
        let args = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            format!("--user-data-dir={profile}"),
            format!("--window-size={},1000", window.width),
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": 30_000 },
        } } });
        let made = browser.ask("", &wanted);
        let id = made["sessionId"].as_str().unwrap_or_else(|| panic!("{made}"));
        browser.session = format!("{}/{id}", browser.session);
        let scheme = if window.dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("/goog/cdp/execute", &json!({ "cmd": "Emulation.setEmulatedMedia", "params": media }));
        Some(browser)
    }

    pub(super) fn visit(&self, url: &str) {
        self.ask("/url", &json!({ "url": "about:blank" }));
        self.ask("/url", &json!({ "url": url }));
    }

    /// What a script returns.
    pub(super) fn run(&self, script: &str) -> Value {
        self.ask("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true on the page.
    #[track_caller]
    pub(super) fn wait(&self, condition: &str) {
        let script = format!(
            "const done = arguments[0]; const look = () => ({condition}) ? done(true) : setTimeout(look, 50); look();"
        );
        let came = self.try_ask("/execute/async", &json!({ "script": script, "args": [] }));
        assert!(
            came.is_ok(),
            "{condition} did not come about: {}",
            self.run("return document.body.innerText.slice(0, 3000)")
        );
    }

    /// The text of the element with that id.
    pub(super) fn text(&self, id: &str) -> String {
        self.run(&format!("return document.getElementById('{id}').textContent"))
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    #[track_caller]
    pub(super) fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.ask(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types into an element, or presses keys in it.
    #[track_caller]
    pub(super) fn keys(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.ask(&format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Chooses from a list.
    #[track_caller]
    pub(super) fn choose(&self, id: &str, value: &str) {
        self.run(&format!(
            "const list = document.getElementById('{id}'); list.value = '{value}'; list.dispatchEvent(new Event('change'))"
        ));
    }

    fn find(&self, selector: &str) -> String {
        let found = self.ask("/element", &json!({ "using": "css selector", "value": selector }));
        let (_, id) = found.as_object().and_then(|found| found.iter().next()).expect("an element has an id");
        id.as_str().expect("an id is a text").to_owned()
    }

    /// What the browser complains about, requests that were refused left out: those are told on the page.
    pub(super) fn complaints(&self) -> Vec<String> {
        let entries = self.ask("/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().expect("a list").iter();
        let severe = entries.filter(|entry| entry["level"] == "SEVERE");
        let words = severe.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned());
        words.filter(|words| !words.contains("Failed to load resource")).collect()
    }

    /// What keeps people from using the page, as axe-core sees it, if it is serious.
    pub(super) fn barriers(&self) -> Vec<String> {
        let axe = fs::read_to_string(axe()).expect("`make browser` has installed axe-core");
        self.run(&axe);
        let script = "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(\
             (found) => done(found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(\
             ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)))";
        let found = self.ask("/execute/async", &json!({ "script": script, "args": [] }));
        found.as_array().expect("a list").iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn ask(&self, path: &str, body: &Value) -> Value {
        self.try_ask(path, body).unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    fn try_ask(&self, path: &str, body: &Value) -> Result<Value, String> {
        let answer = self
            .http
            .post(format!("{}{path}", self.session))
            .content_type("application/json")
            .send(body.to_string())
            .and_then(|mut answer| answer.body_mut().with_config().limit(1 << 26).read_to_string())
            .map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let value = answer["value"].take();
        match value.get("error") {
            Some(_) => Err(value.to_string()),
            None => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with the session.
        let _ = self.http.delete(&self.session).call();
    }
}

/// A driver of its own, and its port.
fn driver() -> (Speaker, u16) {
    let mut command = undisturbed(Path::new("chromedriver"));
    Speaker::start(command.arg("--port=0").stderr(Stdio::null()), |line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse::<u16>().ok()
    })
}

/// A process that says where it is. It can go on to speak as long as it lives, and ends with this.
pub(super) struct Speaker {
    _process: Process,
    _said: BufReader<ChildStdout>,
}

impl Speaker {
    pub(super) fn start<T>(command: &mut Command, heard: impl Fn(&str) -> Option<T>) -> (Self, T) {
        let mut process = Process::start(command.stdout(Stdio::piped()));
        let mut said = BufReader::new(process.child().stdout.take().expect("it is piped"));
        let found = loop {
            let mut line = String::new();
            assert_ne!(
                said.read_line(&mut line).expect("it speaks"),
                0,
                "it ended, and did not say where it is"
            );
            if let Some(found) = heard(line.trim_end()) {
                break found;
            }
        };
        (Self { _process: process, _said: said }, found)
    }
}

fn axe() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/axe");
    root.join("node_modules/axe-core/axe.min.js")
}
