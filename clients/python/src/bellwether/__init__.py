"""Leader election, through the Bellwether agent of this machine.

At most one holder of a name at a time, with a token that grows for ever::

    from bellwether import election

    with election("backup", socket="/run/bellwether.sock") as leadership:
        while not leadership.stop.is_set():
            store.write(next_row(), token=leadership.check())
"""

from .campaign import Campaign
from .client import Candidate, Client, election
from .errors import (
    BadRequest,
    BadSettings,
    BellwetherError,
    Conflict,
    Forbidden,
    Lost,
    NotAnAgent,
    NotElected,
    NotFound,
    Refused,
    SessionOver,
    TooLarge,
    Unavailable,
    Unreachable,
)
from .leadership import Leadership
from .records import Election, Holder
from .session import Session
from .stream import Event

__all__ = [
    "BadRequest",
    "BadSettings",
    "BellwetherError",
    "Campaign",
    "Candidate",
    "Client",
    "Conflict",
    "Election",
    "Event",
    "Forbidden",
    "Holder",
    "Leadership",
    "Lost",
    "NotAnAgent",
    "NotElected",
    "NotFound",
    "Refused",
    "Session",
    "SessionOver",
    "TooLarge",
    "Unavailable",
    "Unreachable",
    "election",
]
