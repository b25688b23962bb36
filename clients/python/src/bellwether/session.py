"""A session with an agent: one stream of events, for any number of names."""

from __future__ import annotations

import logging
import os
import threading
from types import TracebackType
from typing import Any, Optional, Union

from .calls import ANSWER_TIMEOUT, Calls
from .campaign import Campaign
from .errors import BadSettings, BellwetherError, NotFound, SessionOver
from .leadership import OnLost
from .reader import Reader
from .wardens import Asker, Warden

log = logging.getLogger("bellwether")

#: How long is waited for a thread that has nothing more to do.
JOIN_TIMEOUT = 1.0


class Session:
    """Holds names and waits for others, until it is closed. If this process ends, the agent knows, and gives back what it held."""

    def __init__(self, calls: Calls, keep: Union[None, str, float] = None) -> None:
        self.calls = calls
        self.lock = threading.Condition()
        #: One at a time asks for campaigns, so that none is asked for in a session that is being replaced.
        self.asking = threading.Lock()
        self.campaigns: dict[str, Campaign] = {}
        self.bound: list[int] = []
        self.over: Optional[SessionOver] = None
        #: Where deadlines are not told: whether it is time to ask for how long what is held is valid.
        self.is_validity_due = False
        self._closed = False
        self._process = os.getpid()
        self.reader = Reader(self, _in_words(keep))
        self.reader.begin()
        Warden(self).start()
        if not calls.door.tells_deadlines:
            Asker(self).start()

    @property
    def id(self) -> str:
        """The agent's name for it. A session that had to begin anew has another."""
        with self.lock:
            return self.reader.id

    @property
    def death(self) -> str:
        """`certain` if the agent knows when this process is gone, `presumed` if it can only wait for what was valid to be over."""
        with self.lock:
            return self.reader.death

    @property
    def is_closed(self) -> bool:
        """Whether it is over."""
        return self._closed or self.over is not None

    def campaign(
        self,
        name: str,
        *,
        kind: Optional[str] = None,
        value: Optional[str] = None,
        priority: Optional[int] = None,
        on_lost: Optional[OnLost] = None,
    ) -> Campaign:
        """Begins to wait for a name. A session campaigns for a name once at a time."""
        wishes = {"kind": kind, "value": value, "priority": priority}
        wishes = {key: wish for key, wish in wishes.items() if wish is not None}
        campaign = Campaign(self, name, wishes, on_lost)
        self._make_room(name)
        with self.asking:
            with self.lock:
                if self.is_closed:
                    raise self.over or SessionOver("the session is closed")
                if name in self.campaigns:
                    raise BadSettings(f"this session campaigns for {name!r} already")
                self.campaigns[name] = campaign
            try:
                self.reader.post(campaign)
            except BaseException:
                self.forget(campaign)
                raise
        return campaign

    def bind(self, pid: int) -> None:
        """If this process ends, what is held is given back only when that child process is gone, too. Through the Unix socket
        only."""
        self.ask("POST", "process", {"pid": pid})
        with self.lock:
            self.bound.append(pid)

    def close(self) -> None:
        """Gives everything back."""
        if os.getpid() != self._process:
            return  # A copy of the process that has it: nothing of it is ours.
        with self.lock:
            if self._closed:
                return
            self._closed = True
            for campaign in list(self.campaigns.values()):
                campaign.end(None)
            was_over = self.over is not None
            self.lock.notify_all()
        if not was_over:
            self.give_back()
        self.reader.end(JOIN_TIMEOUT)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], at: Optional[TracebackType]
    ) -> None:
        self.close()

    # What follows is for the parts of it.

    def ask(
        self, method: str, what: str, body: Optional[dict[str, Any]] = None, *, timeout: float = ANSWER_TIMEOUT
    ) -> Any:
        """Asks for a change of this session."""
        with self.lock:
            path, secret = f"/v1/session/{self.reader.id}", self.reader.secret
        return self.calls.change(method, f"{path}/{what}" if what else path, body, secret=secret, timeout=timeout)

    def forget(self, campaign: Campaign) -> None:
        """Another campaign for that name may begin."""
        with self.lock:
            if self.campaigns.get(campaign.name) is campaign:
                del self.campaigns[campaign.name]

    def give_back(self) -> None:
        """Tells the agent that it is over."""
        try:
            self.ask("DELETE", "")
        except NotFound:
            pass  # The agent knows that it is over.
        except BellwetherError as error:
            log.warning("the session could not be closed: %s", error)

    def validity_is_due(self) -> None:
        """Something was told that may be valid for longer now. The lock is held."""
        self.is_validity_due = True
        self.lock.notify_all()

    def fail(self, why: str) -> None:
        """It is over, and not because it was closed."""
        with self.lock:
            if not self.is_closed:
                self.over = SessionOver(f"the session is over: {why}")
                for campaign in list(self.campaigns.values()):
                    campaign.end(self.over)
                self.lock.notify_all()

    def _make_room(self, name: str) -> None:
        """A campaign that is over may not have been given back yet."""
        with self.lock:
            before = self.campaigns.get(name)
            is_over = before is not None and not before.is_wanted
        if before is not None and is_over:
            before.give_back()


def _in_words(keep: Union[None, str, float]) -> Optional[str]:
    """A time as the agent reads it."""
    return f"{round(keep * 1000)}ms" if isinstance(keep, (int, float)) else keep
