"""The thread that reads a session's events, and comes back when the stream breaks."""

from __future__ import annotations

import logging
import math
import threading
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import quote

from . import clock
from .campaign import Campaign, beside
from .errors import (
    BadRequest,
    BellwetherError,
    Conflict,
    Forbidden,
    NotAnAgent,
    NotFound,
    Refused,
    SessionOver,
    TooLarge,
    Unavailable,
    Unreachable,
)
from .stream import Event, Stream

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("bellwether")

#: How long is waited before an agent is tried again: at first, and at most.
RETRY_MIN = 0.02
RETRY_MAX = 0.5
#: For how long what a store decides is held without an agent, unless the session says.
KEEP_MS = 10_000
#: Why the agent ends a stream that is not to be resumed: it was closed, or goes on elsewhere.
FINAL = ("closed", "taken-over")


class Reader:
    """What a session knows of its stream."""

    def __init__(self, session: Session, keep: Optional[str]) -> None:
        self.id = ""
        self.secret = ""
        self.death = ""
        self._keep = keep
        self._keep_ms = KEEP_MS
        self._session = session
        self._stream: Optional[Stream] = None
        self._thread = threading.Thread(target=self._run, name="bellwether-session", daemon=True)

    def begin(self) -> None:
        """Opens the first stream, and reads on."""
        self._open(self._keeping())
        self._thread.start()

    def end(self, timeout: float) -> None:
        """Reads no more."""
        with self._session.lock:
            stream = self._stream
        if stream is not None:
            stream.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def post(self, campaign: Campaign) -> None:
        """Asks the agent for a campaign."""
        self._session.ask("POST", f"campaign/{quote(campaign.name, safe='')}", campaign.wishes)

    def _run(self) -> None:
        stream = self._stream
        while stream is not None:
            why = self._follow(stream)
            stream.finish()
            stream = self._come_back(why)

    def _follow(self, stream: Stream) -> str:
        """Until it ends, and why it did."""
        try:
            while True:
                event = stream.next()
                if event is None:
                    return "the stream ended"
                with self._session.lock:
                    if event.name == "end":
                        return str(event.data["why"])
                    self._heed(event)
        except (OSError, BellwetherError) as error:
            return str(error)
        except (KeyError, TypeError, ValueError) as error:
            return f"an event could not be understood: {error!r}"

    def _heed(self, event: Event) -> None:
        data, session = event.data, self._session
        if event.name == "valid" and "name" not in data:
            for each in list(session.campaigns.values()):
                self._extend(each, None, data)
            return
        name = data.get("name")
        campaign = session.campaigns.get(name)
        if campaign is None:
            if event.name == "elected":
                beside("bellwether-give-back", lambda: self._give_back(name))
        elif not campaign.is_wanted:
            beside("bellwether-give-back", campaign.give_back)
        elif event.name == "waiting":
            campaign.waits(data["kind"], data["position"])
        elif event.name == "elected":
            campaign.elected(data["kind"], int(data["token"]), self._deadline(data))
            session.validity_is_due()
        elif event.name == "valid":
            self._extend(campaign, int(data["token"]), data)
        elif event.name == "asked_back":
            campaign.asked_back(int(data["token"]), data["why"])
        elif event.name == "lost":
            campaign.lost(int(data["token"]), data["why"])

    def _extend(self, campaign: Campaign, token: Optional[int], data: Any) -> None:
        deadline = self._deadline(data)
        if deadline is not None:
            campaign.valid(token, deadline)
        self._session.validity_is_due()

    def _deadline(self, data: Any) -> Optional[int]:
        """What the event says of it, if that is on the clock of this machine."""
        deadline = data.get("valid_until") if self._session.calls.door.tells_deadlines else None
        return None if deadline is None else int(deadline)

    def _give_back(self, name: str) -> None:
        """The name was given up while the agent could not be told."""
        with self._session.asking:
            with self._session.lock:
                if name in self._session.campaigns:
                    return  # It is campaigned for anew.
            try:
                self._session.ask("DELETE", f"campaign/{quote(name, safe='')}")
            except BellwetherError as error:
                log.debug("%r could not be given back: %s", name, error)

    def _come_back(self, why: str) -> Optional[Stream]:
        """The next stream; none if the session is over."""
        if not self._survives(why):
            return None
        log.info("the stream of session %s ended (%s): coming back", self.id, why)
        delay = 0.0
        while True:
            with self._session.lock:
                if self._session.lock.wait_for(lambda: self._session.is_closed, delay):
                    return None
            try:
                with self._session.asking:
                    return self._go_on()
            except (Unreachable, NotAnAgent, Unavailable, Conflict) as error:
                log.debug("the agent is not there yet: %s", error)
            except BellwetherError as error:
                self._session.fail(str(error))
                return None
            delay = min(max(2 * delay, RETRY_MIN), RETRY_MAX)

    def _survives(self, why: str) -> bool:
        """Notes that the stream ended. Whether another is to follow."""
        session = self._session
        with session.lock:
            if session.is_closed:
                return False
            if why in FINAL:
                session.fail(why)
                return False
            keep_until = clock.now() + self._keep_ms * 1000
            for campaign in list(session.campaigns.values()):
                campaign.cut_off(keep_until)
            return True

    def _go_on(self) -> Optional[Stream]:
        """One attempt: what is held is held on to, and what is waited for is asked for again."""
        session = self._session
        stream = self._reopen()
        try:
            self._ask_again()
        except BaseException:
            stream.finish()
            raise
        with session.lock:
            if not session.is_closed:
                return stream
        session.give_back()
        stream.finish()
        return None

    def _reopen(self) -> Stream:
        held = self._held()
        try:
            return self._open({"resume": self._resume(held)} if held else self._keeping())
        except Conflict as error:
            if held:
                raise
            raise SessionOver(f"the agent takes no session any more: {error.reason}") from error
        except (BadRequest, Forbidden, NotFound, TooLarge) as error:
            if not held:
                raise
            self._lose(held, f"its agent does not know it any more: {error.reason}")
            return self._open(self._keeping())

    def _ask_again(self) -> None:
        session = self._session
        with session.lock:
            wanted = [campaign for campaign in session.campaigns.values() if campaign.is_wanted]
            waiting = [campaign for campaign in wanted if campaign.held is None]
        for campaign in waiting:
            self._post_again(campaign, is_alone=len(waiting) == len(wanted))

    def _held(self) -> list[Campaign]:
        with self._session.lock:
            return [campaign for campaign in self._session.campaigns.values() if campaign.held is not None]

    def _lose(self, campaigns: list[Campaign], why: str) -> None:
        with self._session.lock:
            for campaign in campaigns:
                held = campaign.held
                if held is not None:
                    held.lose(why)

    def _keeping(self) -> Optional[dict[str, Any]]:
        return None if self._keep is None else {"keep": self._keep}

    def _resume(self, held: list[Campaign]) -> dict[str, Any]:
        """What proves the session, and what it relies on."""
        with self._session.lock:
            holds = [(campaign.name, leadership) for campaign in held for leadership in [campaign.held] if leadership]
            deadlines = [leadership.expires_at() for _, leadership in holds if leadership.kind != "token"]
            latest = max((deadline for deadline in deadlines if deadline is not None), default=None)
            resume: dict[str, Any] = {
                "session": self.id,
                "secret": self.secret,
                "holds": [{"name": name, "token": leadership.token} for name, leadership in holds],
            }
            if self._session.bound:
                resume["bound"] = list(self._session.bound)
        if latest is not None and self._session.calls.door.tells_deadlines:
            resume["valid_until"] = latest
        elif latest is not None:
            resume["valid_ms"] = max(0, math.ceil((latest - clock.now()) / 1000))
        return resume

    def _post_again(self, campaign: Campaign, is_alone: bool) -> None:
        """Asks for a campaign in a session that may know of it already, with another place among those who wait. If it cannot be
        had now, and nothing is held, the session can begin anew: closing it gives nothing up."""
        try:
            try:
                self.post(campaign)
            except Conflict:
                self._session.ask("DELETE", f"campaign/{quote(campaign.name, safe='')}")
                self.post(campaign)
        except BellwetherError as error:
            if is_alone and not isinstance(error, Refused):
                raise
            with self._session.lock:
                campaign.end(error)

    def _open(self, body: Optional[dict[str, Any]]) -> Stream:
        stream = self._session.calls.stream("POST", "/v1/session", body)
        try:
            event = stream.first()
            if event is None or event.name != "session":
                raise NotAnAgent(f"{stream.where}: found {event!r}, expected the event `session`")
            data = event.data
            with self._session.lock:
                self.id, self.secret, self.death = str(data["session"]), str(data["secret"]), str(data["death"])
                self._keep_ms = int(data["keep_ms"])
                self._stream = stream
            return stream
        except OSError as error:
            stream.finish()
            raise Unreachable(f"{stream.where}: the stream broke off: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            stream.finish()
            raise NotAnAgent(f"{stream.where}: an event could not be understood: {error!r}") from error
        except BaseException:
            stream.finish()
            raise
