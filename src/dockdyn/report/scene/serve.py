"""The page of a scene served to browsers: that page and its news alone, to whoever asks by this machine's name."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from dockdyn.interrupt import await_signal

EVENTS = "/events"  # where a page listens


def serve_page(page: str, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve a page; `ready` is told the address once browsers can come. Ends on an interrupt or a request to end."""
    with served(page, host, port) as address, await_signal() as asked:
        ready(address)
        asked.wait()


@contextmanager
def served(page: str, host: str, port: int, news: Callable[[], Iterable[str]] | None = None) -> Iterator[str]:
    """Yield the address of a server of the page, and of the events that it listens to, from when it asks for them."""
    content = page.encode()

    class Handler(BaseHTTPRequestHandler):
        """One request for the page."""

        def do_GET(self) -> None:
            if not own_page(self.headers.get_all("Origin", []), self.headers.get_all("Host", [])):
                self._answer(HTTPStatus.FORBIDDEN, b"not from this page\n", "text/plain")
            elif news is not None and self.path == EVENTS:
                self._tell(news())
            elif self.path.partition("?")[0] not in ("/", "/index.html"):
                self._answer(HTTPStatus.NOT_FOUND, b"no such page\n", "text/plain")
            else:
                self._answer(HTTPStatus.OK, content, "text/html; charset=utf-8")

        def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body)

        def _tell(self, events: Iterable[str]) -> None:
            """Send events until who listens is gone."""
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                for event in events:
                    self.wfile.write(event.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing: a request is no news."""

    class Server(ThreadingHTTPServer):
        """The server, of addresses of either version."""

        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing: a tab that is closed early needs no traceback."""

    server = Server((host, port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def own_page(origins: list[str], hosts: list[str]) -> bool:
    """Return whether a request comes from the page of the server it asks, or from no page.

    A foreign page may make its own name mean this machine: a name counts only where it is this machine's.
    """
    if len(hosts) != 1:
        return False
    try:
        name = urlsplit(f"http://{hosts[0]}").hostname or ""
    except ValueError:
        return False
    return (not origins or origins == [f"http://{hosts[0]}"]) and _own_name(name)


def _own_name(name: str) -> bool:
    """Return whether a host's name is an address, or a name that this machine gives itself."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in ("localhost", socket.gethostname().lower(), socket.getfqdn().lower())
    return True
