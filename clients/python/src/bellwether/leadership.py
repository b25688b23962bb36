"""A name that is held, as a value that knows whether it still is."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Optional

from . import clock
from .errors import Lost

if TYPE_CHECKING:
    from .campaign import Campaign

#: What is called when a leadership is lost. It is told what :meth:`Leadership.check` raises from then on.
OnLost = Callable[[Lost], object]

#: Why a leadership is over that was not lost.
RELEASED = "released"


class Leadership:
    """The right to act for a name, until it is lost.

    Ask :meth:`check` right before whatever only the holder may do, and send the token along: it looks at the clock, so it does not
    depend on any word having arrived.
    """

    def __init__(self, campaign: Campaign, token: int, valid_until: int) -> None:
        self.name = campaign.name
        #: Set when work should end: it was lost, or somebody asked for it to be given back.
        self.stop = threading.Event()
        #: Set when it is over.
        self.lost = threading.Event()
        #: Why somebody asked for it to be given back: `resign`, `transfer`, `deleted` or `agent-leaves`.
        self.asked_back: Optional[str] = None
        self._campaign = campaign
        self._lock = campaign.lock
        self._token = token
        self._valid_until = valid_until
        self._why: Optional[str] = None
        self._process = os.getpid()

    @property
    def token(self) -> int:
        """The token of this grant. It may become larger while the name is held, when its agent was restarted."""
        with self._lock:
            return self._token

    @property
    def kind(self) -> Optional[str]:
        """`lease` or `token`."""
        return self._campaign.kind

    @property
    def valid_until(self) -> float:
        """Until when it is certain to be valid, in seconds of `CLOCK_BOOTTIME`. It is put off while all is well. Infinite if a
        store decides that, which refuses smaller tokens."""
        with self._lock:
            return math.inf if self._valid_until == clock.NEVER else self._valid_until / 1e6

    @property
    def valid_for(self) -> float:
        """The same from now on, in seconds; 0 if it is not valid."""
        with self._lock:
            if self._is_over():
                return 0.0
            return math.inf if self._valid_until == clock.NEVER else max(0, self._valid_until - clock.now()) / 1e6

    @property
    def why(self) -> Optional[str]:
        """Why it is over."""
        with self._lock:
            return self._why

    def check(self) -> int:
        """The token, if it is valid now; raises :class:`Lost` if it is not."""
        with self._lock:
            if os.getpid() != self._process:
                raise Lost(self.name, self._token, "another process holds it, of which this one is a copy")
            if self._why is None and clock.now() >= self._valid_until:
                self.lose("lease")
            if self._why is not None:
                raise Lost(self.name, self._token, self._why)
            return self._token

    def proclaim(self, value: str) -> None:
        """Tells whoever asks for the election: this holder's address, for instance."""
        self._campaign.proclaim(self.check(), value)

    def bind(self, pid: int) -> None:
        """Has the name held until that child process is gone, too, or it is released. Through the Unix socket only."""
        self._campaign.session.bind(pid)

    def release(self) -> None:
        """Gives it back."""
        self._campaign.close()

    def __repr__(self) -> str:
        state = "valid" if self.valid_for > 0 else f"over: {self.why or 'lease'}"
        return f"<Leadership of {self.name!r}, token {self.token}, {state}>"

    # What follows is for the session, which holds the lock.

    def expires_at(self) -> Optional[int]:
        """When there will be something to do, if nothing is heard."""
        return None if self._is_over() or self._valid_until == clock.NEVER else self._valid_until

    def is_held(self) -> bool:
        """Whether it is not over, as far as is known and the clock says."""
        if not self._is_over() and clock.now() >= self._valid_until:
            self.lose("lease")
        return not self._is_over()

    def extend(self, token: int, valid_until: int) -> None:
        """It is held with that token, and valid at least until then."""
        if self.is_held() and token >= self._token:
            self._token = token
            self._valid_until = max(self._valid_until, valid_until)

    def bound(self, valid_until: int) -> None:
        """Nothing is heard of it any more: it is not believed for longer than that."""
        self._valid_until = min(self._valid_until, valid_until)

    def ask_back(self, why: str) -> None:
        """Somebody wants it to be given back."""
        self.asked_back = why
        self.stop.set()

    def lose(self, why: str) -> None:
        """It is over."""
        if self._is_over():
            return
        self._why = why
        self.lost.set()
        self.stop.set()
        self._campaign.is_over(None if why == RELEASED else Lost(self.name, self._token, why))

    def _is_over(self) -> bool:
        return self._why is not None
