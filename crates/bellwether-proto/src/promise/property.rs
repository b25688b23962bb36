//! The properties of a run that checkers judge, each declared once: the enumeration, the names and the reference in
//! `docs/reference/properties.md` all come from this list.

use core::fmt;

/// What is known of a property.
struct Declaration {
    name: &'static str,
    origin: &'static str,
    promise: &'static str,
    judged: &'static str,
}

macro_rules! properties {
    ($($variant:ident = $name:literal, $origin:literal {
        promise: $promise:literal,
        judged: $judged:literal,
    })+) => {
        /// A property of a run that a checker can judge.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Property {
            $(#[doc = concat!($origin, ": ", $promise, ".")] $variant,)+
        }

        impl Property {
            /// Every property.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            const fn declaration(self) -> Declaration {
                match self {
                    $(Self::$variant => Declaration {
                        name: $name,
                        origin: $origin,
                        promise: $promise,
                        judged: $judged,
                    },)+
                }
            }
        }
    };
}

// `promise` is what is meant, in the words of the origin. `judged` is what a checker can see of it on a finite run.
properties! {
    A1 = "A1", "Garcia-Molina, section III" {
        promise: "nodes that are reorganizing or normal never disagree on the coordinator, nor normal \
            ones on the task",
        judged: "after every event, all up nodes that are reorganizing or normal name one coordinator, \
            and the normal ones have one task. Without reorganization there is no task to judge",
    }
    A2 = "A2", "Garcia-Molina, section III" {
        promise: "if nothing fails, one node is in the end normal and coordinates, and all are normal \
            under it",
        judged: "within c_GM = max(W + T, τ_FD) + 4(n − 1)T of the last crash or recovery, with T = 2δ \
            and W = τ + nT, all up nodes are normal under one of them, and stay so until the next fault. \
            It is 2·c_GM at the start, and unless a single fault hit a settled system",
    }
    Sle1 = "SLE1", "Stoller, section 3" {
        promise: "nodes in normal operation never disagree on the leader",
        judged: "after every event, all up nodes in normal operation name one leader",
    }
    Sle2 = "SLE2", "Stoller, section 3" {
        promise: "if nothing fails for a time c, all nodes are normal with a leader that is up, and stay \
            so",
        judged: "within c_S = max(τ + 2δ, τ_FD) + (n − 1)·max(2δ, τ_FD) + δ of the last crash or \
            recovery, all up nodes are normal under a leader that is up, and stay so until the next \
            fault. It is 2·c_S at the start, and unless a single fault hit a settled system",
    }
    Ale1 = "ALE1", "Stoller, section 5" {
        promise: "nodes of one group in normal operation never disagree on its leader",
        judged: "after every event, all up nodes of a group in normal operation name one leader",
    }
    Ale2 = "ALE2", "Stoller, section 5" {
        promise: "as ALE2', and there are no more groups than cliques needed to cover the network",
        judged: "as ALE2', and there are no more groups than cliques needed to cover the connectivity \
            graph of the up nodes. It is left open where more than 20 connected nodes make the minimum \
            too costly to compute",
    }
    Ale2Prime = "ALE2'", "Stoller, section 5" {
        promise: "in a stable system, in bounded time, all nodes are normal, led by a node that is up in \
            their group",
        judged: "within c_A = 2n(τ + 2δ + τ_FD) of becoming stable, all up nodes are normal under a \
            leader that is up and in their group, and stay so while the system is stable",
    }
    A3 = "A3", "Garcia-Molina, section IV" {
        promise: "nodes of one group that are reorganizing or normal name one coordinator, and the normal \
            ones have one task",
        judged: "after every event, all up nodes of a group that are reorganizing or normal name one \
            coordinator, and the normal ones have one task",
    }
    A4 = "A4", "Garcia-Molina, section IV" {
        promise: "in a stable system, in bounded time, all nodes that can speak with each other are in \
            one group",
        judged: "within c_G = 2n(2τ + 10δ) of becoming stable, any two connected up nodes are normal in \
            one group, and their leader is connected with all nodes that they are connected with. That \
            lasts while the system is stable",
    }
    A4Prime = "A4'", "Souto, \"Solution (2/2)\"" {
        promise: "in a stable system, in bounded time, all nodes are normal in the group of a coordinator \
            that they can reach, and there are no more groups than cliques needed to cover the network",
        judged: "as ALE2, but within c_G (see A4), and every node can reach its leader, if only through \
            others",
    }
    GroupOnce = "GROUP-ONCE", "Garcia-Molina, section IV.A" {
        promise: "no group number is used twice: a number has one coordinator and one task",
        judged: "in the whole run, each group number that a reorganizing or normal node shows has one \
            coordinator and one task, and a coordinator that has left its group does not come back to it",
    }
    Omega = "OMEGA", "Raynal, section 1" {
        promise: "after some time all nodes that are up name one leader, which is up, for ever",
        judged: "throughout the last quarter of the run, all up nodes are normal and name one leader, the \
            same throughout, which is up. A node that comes up has until the end of that instant to name \
            it",
    }
    SingleSender = "SINGLE-SENDER", "Raynal, section 8.3" {
        promise: "after some time a single node sends messages of the algorithm, for ever",
        judged: "in the last quarter of the run, one node sends messages of the algorithm, and no other \
            does. Detectors and links may send",
    }
    Settled = "SETTLED", "Bellwether" {
        promise: "after some time the same leader, which is up, is announced at all nodes that are up, \
            for ever",
        judged: "throughout the last quarter of the run, the last announcement of every up node in its \
            present incarnation names one leader, the same throughout, which is up. A new epoch of the \
            same leader is no other leader",
    }
    Epoch = "EPOCH", "Bellwether" {
        promise: "every announced leadership has an epoch above all that its leader had seen",
        judged: "a node that announces itself has an epoch above every epoch that it announced before, \
            whoever led, in all its incarnations. No node goes back to a smaller epoch. A leadership of \
            another may be forgotten by a crash at the instant of its announcement, because it is told \
            before it is on disk. In the end, every leadership that a node announced of another was also \
            announced by that leader",
    }
    EpochGrows = "EPOCH-GROWS", "Bellwether" {
        promise: "every announced leadership has an epoch above all that anybody had seen who was there \
            to be asked",
        judged: "when a node announces itself, no other node that has been up for as long as a claim may \
            take, and for a message there and back, has announced that epoch of another leader, or a \
            larger one. What a node announced outlives its crashes, as for EPOCH. Where everybody who \
            heard of an epoch is down, those who are left cannot know of it",
    }
    EpochOnce = "EPOCH-ONCE", "Bellwether" {
        promise: "no epoch is announced by two leaders",
        judged: "in the whole run, no two nodes announce themselves with the same epoch. Where only a \
            majority may have a leader this is so whatever happens. Where any survivor may lead it needs \
            a group that stays connected, and to which nobody comes back",
    }
    LeadsAlone = "LEADS-ALONE", "Bellwether" {
        promise: "in a stable system, no two members lead at once for long of which one hears the other, or \
            both of which another hears",
        judged: "while the system is stable and nothing befalls the group, no two up nodes announce themselves for \
            more than c_O = 30τ + 10δ and twice the time that a claim may take, if they are connected with each \
            other, or both with a third that is up. Where only a majority may have a leader, no two do wherever \
            they are",
    }
    AnnouncedOnce = "ANNOUNCED-ONCE", "Bellwether" {
        promise: "whatever befalls a settled group makes one node announce itself, once, or none",
        judged: "from one thing that befalls a settled group until the next, at most one node announces \
            itself, and only once. Settled: all up nodes announce one leader, which is up, and nothing \
            befell the group for max(3τ + 4δ, τ_FD) + 2τ and the time that a claim may take. Things that \
            befall a group: a node crashes, comes up, is asked to do something, is to make way, or stands \
            again. Several of one kind at one instant are one thing; the start is one, too",
    }
    WorkEndsFirst = "WORK-ENDS-FIRST", "Bellwether" {
        promise: "a node gives leadership back when its work as the leader has ended, or has had its time \
            to",
        judged: "no node announces that it has resigned or handed over while its work goes on, unless \
            the release timeout has passed since leadership was asked back. While every message arrived \
            in time, no other node announces itself for that cause either. Leadership that is lost is \
            not given back",
    }
    Answered = "ANSWERED", "Bellwether" {
        promise: "whatever a program asks of its node is answered in bounded time",
        judged: "a node that is asked to resign, stand, transfer or leave answers within the release \
            timeout, its patience for a successor, and τ. It leaves instead of answering if it was asked \
            to. In the same time, a leader whose work was to end and has ended ceases to lead, or its work \
            begins again. A node that crashes or is paused owes nothing any more",
    }
    AnswerTrue = "ANSWER-TRUE", "Bellwether" {
        promise: "a node that answers that it has resigned or handed over has done so",
        judged: "a node that answers that it has resigned has announced, since it was asked or before, that it \
            does not lead. If it answers that it has handed over, the named node has announced itself since \
            then",
    }
    TakenOver = "TAKEN-OVER", "Bellwether" {
        promise: "leadership that is handed to a node of a settled group is taken over",
        judged: "no node answers that the other did not take over, if the group was settled when it was asked \
            (see ANNOUNCED-ONCE) and nothing else has befallen the group since. Priorities make no difference: \
            the program has chosen",
    }
    Preferred = "PREFERRED", "Bellwether" {
        promise: "of the nodes that could lead, one with the highest priority is chosen; a leader that is to \
            make way does",
        judged: "when a node announces itself that was not the last to do so, no node with a higher priority \
            has been there for as long as a group takes to settle, unless a program chose the leader. And from \
            c_L, the delay, 20τ, the time to release leadership, and 50 times that for a claim after the last \
            thing that befell the group, no leader that is to make way for a node with a higher priority leads \
            while one is there",
    }
    Led = "LED", "Bellwether" {
        promise: "while nothing befalls the group, in bounded time, every node that runs announces a leader \
            that runs",
        judged: "from c_L = 2n(2τ + 10δ + τ_FD + the time that a claim may take) after the last thing that \
            befell the group (see ANNOUNCED-ONCE; pauses and cuts are such things, too), every up node \
            that is not paused announces a leader that is up and not paused. A node that stands aside \
            counts as down. It is left open where fewer run than must agree",
    }
    TokenGrows = "TOKEN-GROWS", "Bellwether" {
        promise: "every grant has a token larger than all grants before it, for ever",
        judged: "of all that coordinators learnt to be decided, in the order of their ballots and writes, whoever holds \
            the leadership next has a larger token, and no token is smaller than the one before it. No node holds \
            a smaller token than it held before",
    }
    TokenOnce = "TOKEN-ONCE", "Bellwether" {
        promise: "a token names one holder",
        judged: "in the whole run, all nodes that hold a token, or learnt to whom it was granted, name one node",
    }
    OneHolder = "ONE-HOLDER", "Bellwether" {
        promise: "at no instant do two holders have a grant that is valid",
        judged: "while a node has been told that it may act, and has neither crashed nor announced that it does not \
            lead, no other node is told that it may. Of kind `token` a store decides who may act, and this is not \
            judged",
    }
    Freed = "FREED", "Bellwether" {
        promise: "what was released can be granted at once",
        judged: "within c_F = 4τ + 20δ + 6 writes of the announcement by which a holder gave leadership back, another \
            node announces itself, if nothing befell the group in the meantime, a majority of the voters runs, and \
            somebody else runs who is no witness and was never asked to resign or to leave",
    }
    Granted = "GRANTED", "Bellwether" {
        promise: "while a majority of the voters can speak with each other and somebody stands, somebody leads \
            within a bound",
        judged: "as LED, from c_L + 6·ttl(1 + ρ) + 8 writes after the last thing that befell the group: a lease \
            runs out, voters that restarted wait as long, and whoever learns of a leader forgets it after two. It is \
            left open where fewer voters run than are a majority",
    }
    History = "HISTORY", "Garcia-Molina, section IV.B" {
        promise: "the graph of groups has one root and no cycles, and each number has one record",
        judged: "all nodes that record a group record the same. In the end, every group has parents, each \
            parent was recorded or is the initial group, and no group descends from itself",
    }
    RestrictedOnce = "RESTRICTED-ONCE", "Garcia-Molina, section IV.B" {
        promise: "no restricted operation is committed in two groups",
        judged: "all nodes that report an operation as committed name the same ballot, whatever \
            incarnation and group they are in by then. In the end, a majority of all nodes has voted for \
            that ballot",
    }
    FdComplete = "FD-COMPLETE", "Stoller, section 2, (1)" {
        promise: "a watched node that is down is reported",
        judged: "at the end, no report has been owed for longer than τ_FD. A pause, or too few nodes to \
            agree, delays a report and does not excuse it",
    }
    FdAccurate = "FD-ACCURATE", "Stoller, section 2, (2), and section 6" {
        promise: "only a node that was down, or seemed so, is reported",
        judged: "only a watched node is reported. Since the watch began it has crashed or, less than τ_FD \
            ago, was cut off, paused, held up by its machine, played dead, or had a message lost or late; or it \
            stood aside less than δ ago, and its word of that was under way",
    }
    FdLatency = "FD-LATENCY", "Stoller, section 2" {
        promise: "a watched node that is down is reported within the declared latency",
        judged: "a watched node that stays down is reported within τ_FD of the later of the crash and the \
            start of the watch, if the watcher ran all the time. Where k nodes must agree, enough others \
            ran, and no message was lost or late",
    }
    LinkHistory = "LINK-HISTORY", "Franceschetti and Bruck, section 2" {
        promise: "both ends of a link see the same ups and downs, and neither is far ahead of the other",
        judged: "the ends of a link see the same transitions, one at a time, with the same two \
            incarnations, and neither end is more than two ahead. Within 2(4δ + 3τ) of becoming stable \
            both ends have seen the same, and the link is up just if both nodes are up and can speak with \
            each other. A node that stands aside counts as down",
    }
    ViewAgree = "VIEW-AGREE", "Franceschetti and Bruck, section 1" {
        promise: "all nodes in a view agree on its members and its leader, and the leader is the right \
            one",
        judged: "all nodes that install a view install it with the same members, themselves among them. \
            Its leader is the lightest of the members that are not dead and come with it from the view \
            before",
    }
    OneLeaderPerView = "ONE-LEADER-PER-VIEW", "Franceschetti and Bruck, theorems 3.1 and 3.2" {
        promise: "no view has two leaders",
        judged: "at every change and at the end of every instant, all nodes that are normal in a view \
            name one leader, which formed it",
    }
    OneViewOrDead = "ONE-VIEW-OR-DEAD", "Franceschetti and Bruck, section 1" {
        promise: "a node is in one view or dead, and goes from one view to the next in order",
        judged: "at every change and at the end of every instant, an up node is either dead, and then \
            names no leader, or in the view that it installed last. Each view that it installs is later \
            than the one before, in all its incarnations",
    }
    FakeClean = "FAKE-CLEAN", "Franceschetti and Bruck, theorem 3.3" {
        promise: "failures that only some nodes perceive, and that pass, leave no trace",
        judged: "whoever a new view leaves out was missed by all members that come with the leader and \
            are not dead, at some time since they installed the old view, or since as long before as a \
            write to disk may take. Within 4(4δ + 3τ) of becoming stable, if all up nodes can speak with each other and are normal in one view of just them, no \
            node remembers anything about a change",
    }
}

impl Property {
    /// The name used in files and reports.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The document and section that states it.
    pub const fn origin(self) -> &'static str {
        self.declaration().origin
    }

    /// What it says.
    pub const fn promise(self) -> &'static str {
        self.declaration().promise
    }

    /// What a checker demands of a finite run.
    pub const fn judged(self) -> &'static str {
        self.declaration().judged
    }

    /// The property of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
