//! A tour: short lessons, each a scenario, a thing to do to it, and what comes of that. There is one for each family of
//! algorithms, one for exclusive leadership, and one for what no algorithm can do.

use serde_json::{Value, json};

/// A lesson.
#[derive(Clone, Copy, Debug)]
struct Lesson {
    title: &'static str,
    /// The scenario to begin with.
    scenario: &'static str,
    /// What it is about.
    story: &'static str,
    /// What to do, and what to ask oneself.
    task: &'static str,
    /// What comes of it, and why.
    answer: &'static str,
    deed: Deed,
}

/// What is to be done to the scenario.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// This happens, too.
    Add(&'static str),
    /// This stands in place of that.
    Replace(&'static str, &'static str),
}

macro_rules! scenario {
    ($name:literal) => {
        include_str!(concat!("../../../lessons/", $name, ".toml"))
    };
}

const LESSONS: [Lesson; 8] = [
    Lesson {
        title: "One message",
        scenario: scenario!("one-message"),
        story: "Stoller's asynchronous bully. Each node organises an election and halts all weaker nodes. Whoever has \
                all answers leads. Node 1 is the strongest, and wins within milliseconds. The paper assumes that links \
                lose nothing.",
        task: "At the beginning, drop the Halt from node 1 to node 2. The detector sees that 2 is alive. What does node 1 \
               wait for, and for how long?",
        answer: "It waits for an Ack or a DownSig of node 2, for ever: nothing is sent twice, and nobody is down. ALE2' is broken. \
                 The repaired variant sends Halt again until it is answered: try “Printed beside repaired”.",
        deed: Deed::Add("[[event]]\nat = \"0s\"\ndrop_next = { from = 1, to = 2, kind = \"Halt\" }\n"),
    },
    Lesson {
        title: "Whoever gave up",
        scenario: scenario!("gave-up"),
        story: "Garcia-Molina's bully. Whoever is elected reorganizes the others: it asks each of them, and gives up if \
                one of them crashes. At 1 s nodes 3 and 4 crash, and 1 while it is asked, so 2 gives up. At \
                1.098 s node 3 is back, and takes over.",
        task: "Put the cursor at about 1.1 s, just after node 3 has answered AreYouThere of node 2, and crash node 3. Who coordinates \
               then? Which node would notice?",
        answer: "Nobody does. Node 2 has given up, but is still reorganizing, and its own coordinator. Only normal nodes are checked, \
                 so A2 is broken. Repaired, a node whose reorganization fails waits, and holds another election.",
        deed: Deed::Add("[[event]]\nat = \"1101ms\"\ncrash = [3]\n"),
    },
    Lesson {
        title: "A path",
        scenario: scenario!("a-path"),
        story: "Garcia-Molina's invitations are for networks in which not everybody can speak with everybody. Groups invite \
                each other and merge. Node 3 crashes at 5 s, is back at 7 s, and all three are in one group again.",
        task: "Before node 3 is back, at 6 s, cut the link between 1 and 3. Node 2 can still speak with both. Assertion 4 says that \
               nodes which can speak with each other end up in one group. Can it hold here?",
        answer: "It cannot. 3 is stronger, and invites 2 away from 1. Nodes 1 and 2 can speak with each other and stay in two groups: \
                 A4 is broken. Souto's A4' asks for no more groups than cliques that cover the network, and holds.",
        deed: Deed::Add("[[event]]\nat = \"6s\"\ncut = [[1, 3]]\n"),
    },
    Lesson {
        title: "Back too soon",
        scenario: scenario!("too-soon"),
        story: "Souto's bully tells everybody NEW-LEADER, and whoever hears it follows. Node 1 crashes at 1 s, and node 2 is elected.",
        task: "Let node 1 recover just before node 2 says NEW-LEADER, at 1.047 s. Every message arrives within its bound. Whom does node 3 \
               follow?",
        answer: "It follows node 2, though 1 leads: the NEW-LEADER of 2 was under way when 1 halted 3. A1 is broken. Repaired, a \
                 halted node stays with the stronger candidate.",
        deed: Deed::Add("[[event]]\nat = \"1047ms\"\nrecover = [1]\n"),
    },
    Lesson {
        title: "What was forgotten",
        scenario: scenario!("forgotten"),
        story: "Raynal's survey has algorithms in which the process with the fewest suspicions leads. Node 1 is slow from 2 s \
                on; it is suspected, and node 2 leads. Node 1 crashes at 10 s. In the paper it stays down.",
        task: "After the crash, at 12 s, let node 1 recover. What does it remember of its suspicions? What do the others?",
        answer: "It remembers nothing, so it leads itself. The others remember its count and ignore its heartbeats, which are numbered from 1 \
                 again. That never ends, and OMEGA is broken. Repaired, a process keeps its count on the disk.",
        deed: Deed::Add("[[event]]\nat = \"12s\"\nrecover = [1]\n"),
    },
    Lesson {
        title: "Nobody has answered",
        scenario: scenario!("nobody-asked"),
        story: "Franceschetti and Bruck put a majority before a leader: a candidate asks the others, and leads when they have answered \
                or their links have failed.",
        task: "At 3 s cut the link between 1 and 2. Which link must have failed for an answer to be excused? Which one does the \
               definition name?",
        answer: "It names the link to the node that is reported, where it must be the link to the node that was asked. So a node that loses a link \
                 leads before anybody has answered, and two lead: SLE1 is broken.",
        deed: Deed::Add("[[event]]\nat = \"3s\"\ncut = [[1, 2]]\n"),
    },
    Lesson {
        title: "A token",
        scenario: scenario!("a-token"),
        story: "With exclusive leadership, a majority of voters grants a lease, and with it a token that grows for ever. The lease ends by the \
                holder's own clock, earlier than the voters bury it.",
        task: "At 5 s pause node 1, which leads, and resume it at 12 s. What does it do first when it goes on? Is there an instant at which two \
               may act?",
        answer: "Another node leads with a larger token after the lease has run out. Node 1 finds that its time is over and follows. \
                 ONE-HOLDER and TOKEN-GROWS hold.",
        deed: Deed::Add("[[event]]\nat = \"5s\"\npause = [1]\n\n[[event]]\nat = \"12s\"\nresume = [1]\n"),
    },
    Lesson {
        title: "What no algorithm can do",
        scenario: scenario!("the-adversary"),
        story: "Nobody crashes here, and every message arrives. But an adversary holds up what the leader sends until the others have \
                elected another, and then holds up that one. To them a slow leader looks like a dead one.",
        task: "Change the kind of the network's model from adversary to gst, and add gst = \"10s\": from then on every message takes a \
               bounded time. What is the least that must be promised for a leader to last?",
        answer: "With the adversary no leader lasts, whatever the algorithm: that is Raynal's theorem 1. With a bound from some time on, which no \
                 node needs to know, OMEGA holds. One process whose links are timely is enough.",
        deed: Deed::Replace("kind = \"adversary\"", "kind = \"gst\"\ngst  = \"10s\""),
    },
];

