"""A PostgreSQL server of its own: in a directory, on a Unix socket, and as a user that is not root."""

from __future__ import annotations

import glob
import os
import pwd
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from typing import Any, Optional

#: What takes longer does not happen.
DEADLINE = 60.0
#: How often is looked.
LOOK_EVERY = 0.02


def find(command: str) -> Optional[str]:
    """Debian has the server's commands beside the path."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{command}"))
    return found[-1] if found else shutil.which(command)


def require() -> None:
    """Skips a test if there is no server to start, unless there has to be one."""
    missing = [command for command in ("initdb", "postgres", "psql") if find(command) is None]
    if missing:
        why = f"{', '.join(missing)} cannot be found: make postgres"
        if os.environ.get("BELLWETHER_REQUIRE_ENGINES") == "1":
            raise AssertionError(why)
        raise unittest.SkipTest(why)


class Server:
    """A server with a database that is thrown away."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="fence-")
        self._user = self._unprivileged()
        self._process: Optional[subprocess.Popen[bytes]] = None
        if "user" in self._user:
            there = pwd.getpwnam(self._user["user"])
            os.chown(self._folder, there.pw_uid, there.pw_gid)
        self._run("initdb", "-D", self._data(), "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        self.start()

    @staticmethod
    def _unprivileged() -> dict[str, Any]:
        if os.geteuid() != 0:
            return {}
        known = {user.pw_name for user in pwd.getpwall()}
        name = "postgres" if "postgres" in known else "nobody"
        return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}

    def _data(self) -> str:
        return os.path.join(self._folder, "data")

    def _run(self, command: str, *args: str) -> None:
        made = subprocess.run([str(find(command)), *args], cwd=self._folder, capture_output=True, **self._user)
        if made.returncode != 0:
            raise AssertionError(made.stderr.decode())

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        with open(os.path.join(self._folder, "log"), "ab") as log:
            command = [str(find("postgres")), "-D", self._data(), "-k", self._folder, "-c", "listen_addresses="]
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log, **self._user)
        limit, never = time.monotonic() + DEADLINE, threading.Event()
        while self.ask("SELECT 1")[0] != 0:
            if time.monotonic() > limit or self._process.poll() is not None:
                with open(os.path.join(self._folder, "log"), encoding="utf-8") as log_file:
                    raise AssertionError(log_file.read())
            never.wait(LOOK_EVERY)

    def crash(self) -> None:
        """Ends it at once: what it comes back with is what it had written down."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(DEADLINE)

    def remove(self) -> None:
        self.crash()
        shutil.rmtree(self._folder)

    def command(self) -> list[str]:
        """A client of it."""
        return [str(find("psql")), "-X", "-q", "-A", "-t", "-h", self._folder, "-U", "tests", "-d", "postgres"]

    def ask(self, sql: str) -> tuple[int, str, str]:
        """Runs a script: the exit code, what it printed, and what it complained of."""
        command = [*self.command(), "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"]
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip(), done.stderr


class Talk:
    """A connection on which one statement follows another, whenever the test says."""

    def __init__(self, server: Server) -> None:
        command = [*server.command(), "-v", "VERBOSITY=verbose"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._lines: queue.Queue[Optional[str]] = queue.Queue()
        self._said = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())
        self._process.stdout.close()
        self._lines.put(None)

    def say(self, sql: str) -> None:
        """Says it, and does not wait."""
        assert self._process.stdin is not None
        self._said += 1
        self._process.stdin.write(f"{sql}\n\\echo done {self._said}\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        """What came of it, errors included. A client whose connection was ended ends, too."""
        heard: list[str] = []
        while (line := self._lines.get(timeout=DEADLINE)) not in (f"done {self._said}", None):
            heard.append(str(line))
        return "\n".join(heard)

    def do(self, sql: str) -> str:
        self.say(sql)
        return self.hear()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(DEADLINE)
