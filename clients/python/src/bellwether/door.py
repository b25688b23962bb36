"""Where an agent is reached: its Unix socket, or the address of its API."""

from __future__ import annotations

import http.client
import os
import socket
from typing import Optional

from . import clock
from .errors import BadSettings

#: Where an agent's API is, unless its configuration says otherwise.
DEFAULT_API = "127.0.0.1:3171"
#: How long an agent may take to take a connection.
CONNECT_TIMEOUT = 5.0


class Door:
    """One of the two."""

    #: Whether the agent tells until when what is held is valid. If not, it must be asked for how long.
    tells_deadlines: bool
    #: Whether a stream that ends or fails is noticed at once, so that silence means nothing.
    ends_are_certain: bool

    def connect(self) -> socket.socket:
        """A new connection."""
        raise NotImplementedError

    def connection(self) -> http.client.HTTPConnection:
        """The same, for one request."""
        return _Connection(self)


class SocketDoor(Door):
    """A Unix socket. The permissions of its file decide who may use it."""

    tells_deadlines = clock.SHARED
    ends_are_certain = True

    def __init__(self, path: str) -> None:
        self.path = path

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(CONNECT_TIMEOUT)
            connection.connect(self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def __str__(self) -> str:
        return self.path


class ApiDoor(Door):
    """The API. What changes something needs the token there."""

    tells_deadlines = False
    ends_are_certain = False

    def __init__(self, api: str) -> None:
        address = api[len("http://") :] if api.startswith("http://") else api
        address = address.rstrip("/")
        host, colon, port = address.rpartition(":")
        if not colon or not host or not port.isdecimal():
            raise BadSettings(f"found {api!r}, expected the address of an agent's API, such as {DEFAULT_API!r}")
        self.address = address
        self.host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        self.port = int(port)

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), CONNECT_TIMEOUT)

    def __str__(self) -> str:
        return self.address


def find(path: Optional[str], api: Optional[str]) -> Door:
    """The door that is meant: what is given, or what the environment says, or the default."""
    if path is not None and api is not None:
        raise BadSettings("found a socket and an api, expected one of them")
    if path is not None:
        return SocketDoor(path)
    if api is not None:
        return ApiDoor(api)
    path = os.environ.get("BELLWETHER_SOCKET")
    if path:
        return SocketDoor(path)
    return ApiDoor(os.environ.get("BELLWETHER_API") or DEFAULT_API)


class _Connection(http.client.HTTPConnection):
    """HTTP through a door."""

    def __init__(self, door: Door) -> None:
        super().__init__(str(door) if isinstance(door, ApiDoor) else "localhost")
        self._door = door

    def connect(self) -> None:
        self.sock = self._door.connect()
