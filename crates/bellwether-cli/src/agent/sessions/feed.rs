//! A stream of events, from whoever tells to whoever reads. What is not read is kept, up to a bound.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::schema::elections::Event;

/// So many bytes may wait for a reader.
const UNREAD_MAX: usize = 64 * 1024;
/// And so many more for each campaign of a session: when an agent dies, many names change hands at once.
const UNREAD_EACH: usize = 256;
/// While nothing is told, a reader gets a sign of life this often at least.
pub(super) const ALIVE: Duration = Duration::from_secs(5);

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As server-sent events.
    Sse,
    /// An object for each line.
    Lines,
}

/// A stream.
#[derive(Debug)]
pub(crate) struct Feed {
    form: Form,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    unread: Vec<u8>,
    /// Nothing more is told.
    ended: bool,
    told: Instant,
    reader: Option<Waker>,
}

/// More is unread than may be. Nothing more is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSlow;

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The agent ends.
    AgentEnds,
    /// The session has another stream now.
    TakenOver,
    /// What it was about has ended.
    Closed,
    /// It is not read.
    TooSlow,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::AgentEnds => "agent-ends",
            Self::TakenOver => "taken-over",
            Self::Closed => "closed",
            Self::TooSlow => "too-slow",
        }
    }
}

impl Form {
    fn event(self, event: &Event) -> Vec<u8> {
        let mut said = json!(event);
        match self {
            Self::Lines => format!("{said}\n"),
            Self::Sse => {
                let name = said.as_object_mut().and_then(|said| said.remove("event"));
                let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
                format!("event: {name}\ndata: {said}\n\n")
            }
        }
        .into_bytes()
    }

    /// What says nothing but that somebody is there.
    fn nothing(self) -> &'static [u8] {
        match self {
            Self::Sse => b":\n\n",
            Self::Lines => b"\n",
        }
    }
}

