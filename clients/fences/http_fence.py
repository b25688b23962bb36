"""An HTTP service that refuses old tokens.

Whoever writes says its token in the header `Bellwether-Token`. `PUT` replaces what is at a path, `POST` adds to it. An old token is
answered with 409, and the header of the answer has the largest that has been seen. The service keeps everything in files with fences, so
it may be killed at any time. `python3 http_fence.py FOLDER` runs it on a port of 127.0.0.1 that it prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

from file_fence import FencedFile, OldToken

HEADER = "Bellwether-Token"
#: No body is longer.
BODY_MAX = 1 << 20
#: No token is larger: they are kept in 63 bits.
TOKEN_MAX = 2**63 - 1


class Service(ThreadingHTTPServer):
    """The service, and where its files are."""

    def __init__(self, folder: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Service

    def do_GET(self) -> None:
        token, content = self._file().read()
        self._answer(200, content, token)

    def do_PUT(self) -> None:
        self._change(lambda file, token, content: file.write(token, content))

    def do_POST(self) -> None:
        self._change(lambda file, token, content: file.update(token, lambda before: before + content))

    def _change(self, change: Callable[[FencedFile, int, bytes], None]) -> None:
        given = self.headers.get(HEADER)
        if given is None:
            return self._answer(428, f"this needs the header {HEADER}\n".encode())
        if not given.isascii() or not given.isdecimal() or not 0 < int(given) <= TOKEN_MAX:
            return self._answer(400, f"{HEADER}: found {given!r}, expected a token\n".encode())
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_MAX:
            return self._answer(413, f"found {length} bytes, expected at most {BODY_MAX}\n".encode())
        content = self.rfile.read(length)
        try:
            change(self._file(), int(given), content)
        except OldToken as old:
            return self._answer(409, f"{old}\n".encode(), old.seen)
        return self._answer(200, b"", int(given))

    def _file(self) -> FencedFile:
        return FencedFile(os.path.join(self.server.folder, quote(self.path, safe="") + ".fenced"))

    def _answer(self, status: int, content: bytes, token: int = 0) -> None:
        self.send_response(status)
        if token:
            self.send_header(HEADER, str(token))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    service = Service(sys.argv[1])
    print(service.server_port, flush=True)
    service.serve_forever()