/// All lessons, as the page shows them.
pub(super) fn lessons() -> Value {
    LESSONS.iter().map(Lesson::entry).collect()
}

impl Lesson {
    fn entry(&self) -> Value {
        let Self { title, scenario, story, task, answer, .. } = self;
        json!({ "title": title, "text": scenario, "story": story, "task": task, "answer": answer, "done": self.done() })
    }

    /// The scenario to which it is done.
    fn done(&self) -> String {
        match self.deed {
            Deed::Add(event) => format!("{}\n# What the lesson asks for.\n{event}", self.scenario),
            Deed::Replace(old, new) => self.scenario.replace(old, new),
        }
    }
}

#[cfg(test)]
mod tests {
    use bellwether_proto::promise::Property;
    use bellwether_sim::report::Report;
    use bellwether_sim::run;
    use bellwether_sim::scenario::Scenario;

    use super::*;

    fn play(text: &str) -> Report {
        run::run(&Scenario::parse("lesson", text).unwrap())
    }

    fn holds(report: &Report, property: Property) -> Option<bool> {
        report.properties.iter().find(|judged| judged.property == property).map(|judged| judged.holds)
    }

    /// Which promise each lesson is about, and whether it holds before and after what it asks for.
    #[test]
    fn what_the_lessons_say_is_what_happens() {
        let told = [
            (Property::Ale2Prime, true, false),
            (Property::A2, true, false),
            (Property::A4, true, false),
            (Property::A1, true, false),
            (Property::Omega, true, false),
            (Property::Sle1, true, false),
            (Property::OneHolder, true, true),
            (Property::Omega, false, true),
        ];
        for (lesson, (property, before, after)) in LESSONS.iter().zip(told) {
            let (first, then) = (play(lesson.scenario), play(&lesson.done()));
            assert_eq!(holds(&first, property), Some(before), "{}", lesson.title);
            assert_eq!(holds(&then, property), Some(after), "{}", lesson.title);
            assert!(lesson.answer.contains(property.name()), "{}", lesson.title);
        }
    }

    #[test]
    fn the_next_leader_has_a_larger_token() {
        let lesson = LESSONS.iter().find(|lesson| lesson.title == "A token").unwrap();
        let (first, then) = (play(lesson.scenario), play(&lesson.done()));
        let told = |report: &Report| report.last[1].announced.expect("node 2 announces somebody");
        assert_ne!(told(&first).0, told(&then).0);
        assert!(told(&first).1 < told(&then).1);
    }
}
