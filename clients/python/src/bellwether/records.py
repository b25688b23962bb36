"""What an agent tells of an election."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .errors import NotAnAgent


@dataclass(frozen=True)
class Holder:
    """Who holds a name: a session of the agent of that node."""

    node: int
    session: str


@dataclass(frozen=True)
class Election:
    """A name, and who holds it."""

    name: str
    #: `lease` or `token`.
    kind: str
    #: Of the holder, or of the last one. The next is larger.
    token: int
    holder: Optional[Holder]
    #: What the holder proclaims.
    value: str
    #: How many wait.
    waiting: int
    #: Since when it is as it is, as RFC 3339 has it.
    since: str
    #: How old this knowledge may be, in milliseconds.
    age_ms: int

    @staticmethod
    def read(data: Any) -> Election:
        """As an agent writes it."""
        try:
            holder = data["holder"]
            return Election(
                name=str(data["name"]),
                kind=str(data["kind"]),
                token=int(data["token"]),
                holder=None if holder is None else Holder(int(holder["node"]), str(holder["session"])),
                value=str(data["value"]),
                waiting=int(data["waiting"]),
                since=str(data["since"]),
                age_ms=int(data["age_ms"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise NotAnAgent(f"found {data!r}, expected an election: {error!r}") from error
