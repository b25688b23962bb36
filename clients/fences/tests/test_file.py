"""A file that refuses old tokens."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from writers import WRITERS, WRITES, race

from file_fence import FencedFile, OldToken

#: A writer that is killed while it composes what it writes.
KILLED = """
import os, signal, sys
from file_fence import FencedFile

def change(before):
    os.kill(os.getpid(), signal.SIGKILL)

FencedFile(sys.argv[1]).update(9, change)
"""


def write(path: str, token: int) -> bool:
    try:
        FencedFile(path).update(token, lambda before: before + b"%d\n" % token)
    except OldToken:
        return False
    return True


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "report")

    def test_an_old_token_is_refused_and_changes_nothing(self) -> None:
        file = FencedFile(self.path)
        self.assertEqual(file.read(), (0, b""))
        file.write(7, b"seven\n")
        file.write(7, b"seven again\n")
        file.write(9, b"nine\n")
        with self.assertRaises(OldToken) as raised:
            file.write(8, b"eight\n")
        self.assertEqual((raised.exception.token, raised.exception.seen), (8, 9))
        self.assertEqual(file.read(), (9, b"nine\n"))

    def test_the_largest_token_survives_those_who_wrote_it(self) -> None:
        FencedFile(self.path).write(7, b"seven\n")
        killed = subprocess.run([sys.executable, "-c", KILLED, self.path], check=False)
        self.assertEqual(killed.returncode, -signal.SIGKILL)
        self.assertEqual(FencedFile(self.path).read(), (7, b"seven\n"))
        # Not even its lock is left.
        FencedFile(self.path).write(8, b"eight\n")
        with self.assertRaises(OldToken):
            FencedFile(self.path).write(7, b"seven\n")

    def test_whoever_has_the_lock_is_waited_for(self) -> None:
        def change(before: bytes) -> bytes:
            with open(self.path + ".lock", "rb") as lock, self.assertRaises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return b"new\n"

        FencedFile(self.path).update(1, change)
        self.assertEqual(FencedFile(self.path).read(), (1, b"new\n"))

    def test_whatever_happens_at_once_tokens_never_go_back(self) -> None:
        refused = race(write, self.path)
        seen, content = FencedFile(self.path).read()
        tokens = [int(line) for line in content.split()]
        self.assertEqual((tokens, seen), (sorted(tokens), max(tokens)))
        self.assertEqual(len(tokens) + refused, WRITERS * WRITES)


if __name__ == "__main__":
    unittest.main()
