"""An HTTP service that refuses old tokens."""

from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
import unittest
from contextlib import closing
from pathlib import Path
from typing import Optional

from writers import WRITERS, WRITES, race

SERVICE = Path(__file__).parent.parent / "http_fence.py"


def ask(
    port: int, method: str, content: bytes = b"", token: Optional[str] = None, length: Optional[int] = None
) -> tuple[int, bytes, int]:
    """The status, the content, and the token of the answer. A length may be said of what is never sent."""
    headers = {} if token is None else {"Bellwether-Token": token}
    if length is not None:
        headers["Content-Length"] = str(length)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, "/a/journal", content or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), int(answer.headers.get("Bellwether-Token", 0))


def write(port: str, token: int) -> bool:
    return ask(int(port), "POST", b"%d\n" % token, str(token))[0] == 200


class Http(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self) -> tuple[subprocess.Popen[str], int]:
        command = [sys.executable, str(SERVICE), self.folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        return process, int(process.stdout.readline())

    def test_an_old_token_is_refused_also_after_a_crash(self) -> None:
        process, port = self.start()
        self.assertEqual(ask(port, "GET"), (200, b"", 0))
        self.assertEqual(ask(port, "PUT", b"nine", "9"), (200, b"", 9))
        self.assertEqual(ask(port, "PUT", b"eight", "8")[::2], (409, 9))
        process.kill()
        process.wait()
        _, port = self.start()
        status, why, seen = ask(port, "PUT", b"eight", "8")
        self.assertEqual((status, seen), (409, 9))
        self.assertIn(b"9 has been seen", why)
        self.assertEqual(ask(port, "GET"), (200, b"nine", 9))
        self.assertEqual(ask(port, "POST", b" and more", "9")[0], 200)
        self.assertEqual(ask(port, "GET"), (200, b"nine and more", 9))

    def test_who_says_no_token_or_none_that_can_be_changes_nothing(self) -> None:
        _, port = self.start()
        self.assertEqual(ask(port, "PUT", b"x")[0], 428)
        for wrong in ("", "nine", "-1", "0", "1.5", "9" * 19):
            self.assertEqual(ask(port, "PUT", b"x", wrong)[0], 400, wrong)
        self.assertEqual(ask(port, "PUT", token="1", length=(1 << 20) + 1)[0], 413)
        self.assertEqual(ask(port, "GET"), (200, b"", 0))

    def test_whatever_happens_at_once_tokens_never_go_back(self) -> None:
        _, port = self.start()
        refused = race(write, str(port))
        _, content, seen = ask(port, "GET")
        tokens = [int(line) for line in content.split()]
        self.assertEqual((tokens, seen), (sorted(tokens), max(tokens)))
        self.assertEqual(len(tokens) + refused, WRITERS * WRITES)


if __name__ == "__main__":
    unittest.main()
