"""What tests have in common."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any, Optional

from stand_in import StandIn

from bellwether import Client

#: What takes longer does not happen.
DEADLINE = 20.0
_LOOK_EVERY = 0.005


def wait_until(is_so: Callable[[], object], what: str = "") -> None:
    """Looks again and again until it is so."""
    limit, never = time.monotonic() + DEADLINE, threading.Event()
    while not is_so():
        if time.monotonic() > limit:
            raise AssertionError(f"not within {DEADLINE:g} s: {what or is_so}")
        never.wait(_LOOK_EVERY)


class WithStandIn(unittest.TestCase):
    """A stand-in of its own for each test, and nothing of the environment."""

    ttl = 1.0

    def setUp(self) -> None:
        for name in [name for name in os.environ if name.startswith("BELLWETHER_")]:
            self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))
        directory = tempfile.TemporaryDirectory(prefix="bellwether-")
        self.addCleanup(directory.cleanup)
        self.agent = StandIn(directory.name, ttl=self.ttl)
        self.addCleanup(self.agent.stop)

    def client(self, door: str = "socket") -> Client:
        """Through that door."""
        if door == "socket":
            return Client(socket=self.agent.socket)
        return Client(api=self.agent.api, token=self.agent.token)

    def holder(self, name: str) -> Optional[int]:
        """The token of whoever holds it."""
        with self.agent.names.lock:
            there = self.agent.names.names.get(name)
            return there.token if there is not None and there.holder is not None else None

    def streams_opened(self) -> int:
        """How many sessions have been asked for."""
        return self.agent.asked.count("POST /v1/session")

    def waiting(self, name: str) -> int:
        """How many wait for it."""
        with self.agent.names.lock:
            there = self.agent.names.names.get(name)
            return 0 if there is None else len(there.waiting)


class Beside(threading.Thread):
    """Something done on another thread, and what came of it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._result: Any = None
        self._error: Optional[BaseException] = None
        self.start()

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # It is raised where it is asked for.
            self._error = error

    def result(self) -> Any:
        """What it returned, or raised."""
        self.join(DEADLINE)
        if self.is_alive():
            raise AssertionError(f"not done within {DEADLINE:g} s")
        if self._error is not None:
            raise self._error
        return self._result
