"""A file that refuses old tokens.

Its first line is the largest token that has written to it. Token and content are replaced together, so that there is no moment at
which one is new and the other old, and both are on disk before anybody is told.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Union

Path = Union[str, "os.PathLike[str]"]


class OldToken(Exception):
    """Somebody with a larger token has been there."""

    def __init__(self, token: int, seen: int) -> None:
        super().__init__(f"token {token} is old: {seen} has been seen")
        self.token = token
        self.seen = seen


class FencedFile:
    """A file, and the largest token that has written to it."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)

    def read(self) -> tuple[int, bytes]:
        """The largest token, and the content; 0 and nothing if nobody has written. Reading needs no lock and no token."""
        try:
            with open(self._path, "rb") as file:
                first, _, content = file.read().partition(b"\n")
        except FileNotFoundError:
            return 0, b""
        return int(first.removeprefix(b"token ")), content

    def write(self, token: int, content: bytes) -> None:
        """Replaces the content; raises :class:`OldToken` if a larger token has been there."""
        self.update(token, lambda _: content)

    def update(self, token: int, change: Callable[[bytes], bytes]) -> None:
        """The same with what was there."""
        with self._locked():
            seen, content = self.read()
            if token < seen:
                raise OldToken(token, seen)
            self._replace(b"token %d\n%s" % (token, change(content)))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Not the file itself: that is another one after each write.
        with open(self._path + ".lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _replace(self, whole: bytes) -> None:
        new = self._path + ".new"
        with open(new, "wb") as file:
            file.write(whole)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)
        folder = os.open(os.path.dirname(os.path.abspath(self._path)), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
