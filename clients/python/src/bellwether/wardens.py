"""Threads that look at the clock for a session."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from . import clock
from .errors import BellwetherError

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("bellwether")


class Warden(threading.Thread):
    """Tells programs when what they hold is not valid any more, though nothing was heard."""

    def __init__(self, session: Session) -> None:
        super().__init__(name="bellwether-warden", daemon=True)
        self._session = session

    def run(self) -> None:
        session = self._session
        with session.lock:
            while not session.is_closed:
                held = [campaign.held for campaign in list(session.campaigns.values())]
                deadlines = [leadership.expires_at() for leadership in held if leadership is not None]
                next_one = min((deadline for deadline in deadlines if deadline is not None), default=None)
                if next_one is None:
                    session.lock.wait()
                else:
                    session.lock.wait(max(0, next_one - clock.now()) / 1e6)


class Asker(threading.Thread):
    """Asks for how long what is held is valid, where that is not told: of another machine, whose clock is another. It counts from
    when it asked."""

    def __init__(self, session: Session) -> None:
        super().__init__(name="bellwether-asker", daemon=True)
        self._session = session

    def run(self) -> None:
        session = self._session
        while True:
            with session.lock:
                session.lock.wait_for(lambda: session.is_closed or session.is_validity_due)
                if session.is_closed:
                    return
                session.is_validity_due = False
                asked = [(campaign.name, campaign.unasked) for campaign in session.campaigns.values()]
            for name, token in asked:
                if token is not None:
                    self._ask(name, token)

    def _ask(self, name: str, token: int) -> None:
        asked_at = clock.now()
        try:
            answer = self._session.calls.get(f"/v1/elections/{quote(name, safe='')}/check?token={token}")
            valid_ms = int(answer["valid_ms"])
        except (BellwetherError, KeyError, TypeError, ValueError) as error:
            log.debug("it is not known for how long %r is valid: %s", name, error)
            return
        with self._session.lock:
            campaign = self._session.campaigns.get(name)
            if campaign is not None:
                campaign.told(token, asked_at + valid_ms * 1000)
