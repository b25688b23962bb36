"""Asks an agent over HTTP. Each question has a connection of its own."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from typing import Any, Optional

from .door import CONNECT_TIMEOUT, Door
from .errors import BadSettings, NotAnAgent, Refused, Unreachable
from .stream import Stream

#: How long an answer may take.
ANSWER_TIMEOUT = 5.0
#: How long a change may take: a majority is asked, and a holder may be waited for.
CHANGE_TIMEOUT = 30.0
#: A stream over TCP that is silent for longer is broken: an agent says something every five seconds.
SILENCE_MAX = 15.0
#: No answer is longer.
ANSWER_MAX = 8 << 20


class Calls:
    """An agent that can be asked."""

    def __init__(self, door: Door, token: Optional[str]) -> None:
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise BadSettings("found a token that no agent has, expected visible ASCII characters, without spaces")
        self.door = door
        self._token = token

    def get(self, path: str, *, timeout: float = ANSWER_TIMEOUT) -> Any:
        """Asks."""
        return self._call("GET", path, None, {}, timeout)

    def change(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        secret: Optional[str] = None,
        timeout: float = CHANGE_TIMEOUT,
    ) -> Any:
        """Asks for a change."""
        headers = self._permission()
        if secret is not None:
            headers["Bellwether-Secret"] = secret
        return self._call(method, path, body, headers, timeout)

    def stream(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        after: Optional[str] = None,
        timeout: float = ANSWER_TIMEOUT,
    ) -> Stream:
        """Asks for events, those after that number if one is given."""
        headers = {} if method == "GET" else self._permission()
        headers["Accept"] = "text/event-stream"
        if after is not None:
            headers["Last-Event-ID"] = after
        connection, response = self._send(method, path, body, headers, timeout)
        if response.status != http.client.OK:
            with connection, response:
                raise self._refusal(response.status, self._read(response))
        return Stream(str(self.door), connection, response, None if self.door.ends_are_certain else SILENCE_MAX)

    def _permission(self) -> dict[str, str]:
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}

    def _call(
        self, method: str, path: str, body: Optional[Mapping[str, Any]], headers: dict[str, str], timeout: float
    ) -> Any:
        connection, response = self._send(method, path, body, headers, timeout)
        with connection, response:
            answer = self._read(response)
        if response.status != http.client.OK:
            raise self._refusal(response.status, answer)
        return answer

    def _send(
        self, method: str, path: str, body: Optional[Mapping[str, Any]], headers: dict[str, str], timeout: float
    ) -> tuple[socket.socket, http.client.HTTPResponse]:
        """The socket on which the answer comes, and the answer. Both are to be closed."""
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers = {**headers, "Content-Type": "application/json"}
        connection = self._connect()
        # When the answer comes, the connection may forget it.
        raw = connection.sock
        raw.settimeout(timeout)
        try:
            connection.request(method, path, content, {**headers, "Connection": "close"})
            return raw, connection.getresponse()
        except socket.timeout as error:
            connection.close()
            why = f"the agent at {self.door} took the connection and did not answer within {timeout:g} s: is it stopped?"
            raise Unreachable(why) from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unreachable(f"the agent at {self.door} did not answer: {error!r}") from error

    def _connect(self) -> http.client.HTTPConnection:
        connection = self.door.connection()
        try:
            connection.connect()
        except socket.timeout as error:
            why = f"no agent answers at {self.door}: it took no connection within {CONNECT_TIMEOUT:g} s"
            raise Unreachable(why) from error
        except OSError as error:
            raise Unreachable(f"no agent answers at {self.door}: {error}: is it running, and listening there?") from error
        return connection

    def _read(self, response: http.client.HTTPResponse) -> Any:
        try:
            content = response.read(ANSWER_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.door}: the answer broke off: {error!r}") from error
        try:
            return json.loads(content)
        except ValueError as error:
            raise self._is_no_agent(response.status) from error

    def _refusal(self, status: int, answer: Any) -> Refused:
        reason = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(reason, str):
            raise self._is_no_agent(status)
        if status == http.client.UNAUTHORIZED and self._token is None:
            reason = "this needs a token: token=… or BELLWETHER_TOKEN"
        return Refused.with_status(str(self.door), status, reason)

    def _is_no_agent(self, status: int) -> NotAnAgent:
        return NotAnAgent(f"{self.door}: found an answer with status {status}, expected that of an agent")
