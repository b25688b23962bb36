"""Elections as one agent keeps them that has nobody to ask: what the stand-in answers from."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from bellwether import clock

NODE = 1
KEEP_MS = 10_000
VALUE_MAX = 4096
NAME_MAX = 255
KINDS = ("lease", "token")
#: What ends a stream without a word.
CUT = ("cut", None)


class Problem(Exception):
    """Why a request is not met."""

    def __init__(self, status: int, error: str, **more: Any) -> None:
        super().__init__(error)
        self.status = status
        self.answer = {"error": error, **more}


@dataclass(eq=False)
class Campaign:
    no: int
    session: Session
    name: str
    kind: str
    value: str
    priority: int
    #: Whether it left the queue because nobody reads what it is told.
    away: bool = False
    token: Optional[int] = None
    asked_back: bool = False


@dataclass(eq=False)
class Session:
    """A session, and the events that it has not been told yet."""

    id: str
    secret: str
    keep_ms: int
    certain: bool
    processes: list[int]
    events: queue.Queue[tuple[str, Any]] = field(default_factory=queue.Queue)
    campaigns: dict[str, Campaign] = field(default_factory=dict)
    told_until: int = 0
    kept_until: int = 0
    streams: int = 1
    #: Whether its stream is that of one campaign.
    is_single: bool = False

    def tell(self, event: str, **data: Any) -> None:
        self.events.put((event, data))


@dataclass(eq=False)
class Name:
    name: str
    kind: str
    token: int = 0
    holder: Optional[Campaign] = None
    waiting: list[Campaign] = field(default_factory=list)
    value: str = ""
    since: str = ""


class Names:
    """All of them. Every method takes the lock."""

    def __init__(self, ttl: float, release_timeout: float) -> None:
        self.lock = threading.Condition()
        self.ttl_us = round(ttl * 1e6)
        self.release_timeout = release_timeout
        self.exclusive = True
        self.renews = True
        self.valid_until = clock.now() + self.ttl_us
        self.names: dict[str, Name] = {}
        self.sessions: dict[str, Session] = {}
        #: What sessions of the process before held: the secret, and the token of each name.
        self.before: dict[str, tuple[str, dict[str, int]]] = {}
        self.watchers: list[tuple[str, queue.Queue[tuple[str, Any]]]] = []
        self._campaigns = 0

    # Time.

    def tick(self) -> None:
        """Puts the lease off, and gives back what nobody came back for."""
        with self.lock:
            now = clock.now()
            if self.renews:
                self.valid_until = now + self.ttl_us
            for session in list(self.sessions.values()):
                if session.streams == 0 and now >= max(session.told_until, session.kept_until):
                    self._end(session)
                elif session.streams > 0 and self.is_valid():
                    self._tell_valid(session)
            if not self.is_valid():
                for name in self.names.values():
                    if name.kind == "lease" and name.holder is not None:
                        self._lose(name, "lease", wait=True)

    def is_valid(self) -> bool:
        return clock.now() < self.valid_until

    def _tell_valid(self, session: Session) -> None:
        held = [one for one in session.campaigns.values() if one.token is not None and one.kind == "lease"]
        if held:
            session.told_until = self.valid_until
            of_which = {"name": held[0].name, "token": held[0].token} if session.is_single else {}
            session.tell("valid", **of_which, valid_until=self.valid_until)

    # Sessions.

    def open(self, body: dict[str, Any], certain: bool, process: int) -> Session:
        with self.lock:
            known(body, "keep", "resume")
            resume = body.get("resume")
            if resume is not None:
                return self._resume(resume, certain, process)
            return self._open(milliseconds(body.get("keep")), certain, process)

    def _open(self, keep_ms: int, certain: bool, process: int) -> Session:
        session = Session(str(secrets.randbits(53)), secrets.token_hex(32), keep_ms, certain, [process])
        self.sessions[session.id] = session
        self._introduce(session)
        return session

    def _introduce(self, session: Session) -> None:
        death = "certain" if session.certain else "presumed"
        session.tell(
            "session", session=session.id, secret=session.secret, death=death, node=NODE, keep_ms=session.keep_ms
        )

    def _resume(self, resume: dict[str, Any], certain: bool, process: int) -> Session:
        known(resume, "session", "secret", "valid_until", "valid_ms", "holds", "bound")
        present = self.sessions.get(resume["session"])
        if present is not None:
            if present.secret != resume["secret"]:
                raise Problem(403, "the secret is not that of the session")
            present.events.put(("end", {"why": "taken-over"}))
            present.events = queue.Queue()
            present.streams += 1
            present.is_single = False
            self._introduce(present)
            for campaign in list(present.campaigns.values()):
                self._tell(campaign)
                if campaign.away:
                    campaign.away = False
                    self._wait(self.names[campaign.name], campaign)
            return present
        secret, held = self.before.get(resume["session"], ("", {}))
        if not held or secret != resume["secret"]:
            raise Problem(404, f"there is no session {resume['session']}")
        told = resume.get("valid_until") or clock.now() + 1000 * (resume.get("valid_ms") or 0)
        if self.valid_until < told:
            raise Problem(409, "this agent's lease is not valid for long enough yet")
        session = self._open(KEEP_MS, certain, process)
        session.processes += resume.get("bound", [])
        for hold in resume["holds"]:
            name = self.names.get(hold["name"])
            if name is not None and held.get(hold["name"]) == hold["token"] == name.token and name.holder is None:
                campaign = self._campaign(session, name.name, name.kind, name.value, 0)
                self._grant(name, campaign)
            else:
                session.tell("lost", name=hold["name"], token=hold["token"], why="lease")
        del self.before[resume["session"]]
        return session

    def session(self, number: str) -> Session:
        found = self.sessions.get(number)
        if found is None:
            raise Problem(404, f"there is no session {number}")
        return found

    def stream_ended(self, session: Session, by_agent: bool) -> None:
        """If its client closed it, and its process is watched, everything is given back by that."""
        with self.lock:
            session.streams -= 1
            if session.streams == 0 and session.certain and not by_agent and len(session.processes) == 1:
                self._end(session)
            for campaign in session.campaigns.values() if session.streams == 0 else []:
                if campaign in self.names[campaign.name].waiting:
                    campaign.away = True
                    self.names[campaign.name].waiting.remove(campaign)
                    self._positions(self.names[campaign.name])
            if any(campaign.token and campaign.kind == "token" for campaign in session.campaigns.values()):
                session.kept_until = clock.now() + session.keep_ms * 1000

    def close(self, session: Session) -> None:
        with self.lock:
            self._end(session)
            session.events.put(("end", {"why": "closed"}))

    def _end(self, session: Session) -> None:
        self.sessions.pop(session.id, None)
        for campaign in list(session.campaigns.values()):
            self._withdraw(campaign)

    # Campaigns.

    def campaign(self, session: Session, name: str, body: dict[str, Any]) -> int:
        with self.lock:
            known(body, "kind", "value", "priority", "keep")
            wanted, value, priority = body.get("kind"), body.get("value") or "", body.get("priority") or 0
            if wanted not in (None, *KINDS):
                raise Problem(400, f"kind: found {wanted!r}, expected `lease` or `token`")
            if not isinstance(priority, int) or not 0 <= priority < 2**32:
                raise Problem(400, f"priority: found {priority!r}, expected a whole number from 0 to 4294967295")
            too_long(value)
            if name in session.campaigns:
                raise Problem(409, f"this session campaigns for {name!r} already")
            there = self.names.get(name)
            if there is not None and wanted not in (None, there.kind):
                raise Problem(409, f"{name!r} is of kind `{there.kind}`")
            kind = there.kind if there is not None else wanted or "lease"
            found = self.names.setdefault(name, Name(name, kind, since=rfc3339()))
            campaign = self._campaign(session, name, kind, value, priority)
            self._wait(found, campaign)
            return campaign.no

    def _wait(self, name: Name, campaign: Campaign) -> None:
        name.waiting.append(campaign)
        name.waiting.sort(key=lambda one: -one.priority)
        self._next(name)
        self._positions(name)

    def _campaign(self, session: Session, name: str, kind: str, value: str, priority: int) -> Campaign:
        self._campaigns += 1
        campaign = Campaign(self._campaigns, session, name, kind, value, priority)
        session.campaigns[name] = campaign
        return campaign

    def withdraw(self, session: Session, name: str) -> None:
        with self.lock:
            if name not in session.campaigns:
                raise Problem(404, f"this session does not campaign for {name!r}")
            self._withdraw(session.campaigns[name])

    def _withdraw(self, campaign: Campaign) -> None:
        name = self.names[campaign.name]
        campaign.session.campaigns.pop(campaign.name, None)
        if name.holder is campaign:
            name.holder, name.value, campaign.token = None, "", None
        if campaign in name.waiting:
            name.waiting.remove(campaign)
        self._next(name)
        self._positions(name)

    def _lose(self, name: Name, why: str, wait: bool) -> None:
        campaign, name.holder, name.value = name.holder, None, ""
        if campaign is None:
            return
        campaign.session.tell("lost", name=name.name, token=campaign.token, why=why)
        campaign.token, campaign.asked_back = None, False
        if wait:
            name.waiting.append(campaign)
        self._next(name)
        self._positions(name)

    def _next(self, name: Name) -> None:
        if name.holder is None and name.waiting and (name.kind == "token" or self.is_valid()):
            self._grant(name, name.waiting.pop(0))
        self._changed(name)

    def _grant(self, name: Name, campaign: Campaign) -> None:
        name.token += 1
        name.holder, name.value, name.since = campaign, campaign.value, rfc3339()
        campaign.token = name.token
        campaign.session.told_until = self.valid_until
        self._tell(campaign)
        self._changed(name)

    def _tell(self, campaign: Campaign) -> None:
        if campaign.token is None:
            return
        until = self.valid_until if campaign.kind == "lease" else None
        campaign.session.tell(
            "elected",
            name=campaign.name,
            kind=campaign.kind,
            token=campaign.token,
            valid_until=until,
            campaign=campaign.no,
        )

    def _positions(self, name: Name) -> None:
        for place, campaign in enumerate(name.waiting, 1):
            campaign.session.tell("waiting", name=name.name, kind=name.kind, position=place)

    # What may be asked of a name.

    def get(self, name: str) -> Name:
        if name not in self.names:
            raise Problem(404, f"there is no election {name!r}")
        return self.names[name]

    def shown(self, name: Name) -> dict[str, Any]:
        holder = name.holder
        return {
            "name": name.name,
            "kind": name.kind,
            "token": name.token,
            "holder": None if holder is None else {"node": NODE, "session": holder.session.id},
            "value": name.value,
            "waiting": len(name.waiting),
            "since": name.since,
            "age_ms": 0,
        }

    def page(self, after: Optional[str], limit: int) -> dict[str, Any]:
        with self.lock:
            in_order = sorted(self.names.values(), key=lambda name: name.name.encode())
            rest = [name for name in in_order if after is None or name.name.encode() > after.encode()]
            more = len(rest) > limit
            return {
                "elections": [self.shown(name) for name in rest[:limit]],
                "next": rest[limit - 1].name if more else None,
            }

    def check(self, name: str, token: int, on_this_machine: bool) -> dict[str, Any]:
        with self.lock:
            there = self.names.get(name)
            holder = there.holder if there is not None else None
            is_held = there is not None and holder is not None and holder.token == token and holder.session.streams > 0
            if there is None or holder is None or not is_held or (there.kind == "lease" and not self.is_valid()):
                raise Problem(409, f"token {token} of {name!r} is not valid", valid=False)
            answer: dict[str, Any] = {"name": name, "token": token, "valid": True, "valid_ms": None}
            if there.kind == "lease":
                holder.session.told_until = max(holder.session.told_until, self.valid_until)
                answer["valid_ms"] = max(0, self.valid_until - clock.now()) // 1000
            if on_this_machine:
                answer["valid_until"] = self.valid_until if there.kind == "lease" else None
            return answer

    def proclaim(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            known(body, "token", "value")
            too_long(body["value"])
            there = self.get(name)
            if there.holder is None or there.holder.token != body["token"]:
                raise Problem(409, f"token {body['token']} is not that of the holder of {name!r}")
            there.value = body["value"]
            self._changed(there)
            return self.shown(there)

    def ask_back(self, name: str, body: dict[str, Any], why: str) -> dict[str, Any]:
        """Waits until the holder has given it back, and takes it if that lasts too long."""
        with self.lock:
            known(body, "token", *(["to"] if why == "transfer" else []))
            there = self.get(name)
            holder = there.holder
            if why == "transfer" and (body.get("to") != NODE or not there.waiting):
                raise Problem(409, f"nobody of node {body.get('to')} waits for {name!r}")
            if holder is None or holder.token is None:
                return self.shown(there)
            if body.get("token") not in (None, holder.token):
                raise Problem(409, f"token {body['token']} is not that of the holder of {name!r}")
            token, holder.asked_back = holder.token, True
            release_ms = round(1000 * self.release_timeout)
            holder.session.tell("asked_back", name=name, token=token, why=why, release_ms=release_ms)
            self.lock.wait_for(lambda: there.holder is not holder or holder.token != token, self.release_timeout)
            if there.holder is holder and holder.token == token:
                self._lose(there, "resigned" if why == "resign" else "transferred", wait=True)
            return self.shown(there)

    def delete(self, name: str) -> dict[str, Any]:
        with self.lock:
            if name == "leader":
                raise Problem(409, "`leader` is the cluster's own election")
            there = self.get(name)
            if there.holder is not None or there.waiting:
                raise Problem(409, f"{name!r} is held or waited for")
            del self.names[name]
            self._changed(there, is_gone=True)
            return {"deleted": True}

    def watch(self, name: str) -> queue.Queue[tuple[str, Any]]:
        with self.lock:
            there = self.names.get(name)
            events: queue.Queue[tuple[str, Any]] = queue.Queue()
            events.put(("none", {"name": name}) if there is None else ("election", self.shown(there)))
            self.watchers.append((name, events))
            return events

    def _changed(self, name: Name, is_gone: bool = False) -> None:
        for watched, events in self.watchers:
            if watched == name.name:
                events.put(("none", {"name": name.name}) if is_gone else ("election", self.shown(name)))
        self.lock.notify_all()


def known(body: dict[str, Any], *keys: str) -> None:
    for key in body:
        if key not in keys:
            raise Problem(400, f"the body: unknown field `{key}`")


def too_long(value: Any) -> None:
    if not isinstance(value, str):
        raise Problem(400, f"value: found {value!r}, expected a text")
    if len(value.encode()) > VALUE_MAX:
        raise Problem(413, f"value: found {len(value.encode())} bytes, expected at most {VALUE_MAX}")


def checked_name(name: str) -> str:
    if not 1 <= len(name.encode()) <= NAME_MAX or any(ord(char) < 32 or ord(char) == 127 for char in name):
        raise Problem(400, f"the name: found {name!r}, expected 1 to {NAME_MAX} bytes without control characters")
    return name


def milliseconds(keep: Optional[str]) -> int:
    if keep is None:
        return KEEP_MS
    for unit, factor in (("ms", 1), ("s", 1000)):
        if keep.endswith(unit) and keep[: -len(unit)].isdecimal():
            return int(keep[: -len(unit)]) * factor
    raise Problem(400, f"keep: found {keep!r}, expected a time with a unit")


def rfc3339() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
