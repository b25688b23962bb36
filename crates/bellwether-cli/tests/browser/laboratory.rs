//! The laboratory, as a person uses it.

use std::path::Path;

use super::driver::{Browser, Speaker, WIDE, Window};
use crate::cluster::undisturbed;

/// A laboratory, and its address.
fn laboratory() -> (Speaker, String) {
    let mut command = undisturbed(Path::new(env!("CARGO_BIN_EXE_bellwether")));
    Speaker::start(command.arg("lab"), |line| {
        let (_, rest) = line.split_once("http://")?;
        Some(format!("http://{}", rest.split_whitespace().next()?))
    })
}

/// The page, with the run of an example.
fn opened(window: Window) -> Option<(Browser, Speaker, String)> {
    let browser = Browser::open(window)?;
    let (lab, address) = laboratory();
    browser.visit(&address);
    browser.wait(SHOWN);
    Some((browser, lab, address))
}

const SHOWN: &str =
    "document.querySelectorAll('.pane').length === 1 && document.querySelector('#promises li')";
const BESIDE: &str =
    "document.querySelectorAll('.pane').length === 2 && document.querySelector('#promises li')";
/// The key →, as WebDriver writes it.
const RIGHT: &str = "\u{e014}";
const CONTROL_ENTER: &str = "\u{e009}\u{e007}";

#[test]
fn a_run_is_stepped_through_with_keys_and_shows_where_a_promise_breaks() {
    let Some((browser, _lab, _)) = opened(WIDE) else { return };
    browser.click("#first");
    assert!(browser.text("now").starts_with("Event 1 of "), "{}", browser.text("now"));
    browser.keys(".pane canvas", &RIGHT.repeat(3));
    assert!(browser.text("now").starts_with("Event 4 of "), "{}", browser.text("now"));
    assert_eq!(browser.run("return document.querySelectorAll('#promises li.breaks').length"), 0);
    browser.click("#broken");
    browser.wait("document.querySelector('#promises li.breaks')?.textContent.includes(\"ALE2'\")");
    browser.click("#table-details summary");
    browser.wait("document.querySelector('#table tr[aria-current]')");
    browser.click("#inside summary");
    browser.wait("document.querySelector('#inside pre')?.textContent.includes('pendack')");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_dropped_message_branches_the_run_beside_the_old_one() {
    let Some((browser, _lab, _)) = opened(WIDE) else { return };
    // It opens at the end of the first instant, in which much is sent.
    browser.wait("document.querySelector('#under-way button')");
    browser.click("#under-way button");
    browser.wait(BESIDE);
    let text = browser.run("return document.getElementById('editor').value");
    assert!(text.as_str().unwrap().contains("# Broken here: "), "{text}");
    browser.click("#break button[value=crash]");
    browser.wait("document.querySelector('#runs').selectedOptions[0].textContent.includes('crashes')");
    browser.choose("beside", "");
    browser.wait(SHOWN);
    browser.click("#other");
    browser.wait(BESIDE);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_mistake_is_shown_at_its_line_and_the_last_run_stays() {
    let Some((browser, _lab, _)) = opened(WIDE) else { return };
    browser.run("const e = document.getElementById('editor'); e.value = 'protocol = \"fjr\"\\nnodes = 0\\nuntil = \"1s\"\\n'");
    browser.keys("#editor", CONTROL_ENTER);
    browser.wait("!document.getElementById('mistake').hidden");
    assert!(
        browser.text("mistake").starts_with("Line 2, column 9: `nodes` is 0"),
        "{}",
        browser.text("mistake")
    );
    assert_eq!(browser.run("return document.querySelector('#lines .wrong').textContent"), "2");
    browser.wait(SHOWN);
    browser.run("const e = document.getElementById('editor'); e.value = e.value.replace('0', '2')");
    browser.click("#run");
    browser.wait(
        "document.getElementById('mistake').hidden && document.getElementById('runs').options.length === 2",
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_link_holds_the_scenario_and_a_broken_one_leaves_the_page_usable() {
    let Some((browser, _lab, address)) = opened(WIDE) else { return };
    browser.run("document.getElementById('editor').value = 'name = \"<b>linked</b>\"\\nprotocol = \"fjr\"\\nnodes = 2\\nuntil = \"1s\"\\n'");
    browser.click("#share");
    browser.wait("location.hash.startsWith('#scenario=')");
    let link = browser.run("return location.href");
    browser.visit(link.as_str().unwrap());
    browser.wait(SHOWN);
    let heading = browser.run("return document.querySelector('.pane h3').textContent");
    assert!(heading.as_str().unwrap().contains("<b>linked</b>"), "{heading}");
    for hash in ["#scenario=AAAA", "#scenario=%", "#elsewhere"] {
        browser.visit(&format!("{address}{hash}"));
        browser.wait("document.getElementById('state').textContent.includes('link is broken')");
        browser.wait(SHOWN);
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_lesson_is_shown_with_what_comes_of_it() {
    let Some((browser, _lab, _)) = opened(WIDE) else { return };
    browser.click("#tour summary");
    browser.wait("document.getElementById('lesson').options.length === 9");
    browser.choose("lesson", "0");
    browser.wait("document.querySelector('.pane h3').textContent.includes('lesson 1')");
    browser.click("#lesson-show");
    browser.wait(BESIDE);
    assert!(browser.text("lesson-answer").contains("ALE2' is broken"), "{}", browser.text("lesson-answer"));
    assert!(browser.text("runs").contains("✗ ALE2'"), "{}", browser.text("runs"));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn what_a_search_finds_opens_as_a_run() {
    let Some((browser, _lab, _)) = opened(WIDE) else { return };
    browser.click("#search summary");
    browser.click("#search-form button[type=submit]");
    browser.wait("document.getElementById('search-state').textContent.includes('is open')");
    browser.wait("!document.getElementById('broken').hidden");
    browser.run("document.querySelector('#search-form [name=runs]').removeAttribute('max'); document.querySelector('#search-form [name=runs]').value = '1000000'");
    browser.click("#search-form button[type=submit]");
    browser.wait("document.getElementById('search-state').textContent.includes('expected 1 to 100000')");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_run_of_a_hundred_thousand_events_opens_and_is_scrubbed() {
    let Some((browser, _lab, _)) = opened(WIDE) else { return };
    browser.run(
        "document.getElementById('editor').value = 'protocol = \"async-bully\"\\nnodes = 12\\nuntil = \"260s\"\\n[timing]\\ntau = \"50ms\"\\n[network]\\nlatency = [\"1ms\", \"5ms\"]\\n'",
    );
    browser.click("#run");
    browser.wait("Number(document.getElementById('scrub').max) > 100000");
    browser.run(
        "const s = document.getElementById('scrub'); s.value = s.max; s.dispatchEvent(new Event('input'))",
    );
    let now = browser.text("now");
    let (at, of) = now.trim_start_matches("Event ").split_once(" of ").expect("it says which");
    assert!(of.starts_with(&format!("{at},")), "the last one: {now}");
    browser.click("#fit");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn everybody_can_use_it() {
    for window in [WIDE, Window { width: 500, dark: true }] {
        let Some((browser, _lab, _)) = opened(window) else { return };
        browser.run("for (const details of document.querySelectorAll('details')) details.open = true");
        browser.click("#broken");
        browser.wait("document.querySelector('#promises li.breaks')");
        assert_eq!(browser.barriers(), [""; 0]);
        let fits = browser.run("return document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(fits, true, "nothing is beside the window");
    }
}
