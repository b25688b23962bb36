"""One candidacy of a session for one name. It leads to one leadership at most."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import quote

from . import clock
from .calls import ANSWER_TIMEOUT
from .errors import BellwetherError, Lost, NotElected, NotFound, SessionOver
from .leadership import RELEASED, Leadership, OnLost

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("bellwether")


class Campaign:
    """Waits for a name, or holds it, until it is closed. Sessions make them."""

    def __init__(self, session: Session, name: str, wishes: dict[str, Any], on_lost: Optional[OnLost]) -> None:
        self.session = session
        self.name = name
        self.wishes = wishes
        #: `lease` or `token`, once that is known.
        self.kind: Optional[str] = wishes.get("kind")
        #: The place among those who wait, from 1; none while it is not known.
        self.position: Optional[int] = None
        self.lock = session.lock
        self._on_lost = on_lost
        self._leadership: Optional[Leadership] = None
        self._failure: Optional[BellwetherError] = None
        self._closed = False
        #: A token that was granted, and of which it is not known yet for how long it is valid.
        self._granted: Optional[int] = None
        #: Whether the present stream told that it is held. What an earlier one told goes on, and is not extended by this one.
        self._confirmed = False
        self._giving_back = threading.Lock()
        self._given_back = False

    def wait(self, timeout: Optional[float] = None) -> Leadership:
        """Waits until the name is held. Whoever waited too long still waits at the agent: ask again, or close."""
        with self.lock:
            settled = self.lock.wait_for(lambda: self._leadership is not None or self._failure is not None, timeout)
            if self._failure is not None:
                raise self._failure
            if not settled or self._leadership is None:
                raise NotElected(self.name, timeout or 0.0, self.position)
            return self._leadership

    def close(self) -> None:
        """Gives the name back, or waits for it no more."""
        with self.lock:
            self.end(None)
        self.give_back()

    def __enter__(self) -> Leadership:
        try:
            return self.wait()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], at: Optional[TracebackType]
    ) -> None:
        self.close()

    def proclaim(self, token: int, value: str) -> None:
        """Has the holder proclaim that."""
        path = f"/v1/elections/{quote(self.name, safe='')}/value"
        self.session.calls.change("PUT", path, {"token": token, "value": value})

    def give_back(self) -> None:
        """Tells the agent that it is over, once. Whoever comes second waits for the first."""
        with self._giving_back:
            if self._given_back or self.session.is_closed:
                return
            try:
                self.session.ask("DELETE", f"campaign/{quote(self.name, safe='')}", timeout=ANSWER_TIMEOUT)
            except NotFound:
                pass  # The agent knows that it is over.
            except BellwetherError as error:
                log.warning("%r could not be given back: %s", self.name, error)
            self._given_back = True
        self.session.forget(self)

    # What follows is for the session, which holds the lock.

    @property
    def is_wanted(self) -> bool:
        """Whether it waits or holds."""
        return not self._closed and (self._leadership is None or self._leadership.is_held())

    @property
    def held(self) -> Optional[Leadership]:
        """What it holds."""
        is_held = self._leadership is not None and self._leadership.is_held()
        return self._leadership if is_held else None

    @property
    def unasked(self) -> Optional[int]:
        """The token of which it must be asked for how long it is valid, where that is not told."""
        is_told = self._confirmed and self.kind != "token" and not self._closed
        return self._granted if is_told else None

    def waits(self, kind: str, position: Optional[int]) -> None:
        """It waits, at that place."""
        self.kind = kind
        self.position = position

    def elected(self, kind: str, token: int, valid_until: Optional[int]) -> None:
        """The name is held. Where deadlines are not told, validity is to be asked for."""
        self.kind = kind
        self._confirmed = True
        self._granted = token
        if kind == "token":
            self.told(token, clock.NEVER)
        elif valid_until is not None:
            self.told(token, valid_until)

    def valid(self, token: Optional[int], valid_until: int) -> None:
        """What the stream told to be held is valid at least until then."""
        if self._confirmed and self.kind != "token" and self._granted is not None and token in (None, self._granted):
            self.told(self._granted, valid_until)

    def told(self, token: int, valid_until: int) -> None:
        """The grant with that token is valid at least until then."""
        if self._closed or token != self._granted:
            return
        if self._leadership is not None:
            self._leadership.extend(token, valid_until)
        elif clock.now() < valid_until:
            self._leadership = Leadership(self, token, valid_until)
        self.lock.notify_all()

    def asked_back(self, token: int, why: str) -> None:
        """Somebody asks for it."""
        if self._leadership is not None and token == self._granted:
            self._leadership.ask_back(why)

    def lost(self, token: int, why: str) -> None:
        """The agent says that it is not held any more."""
        if token != self._granted:
            return
        self._granted = None
        if self._leadership is not None:
            self._leadership.lose(why)

    def cut_off(self, keep_until: int) -> None:
        """The stream has ended. What is held without a deadline is held until then, unless the next stream tells more."""
        self._confirmed = False
        self.position = None
        if self._leadership is None:
            self._granted = None
        elif self.kind == "token":
            self._leadership.bound(keep_until)
            self.lock.notify_all()

    def end(self, failure: Optional[BellwetherError]) -> None:
        """It neither waits nor holds any more: it was closed, or that failure says why not."""
        if self._closed:
            return
        if self._leadership is not None:
            self._leadership.lose(RELEASED if failure is None else str(failure))
        self._closed = True
        self._failure = failure or SessionOver(f"the campaign for {self.name!r} was closed")
        self.lock.notify_all()

    def is_over(self, lost: Optional[Lost]) -> None:
        """What it held is over. If it was lost, the agent would let it wait again; nobody here would know of that."""
        self._closed = True
        self.lock.notify_all()
        if lost is None:
            return
        beside("bellwether-give-back", self.give_back)
        on_lost = self._on_lost
        if on_lost is not None:
            beside("bellwether-on-lost", lambda: on_lost(lost))


def beside(name: str, work: Callable[[], object]) -> None:
    """Does it on a thread of its own: neither events nor the clock wait for it."""
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except RuntimeError:
        pass  # The interpreter is ending, and with it the session.
