"""An agent's doors without an agent: the HTTP calls of named elections, over a Unix socket and over TCP.

In tests it is a :class:`StandIn`, which can be told to misbehave. `python3 stand_in.py --socket PATH --token TOKEN` runs one until
its standard input ends, and prints the address of its API.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import select
import socket
import socketserver
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Optional, cast
from urllib.parse import parse_qs, unquote, urlsplit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
    sys.path.insert(0, str(Path(__file__).parent))

from names import CUT, NODE, Names, Problem, Session, checked_name

BODY_MAX = 16 * 1024
PAGE_MAX = 1000
#: While nothing happens, a comment is sent this often.
KEEP_ALIVE = 5.0


class StandIn:
    """Both doors. It ends with `stop`."""

    def __init__(self, directory: str, *, ttl: float = 1.0, token: str = "a-token-of-the-tests") -> None:
        self.token = token
        self.names = Names(ttl, release_timeout=2.0)
        #: While it is down, nobody is answered.
        self.is_down = False
        #: What has been asked, as `METHOD path`.
        self.asked: list[str] = []
        self.changes: list[dict[str, Any]] = []
        self.socket = os.path.join(directory, "agent.sock")
        self._streams: list[queue.Queue[tuple[str, Any]]] = []
        self._stopping = threading.Event()
        unix = _UnixServer(cast(Any, self.socket), _Handler)
        api = _ApiServer(("127.0.0.1", 0), _Handler)
        self.api = "{}:{}".format(*api.server_address[:2])
        self._servers = [unix, api]
        for server in self._servers:
            server.stand_in = self
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self._ticker = threading.Thread(target=self._tick, args=(ttl / 5,), daemon=True)
        self._ticker.start()

    def stop(self) -> None:
        self._stopping.set()
        self._ticker.join()
        self.cut_streams()
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _tick(self, every: float) -> None:
        while not self._stopping.wait(every):
            if not self.is_down:
                self.names.tick()

    # What may befall it.

    def cut_streams(self) -> None:
        """All streams end without a word, and nothing is released by that."""
        with self.names.lock:
            for events in self._streams:
                events.put(CUT)

    def end_streams(self, why: str) -> None:
        with self.names.lock:
            for events in self._streams:
                events.put(("end", {"why": why}))

    def crash(self) -> None:
        """Its process is gone. What it held is held until somebody comes back for it."""
        self.is_down = True
        names = self.names
        with names.lock:
            for session in names.sessions.values():
                held = {one.name: one.token for one in session.campaigns.values() if one.token is not None}
                names.before[session.id] = (session.secret, held)
            for name in names.names.values():
                name.holder, name.waiting = None, []
            names.sessions = {}
        self.cut_streams()

    def come_back(self) -> None:
        """Another process of it."""
        self.names.tick()
        self.is_down = False

    def change(self, leader: int) -> None:
        """The leadership of the cluster changes."""
        with self.names.lock:
            change = {"no": len(self.changes) + 1, "leader": leader}
            self.changes.append(change)
            for events in self._streams:
                events.put(("change", change))

    # The events of an answer.

    def begin(self, events: queue.Queue[tuple[str, Any]]) -> None:
        with self.names.lock:
            self._streams.append(events)

    def end(self, events: queue.Queue[tuple[str, Any]]) -> None:
        with self.names.lock:
            self._streams.remove(events)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64
    stand_in: StandIn

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # A client that has gone is no news.


class _ApiServer(_Server):
    pass


class _UnixServer(_Server):
    address_family = socket.AF_UNIX


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: Whether the agent closed the stream, and not its client.
    _was_cut = False
    _in_chunks = True

    # Both doors say what was asked.

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass

    @property
    def stand_in(self) -> StandIn:
        return cast(_Server, self.server).stand_in

    @property
    def is_unix(self) -> bool:
        return isinstance(self.server, _UnixServer)

    def _answer(self) -> None:
        self.close_connection = True
        stand_in = self.stand_in
        stand_in.asked.append(f"{self.command} {self.path}")
        if stand_in.is_down:
            return
        try:
            answer = self._answer_of(stand_in.names)
        except Problem as problem:
            self._send(problem.status, problem.answer)
        else:
            if answer is not None:
                self._send(200, answer)

    def _answer_of(self, names: Names) -> Optional[dict[str, Any]]:
        """The answer; none if it has been sent."""
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.split("/")][1:]
        query = {key: values[0] for key, values in parse_qs(url.query, keep_blank_values=True).items()}
        body = self._body()
        if self.command != "GET" and not self.is_unix:
            self._need_token()
        if parts == ["v1", "status"]:
            return {"node": NODE, "leader": NODE, "standing": "leading"}
        if parts == ["v1", "watch"]:
            return self._watch_cluster()
        if not names.exclusive:
            raise Problem(409, 'there are no named elections: they need mode = "exclusive"')
        if parts[:2] == ["v1", "session"]:
            return self._session(names, parts[2:], body)
        if parts[:2] == ["v1", "elections"]:
            return self._election(names, parts[2:], query, body)
        raise Problem(404, f"there is nothing at {url.path}")

    def _session(self, names: Names, parts: list[str], body: dict[str, Any]) -> Optional[dict[str, Any]]:
        if not parts:
            if self.command != "POST":
                raise Problem(405, "/v1/session does not take that")
            return self._stream_of(names.open(body, self.is_unix, self._peer()))
        session = names.session(parts[0])
        self._need_session(session)
        if parts[1:] == [] and self.command == "DELETE":
            names.close(session)
            return {}
        if parts[1:] == ["process"] and self.command == "POST":
            if not self.is_unix:
                raise Problem(400, "processes are bound through the Unix socket only")
            session.processes.append(int(body["pid"]))
            return {"bound": session.processes}
        if len(parts) == 3 and parts[1] == "campaign":
            name = checked_name(parts[2])
            if self.command == "POST":
                if "keep" in body:
                    raise Problem(400, "the body: unknown field `keep`")
                return {"campaign": names.campaign(session, name, body)}
            if self.command == "DELETE":
                names.withdraw(session, name)
                return {}
        raise Problem(404, "there is nothing there")

    def _election(
        self, names: Names, parts: list[str], query: dict[str, str], body: dict[str, Any]
    ) -> Optional[dict[str, Any]]:
        if not parts:
            limit = int(query.get("limit", PAGE_MAX))
            if not 1 <= limit <= PAGE_MAX:
                raise Problem(400, f"limit: found {limit}, expected a whole number from 1 to {PAGE_MAX}")
            return names.page(query.get("after"), limit)
        name = checked_name(parts[0])
        what = (self.command, parts[1] if len(parts) > 1 else "")
        if what == ("GET", ""):
            with names.lock:
                return names.shown(names.get(name))
        if what == ("DELETE", ""):
            return names.delete(name)
        if what == ("GET", "check"):
            return names.check(name, int(query["token"]), self.is_unix)
        if what == ("GET", "watch"):
            return self._stream(names.watch(name))
        if what == ("PUT", "value"):
            return names.proclaim(name, body)
        if what in (("POST", "resign"), ("POST", "transfer")):
            return names.ask_back(name, body, what[1])
        if what == ("POST", "campaign"):
            session = names.open({"keep": body.get("keep")}, self.is_unix, self._peer())
            session.is_single = True
            try:
                names.campaign(session, name, body)
            except Problem:
                names.close(session)
                raise
            return self._stream_of(session)
        raise Problem(404, "there is nothing there")

    # Who asks, and what.

    def _peer(self) -> int:
        if not self.is_unix:
            return 0
        length = struct.calcsize("3i")
        pid, _, _ = struct.unpack("3i", self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, length))
        return int(pid)

    def _need_session(self, session: Session) -> None:
        if self.is_unix and self._peer() in session.processes:
            return
        if self.headers.get("Bellwether-Secret") != session.secret:
            raise Problem(403, "the secret is not that of the session")

    def _need_token(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {self.stand_in.token}":
            raise Problem(401, "the token is missing or wrong")

    def _body(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_MAX:
            raise Problem(413, f"found a body of {length} bytes, expected at most {BODY_MAX}")
        text = self.rfile.read(length)
        try:
            body = json.loads(text) if text else {}
        except ValueError as error:
            raise Problem(400, f"the body: {error}") from error
        if not isinstance(body, dict):
            raise Problem(400, "the body: expected an object")
        return body

    # Answers.

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _watch_cluster(self) -> Optional[dict[str, Any]]:
        after = int(self.headers.get("Last-Event-ID") or len(self.stand_in.changes))
        events: queue.Queue[tuple[str, Any]] = queue.Queue()
        events.put(("status", {"no": after, "leader": NODE}))
        for change in self.stand_in.changes[after:]:
            events.put(("change", change))
        return self._stream(events)

    def _stream_of(self, session: Session) -> Optional[dict[str, Any]]:
        try:
            return self._stream(session.events, session)
        finally:
            self.stand_in.names.stream_ended(session, by_agent=self._was_cut)

    def _stream(
        self, events: queue.Queue[tuple[str, Any]], session: Optional[Session] = None
    ) -> Optional[dict[str, Any]]:
        as_lines = "application/x-ndjson" in (self.headers.get("Accept") or "")
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if as_lines else "text/event-stream")
        # Whoever speaks HTTP/1.0 knows no chunks: the end of the connection is the end.
        self._in_chunks = self.request_version != "HTTP/1.0"
        if self._in_chunks:
            self.send_header("Transfer-Encoding", "chunked")
        if session is not None:
            self.send_header("Bellwether-Session", session.id)
            self.send_header("Bellwether-Death", "certain" if session.certain else "presumed")
        self.end_headers()
        gone = threading.Thread(target=self._listen, args=(events,), daemon=True)
        gone.start()
        self.stand_in.begin(events)
        try:
            self._pass_on(events, as_lines)
        finally:
            self.stand_in.end(events)
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            gone.join()
        return None

    def _pass_on(self, events: queue.Queue[tuple[str, Any]], as_lines: bool) -> None:
        while True:
            try:
                event, data = events.get(timeout=KEEP_ALIVE)
            except queue.Empty:
                self._chunk(b"\n" if as_lines else b":\n\n")
                continue
            if event == "gone":
                return
            if event == CUT[0]:
                self._was_cut = True
                return
            if not self.is_unix:
                data = {key: value for key, value in data.items() if key != "valid_until"}
            if as_lines:
                self._chunk(json.dumps({"event": event, **data}).encode() + b"\n")
            else:
                number = f"id: {data['no']}\n" if event in ("change", "status") else ""
                self._chunk(f"{number}event: {event}\ndata: {json.dumps(data)}\n\n".encode())
            if event == "end":
                self._was_cut = True
                self._chunk(b"")
                return

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content) if self._in_chunks else content)
        self.wfile.flush()

    def _listen(self, events: queue.Queue[tuple[str, Any]]) -> None:
        """Notices that the client has gone."""
        try:
            select.select([self.connection], [], [])
            self.connection.recv(1)
        except (OSError, ValueError):
            pass
        events.put(("gone", None))


def main() -> None:
    parser = argparse.ArgumentParser(description="An agent's doors without an agent")
    parser.add_argument("--directory", required=True, help="where the Unix socket is made, as agent.sock")
    parser.add_argument("--token", required=True)
    args = parser.parse_args()
    stand_in = StandIn(args.directory, token=args.token)
    print(stand_in.api, flush=True)
    sys.stdin.read()
    stand_in.stop()


if __name__ == "__main__":
    main()
