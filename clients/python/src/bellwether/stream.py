"""Server-sent events, as an agent sends them."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any, NamedTuple, Optional

from .errors import NotAnAgent

#: No line of an event is longer: six bytes for each of the longest value, and the rest.
LINE_MAX = 64 * 1024
#: So much is read at a time.
_READ_MAX = 8 * 1024


class Event(NamedTuple):
    """An event: its name, what it says, and the number after which the stream can be resumed, if it has one."""

    name: str
    data: Any
    id: Optional[str] = None


class Stream:
    """The events of one answer. One thread reads; any may close."""

    def __init__(
        self,
        where: str,
        connection: socket.socket,
        response: http.client.HTTPResponse,
        patience: Optional[float],
    ) -> None:
        self.where = where
        #: How long it may be silent once it has begun.
        self._patience = patience
        self._socket = connection
        self._response = response
        self._unread = b""

    def first(self) -> Optional[Event]:
        """The first event, which comes with the answer."""
        event = self.next()
        self._socket.settimeout(self._patience)
        return event

    def next(self) -> Optional[Event]:
        """The next event; none when the agent has closed the stream. An `OSError` if it breaks off."""
        name, number, data = "message", None, ""
        while True:
            line = self._line()
            if line is None:
                return None
            if line == "":
                # After a comment there is an empty line, too, and it ends nothing.
                if data:
                    return Event(name, self._understood(data), number)
                continue
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                data += value
            elif field == "id":
                number = value

    def finish(self) -> None:
        """Closes it, in the thread that reads."""
        self.close()
        self._response.close()
        self._socket.close()

    def close(self) -> None:
        """Ends it, for both sides. Whoever reads is woken."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended already.

    def _line(self) -> Optional[str]:
        while b"\n" not in self._unread:
            if len(self._unread) > LINE_MAX:
                raise NotAnAgent(f"{self.where}: found a line of more than {LINE_MAX} bytes, expected events")
            try:
                piece = self._response.read1(_READ_MAX)
            except (http.client.HTTPException, ValueError) as error:
                raise ConnectionError(f"{self.where}: the stream broke off: {error!r}") from error
            if not piece:
                return None
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def _understood(self, data: str) -> Any:
        try:
            return json.loads(data)
        except ValueError as error:
            raise NotAnAgent(f"{self.where}: found an event that is no JSON: {error}") from error
