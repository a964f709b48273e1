"""The servers of viser and viser4d as dockdyn lets them run: for their own page alone, and never published."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import viser.infra._infra as infra
import websockets.asyncio.server
from viser import ViserServer
from viser4d import Viser4dServer
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from dockdyn.report.embedded_replay import served_policy


class _OwnPageAlone:
    """What a server of viser's is given: it talks to its own page only and cannot be asked to share what it shows."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401, viser's own
        with _guard_server():
            super().__init__(*arguments, **options)

    def request_share_url(self, verbose: bool = True) -> None:
        """Do nothing: viser would open a tunnel to a public server for whoever asks, and any browser may ask."""


class LocalServer(_OwnPageAlone, Viser4dServer):
    """A server of what has been recorded."""

    def as_html(self, **options: Any) -> str:  # noqa: ANN401, viser4d's own
        """Return a page that plays what has been recorded, and needs no server."""
        with _packed_lightly():
            return super().as_html(**options)

    def _queue_block_refresh(self, changed_block: int) -> None:
        """Tell every browser of what has been recorded since; viser4d starts a thread for it though there be none."""
        if self.get_client_playbacks():
            super()._queue_block_refresh(changed_block)


class LiveServer(_OwnPageAlone, ViserServer):
    """A server of what is so now."""


@contextmanager
def _packed_lightly() -> Iterator[None]:
    """Let viser pack lightly in here: its own level takes 25 times as long for 2 % of the page.

    viser has no option for it.
    """
    zstandard = infra.zstandard
    infra.zstandard = SimpleNamespace(ZstdCompressor=lambda **_: zstandard.ZstdCompressor(level=3))  # type: ignore[assignment]
    try:
        yield
    finally:
        infra.zstandard = zstandard


@contextmanager
def _guard_server() -> Iterator[None]:
    """Let a server of viser's that starts in here refuse connections from other pages, and its own fetches nothing from
    elsewhere.

    viser has no option for either.
    """
    serve, seen = websockets.asyncio.server.serve, []

    def guarding(
        *arguments: Any,  # noqa: ANN401, those of `serve`
        process_request: Callable[..., Any] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> websockets.asyncio.server.serve:
        seen.append(True)

        def answered(connection: ServerConnection, request: Request) -> Any:  # noqa: ANN401, as of `process_request`
            if not own_page(request.headers.get_all("Origin"), request.headers.get_all("Host")):
                return connection.respond(HTTPStatus.FORBIDDEN, "not from this page\n")
            page = None if process_request is None else process_request(connection, request)
            if page is not None:
                page.headers["Content-Security-Policy"] = served_policy()
            return page

        return serve(*arguments, process_request=answered, **options)

    websockets.asyncio.server.serve = guarding  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]
    if not seen:
        raise RuntimeError("viser starts its server in another way than dockdyn guards")


def own_page(origins: list[str], hosts: list[str]) -> bool:
    """Return whether a request comes from the page of the server it asks, or from no page.

    A foreign page may make its own name mean this machine: a name counts only where it is this machine's.
    """
    if not origins:
        return True
    try:
        name = urlsplit(origins[0]).hostname or ""
    except ValueError:
        return False
    return len(hosts) == 1 and origins == [f"http://{hosts[0]}"] and _own_name(name)


def _own_name(name: str) -> bool:
    """Return whether a host's name is an address, or a name that this machine gives itself."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in ("localhost", socket.gethostname().lower(), socket.getfqdn().lower())
    return True
