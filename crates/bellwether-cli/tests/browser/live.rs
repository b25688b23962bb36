//! The page of an agent, while its cluster lives.

use super::driver::{Browser, WIDE, Window};
use crate::cluster::{Cluster, TOKEN};

const LIVE: &str = "document.getElementById('state').textContent.startsWith('Live')";

#[test]
fn the_page_shows_who_leads_and_follows_changes() {
    let Some(browser) = Browser::open(WIDE) else { return };
    let mut cluster = Cluster::start(3);
    let leader = cluster.wait_for_leader();
    let asked = if leader == 1 { 2 } else { 1 };
    browser.visit(&format!("http://{}/", cluster.api(asked)));
    browser.wait(&format!("{LIVE} && document.getElementById('who').textContent === '★ Member {leader}'"));
    browser.wait("document.querySelectorAll('#members tr').length === 3");
    cluster.kill(leader);
    let next = 6 - leader - asked;
    browser.wait(&format!(
        "['★ Member {asked}', '★ Member {next}'].includes(document.getElementById('who').textContent) && \
         document.querySelector('#members .away')"
    ));
    let because = browser.run("return document.querySelector('#changes td:last-child').textContent");
    assert!(because.as_str().unwrap().contains(&format!("node {leader}")), "{because}");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn an_agent_that_is_away_is_told_and_comes_back_by_itself() {
    let Some(browser) = Browser::open(WIDE) else { return };
    let mut cluster = Cluster::start(1);
    cluster.wait_for_leader();
    browser.visit(&format!("http://{}/", cluster.api(1)));
    browser.wait(LIVE);
    cluster.kill(1);
    browser.wait("/^This is \\d+ s old/.test(document.getElementById('state').textContent)");
    assert_eq!(browser.text("who"), "★ Member 1", "what was known is kept");
    cluster.start_node(1);
    browser.wait(LIVE);
}

#[test]
fn leadership_is_given_back_when_it_was_asked_twice_and_with_the_token() {
    let Some(browser) = Browser::open(WIDE) else { return };
    let cluster = Cluster::start(2);
    let leader = cluster.wait_for_leader();
    browser.visit(&format!("http://{}/", cluster.api(leader)));
    browser.wait(LIVE);
    browser.click("#resign");
    browser.click("#no");
    browser.click("#resign");
    browser.click("#yes");
    browser.wait("document.getElementById('answer').textContent.includes('token')");
    browser.keys("#token", TOKEN);
    browser.click("#resign");
    browser.click("#yes");
    let other = 3 - leader;
    browser.wait(&format!(
        "document.getElementById('answer').textContent === 'Done. Member {other} leads now.'"
    ));
    assert!(!browser.run("return location.href").as_str().unwrap().contains(TOKEN));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn everybody_can_use_it() {
    for window in [WIDE, Window { width: 500, dark: true }] {
        let Some(browser) = Browser::open(window) else { return };
        let cluster = Cluster::start(1);
        cluster.wait_for_leader();
        browser.visit(&format!("http://{}/", cluster.api(1)));
        browser.wait(&format!("{LIVE} && document.querySelector('#counters tr')"));
        assert_eq!(browser.barriers(), [""; 0]);
        assert_eq!(browser.run("return document.documentElement.scrollWidth <= innerWidth"), true);
    }
}