impl Feed {
    pub(super) fn new(form: Form) -> Arc<Self> {
        let inner = Inner { unread: Vec::new(), ended: false, told: Instant::now(), reader: None };
        Arc::new(Self { form, inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What is in it is whole between any two lines that change it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that. Nobody hears it if the stream has ended.
    pub(crate) fn tell(&self, event: &Event) -> Result<(), TooSlow> {
        self.tell_one_of(event, 0)
    }

    /// The same of a session that has so many campaigns.
    pub(super) fn tell_one_of(&self, event: &Event, campaigns: usize) -> Result<(), TooSlow> {
        let said = self.form.event(event);
        let mut inner = self.inner();
        if inner.ended {
            return Ok(());
        }
        if inner.unread.len() + said.len() > UNREAD_MAX + UNREAD_EACH * campaigns {
            inner.end(self.form, End::TooSlow);
            return Err(TooSlow);
        }
        inner.say(&said);
        Ok(())
    }

    /// Says that somebody is there, if nothing was said for a while.
    pub(super) fn stay_alive(&self, now: Instant) {
        let mut inner = self.inner();
        // The next look may come a little late.
        let silent = now.saturating_duration_since(inner.told) + ALIVE / 4 >= ALIVE;
        if silent && !inner.ended && inner.unread.is_empty() {
            inner.say(self.form.nothing());
        }
    }

    /// Ends the stream.
    pub(crate) fn end(&self, why: End) {
        let mut inner = self.inner();
        if !inner.ended {
            inner.end(self.form, why);
        }
    }

    /// Whether all has been read that was told.
    pub(super) fn is_read(&self) -> bool {
        self.inner().unread.is_empty()
    }

    /// Nobody reads any more.
    pub(crate) fn is_left(&self) {
        let mut inner = self.inner();
        inner.ended = true;
        inner.unread = Vec::new();
    }

    /// What is unread; `None` when nothing more comes.
    pub(crate) fn poll_read(&self, cx: &Context<'_>) -> Poll<Option<Result<Vec<u8>, Infallible>>> {
        let mut inner = self.inner();
        if !inner.unread.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut inner.unread))));
        }
        if inner.ended {
            return Poll::Ready(None);
        }
        inner.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Inner {
    fn say(&mut self, said: &[u8]) {
        self.unread.extend_from_slice(said);
        self.told = Instant::now();
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn end(&mut self, form: Form, why: End) {
        self.say(&form.event(&Event::End { why: why.name().to_owned() }));
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> Event {
        Event::Waiting { name: "backup".to_owned(), kind: "lease".to_owned(), position: Some(2) }
    }

    fn read(feed: &Feed) -> Option<String> {
        match feed.poll_read(&Context::from_waker(Waker::noop())) {
            Poll::Ready(read) => read.map(|Ok(bytes)| String::from_utf8(bytes).unwrap()),
            Poll::Pending => Some(String::new()),
        }
    }

    #[test]
    fn events_are_written_in_both_forms() {
        let said = r#"{"kind":"lease","name":"backup","position":2}"#;
        for (form, expected) in [
            (Form::Sse, format!("event: waiting\ndata: {said}\n\n")),
            (Form::Lines, format!("{}\n", said.replacen('{', "{\"event\":\"waiting\",", 1))),
        ] {
            let feed = Feed::new(form);
            assert_eq!(read(&feed), Some(String::new()));
            feed.tell(&waiting()).unwrap();
            assert_eq!(read(&feed), Some(expected));
            feed.end(End::Closed);
            assert!(read(&feed).unwrap().contains("closed") && read(&feed).is_none());
            feed.tell(&waiting()).unwrap();
            assert_eq!(read(&feed), None, "nothing comes after the end");
        }
    }

    #[test]
    fn a_time_is_absent_elsewhere_and_null_where_no_clock_decides() {
        for (valid_until, expected) in
            [(None, ""), (Some(None), ",\"valid_until\":null"), (Some(Some(7)), ",\"valid_until\":7")]
        {
            let event = Event::Valid { name: Some("a".to_owned()), token: Some(3), valid_until };
            let feed = Feed::new(Form::Sse);
            feed.tell(&event).unwrap();
            let data = format!("data: {{\"name\":\"a\",\"token\":3{expected}}}\n");
            assert!(read(&feed).unwrap().contains(&data), "{data}");
        }
    }

    #[test]
    fn what_is_not_read_is_bounded() {
        let feed = Feed::new(Form::Lines);
        let told = (0..10_000).take_while(|_| feed.tell(&waiting()).is_ok()).count();
        assert!(told > 500 && told < UNREAD_MAX / 50, "{told}");
        let unread = read(&feed).unwrap();
        assert!(
            unread.len() < UNREAD_MAX + 100 && unread.ends_with("{\"event\":\"end\",\"why\":\"too-slow\"}\n")
        );
        assert_eq!(read(&feed), None);
    }

    #[test]
    fn a_session_with_many_campaigns_may_be_told_of_all_of_them_at_once() {
        let feed = Feed::new(Form::Sse);
        let campaigns = 30_000;
        assert!((0..2 * campaigns).all(|_| feed.tell_one_of(&waiting(), campaigns).is_ok()));
        assert!(
            (0..4 * campaigns).any(|_| feed.tell_one_of(&waiting(), campaigns).is_err()),
            "but not for ever"
        );
    }

    #[test]
    fn a_sign_of_life_is_for_those_that_hear_nothing_else() {
        let feed = Feed::new(Form::Sse);
        let now = Instant::now();
        feed.stay_alive(now + Duration::from_secs(3));
        assert_eq!(read(&feed), Some(String::new()));
        feed.stay_alive(now + Duration::from_secs(4));
        assert_eq!(read(&feed).as_deref(), Some(":\n\n"));
        feed.tell(&waiting()).unwrap();
        feed.stay_alive(now + Duration::from_secs(60));
        assert!(read(&feed).unwrap().ends_with("}\n\n"), "there is something to read");
    }
}
