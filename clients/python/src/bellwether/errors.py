"""What can go wrong, as classes."""

from __future__ import annotations

from typing import Optional


class BellwetherError(Exception):
    """Everything that this package raises by itself."""


class BadSettings(BellwetherError, ValueError):
    """What was asked for cannot be asked: two doors at once, say, or no number where one should be."""


class Unreachable(BellwetherError, ConnectionError):
    """No agent answers there."""


class NotAnAgent(BellwetherError):
    """Something answers there that does not speak as an agent does."""


class NotElected(BellwetherError, TimeoutError):
    """The time given for waiting was over before the name was held."""

    def __init__(self, name: str, seconds: float, position: Optional[int]) -> None:
        place = "" if position is None else f", at position {position} of those who wait"
        super().__init__(f"not elected for {name!r} within {seconds:g} s{place}")
        self.name = name
        self.position = position


class Lost(BellwetherError):
    """The leadership is not valid: it was lost, or given back."""

    def __init__(self, name: str, token: int, why: str) -> None:
        super().__init__(f"{name!r} is not held any more with token {token}: {why}")
        self.name = name
        self.token = token
        self.why = why


class SessionOver(BellwetherError):
    """The session ended, and what it waited for is not waited for any more."""


class Refused(BellwetherError):
    """The agent said no, and why."""

    def __init__(self, where: str, status: int, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.status = status
        self.reason = reason

    @staticmethod
    def with_status(where: str, status: int, reason: str) -> Refused:
        """The class that stands for that status."""
        return _BY_STATUS.get(status, Refused)(where, status, reason)


class BadRequest(Refused):
    """400: what was sent is wrong."""


class Forbidden(Refused):
    """401 or 403: not from you."""


class NotFound(Refused):
    """404: there is no such election, session or campaign."""


class Conflict(Refused):
    """409: not now. Another holds it, it is of another kind, the token is not the holder's, or there is no majority."""


class TooLarge(Refused):
    """413: too long."""


class Unavailable(Refused):
    """503: the agent is ending, or has no room."""


_BY_STATUS: dict[int, type[Refused]] = {
    400: BadRequest,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    503: Unavailable,
}
