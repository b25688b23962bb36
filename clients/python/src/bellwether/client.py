"""What a program asks of its agent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Optional, TypeVar, Union
from urllib.parse import quote

from . import door
from .calls import Calls
from .errors import BadSettings, Lost, NotAnAgent, NotFound, Unavailable, Unreachable
from .leadership import Leadership, OnLost
from .records import Election
from .session import Session
from .stream import Event, Stream

T = TypeVar("T")

#: How many elections are asked for at a time.
PAGE = 100
#: How long is waited before a stream that broke is asked for again: at first, and at most.
RETRY_MIN = 0.05
RETRY_MAX = 2.0


class Client:
    """An agent: at its Unix socket, or at the address of its API, with the token that changes need there.

    What is not given is taken from `BELLWETHER_SOCKET`, `BELLWETHER_API` and `BELLWETHER_TOKEN`.
    """

    def __init__(
        self, *, socket: Optional[str] = None, api: Optional[str] = None, token: Optional[str] = None
    ) -> None:
        token = os.environ.get("BELLWETHER_TOKEN") if token is None else token
        self._calls = Calls(door.find(socket, api), token or None)

    def election(
        self,
        name: str,
        *,
        kind: Optional[str] = None,
        value: Optional[str] = None,
        priority: Optional[int] = None,
        keep: Union[None, str, float] = None,
        timeout: Optional[float] = None,
        on_lost: Optional[OnLost] = None,
    ) -> Candidate:
        """A candidate for that name. `with` it the name is held."""
        wishes = {"kind": kind, "value": value, "priority": priority, "on_lost": on_lost}
        return Candidate(self._calls, name, wishes, keep, timeout)

    def session(self, *, keep: Union[None, str, float] = None) -> Session:
        """For programs that hold many names: one stream for all of them."""
        return Session(self._calls, keep)

    def elections(self, *, after: Optional[str] = None) -> Iterator[Election]:
        """All elections, in the byte order of their names, or those after that name."""
        while True:
            place = "" if after is None else f"&after={quote(after, safe='')}"
            page = self._calls.get(f"/v1/elections?limit={PAGE}{place}")
            yield from map(Election.read, page["elections"])
            after = page["next"]
            if after is None:
                return

    def get(self, name: str, *, quorum: bool = False) -> Optional[Election]:
        """One election as its agent knows it, or as a majority does; none if there is no such election."""
        try:
            return Election.read(self._calls.get(_path(name) + ("?read=quorum" if quorum else "")))
        except NotFound:
            return None

    def observe(self, name: str) -> Iterator[Optional[Election]]:
        """The election as it is, and as it is after each change; none while there is none. If the stream breaks, it is asked for
        again: what changed meanwhile is told once."""
        told: Optional[tuple[Any, ...]] = None
        for event in self._events(_path(name) + "/watch", None):
            if event.name not in ("election", "none"):
                continue
            now = Election.read(event.data) if event.name == "election" else None
            new = () if now is None else (now.kind, now.token, now.holder, now.value, now.waiting, now.since)
            if new != told:
                told = new
                yield now

    def watch(self, after: Optional[int] = None) -> Iterator[Event]:
        """What happens to the leadership of the cluster itself: a `status`, and then each `change`. If the stream breaks, it goes
        on after the last change that was told."""
        return self._events("/v1/watch", None if after is None else str(after))

    def status(self) -> dict[str, Any]:
        """What the agent says of itself."""
        answer: dict[str, Any] = self._calls.get("/v1/status")
        return answer

    def check(self, name: str, token: int) -> float:
        """For how many seconds from when this was called that token is valid; raises :class:`Conflict` if it is not."""
        answer = self._calls.get(f"{_path(name)}/check?token={token}")
        return float("inf") if answer["valid_ms"] is None else float(answer["valid_ms"]) / 1000

    def proclaim(self, name: str, token: int, value: str) -> Election:
        """Has the holder with that token, which must hold it through this agent, proclaim that."""
        return Election.read(self._calls.change("PUT", _path(name) + "/value", {"token": token, "value": value}))

    def resign(self, name: str, *, token: Optional[int] = None) -> Election:
        """Asks the holder to give it back, and waits for that. Only the holder's agent can be asked."""
        body = {} if token is None else {"token": token}
        return Election.read(self._calls.change("POST", _path(name) + "/resign", body))

    def transfer(self, name: str, to: int, *, token: Optional[int] = None) -> Election:
        """The same, and the first who waits at that node is next."""
        body = {"to": to} if token is None else {"to": to, "token": token}
        return Election.read(self._calls.change("POST", _path(name) + "/transfer", body))

    def delete(self, name: str) -> None:
        """Forgets an election that nobody holds or waits for."""
        self._calls.change("DELETE", _path(name))

    def _events(self, path: str, after: Optional[str]) -> Iterator[Event]:
        """All events, over as many streams as it takes. The first must come about."""
        stream = self._calls.stream("GET", path, after=after)
        while True:
            try:
                event = stream.first()
                while event is not None and event.name != "end":
                    after = event.id or after
                    yield event
                    event = stream.next()
            except OSError:
                pass  # It broke off, and is asked for again.
            finally:
                stream.finish()
            stream = self._next_stream(path, after)

    def _next_stream(self, path: str, after: Optional[str]) -> Stream:
        delay = RETRY_MIN
        while True:
            time.sleep(delay)
            try:
                return self._calls.stream("GET", path, after=after)
            except (Unavailable, Unreachable, NotAnAgent):
                delay = min(2 * delay, RETRY_MAX)


class Candidate:
    """A candidate for a name. `with` it the name is held: entering waits until it is, leaving gives it back. It can be used
    again."""

    def __init__(
        self,
        calls: Calls,
        name: str,
        wishes: dict[str, Any],
        keep: Union[None, str, float],
        timeout: Optional[float],
    ) -> None:
        self.name = name
        self._calls = calls
        self._wishes = wishes
        self._keep = keep
        self._timeout = timeout
        self._sessions: list[Session] = []

    def __enter__(self) -> Leadership:
        session = Session(self._calls, self._keep)
        try:
            leadership = session.campaign(self.name, **self._wishes).wait(self._timeout)
        except BaseException:
            session.close()
            raise
        self._sessions.append(session)
        return leadership

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], at: Optional[TracebackType]
    ) -> None:
        self._sessions.pop().close()

    def run(self, work: Callable[[Leadership], T]) -> T:
        """Works whenever it is elected, until the work is done: it returned while nobody had told it to stop. Work that was
        interrupted by the loss of the leadership begins anew with the next one."""
        while True:
            with self as leadership:
                try:
                    result = work(leadership)
                except Lost as lost:
                    if lost.name != self.name or not leadership.stop.is_set():
                        raise
                    continue
                if not leadership.stop.is_set():
                    return result


def election(
    name: str,
    *,
    socket: Optional[str] = None,
    api: Optional[str] = None,
    token: Optional[str] = None,
    kind: Optional[str] = None,
    value: Optional[str] = None,
    priority: Optional[int] = None,
    keep: Union[None, str, float] = None,
    timeout: Optional[float] = None,
    on_lost: Optional[OnLost] = None,
) -> Candidate:
    """A candidate for that name, at that agent::

        with election("backup", socket="/run/bellwether.sock") as leadership:
            while not leadership.stop.is_set():
                store.write(next_row(), token=leadership.check())
    """
    client = Client(socket=socket, api=api, token=token)
    return client.election(
        name, kind=kind, value=value, priority=priority, keep=keep, timeout=timeout, on_lost=on_lost
    )


def _path(name: str) -> str:
    if not name:
        raise BadSettings("found an empty name, expected that of an election")
    return f"/v1/elections/{quote(name, safe='')}"
