"""The server of viser as dockdyn lets it run: for their own page alone, and never published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import websockets.asyncio.server
from viser import ViserServer
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from dockdyn.report.scene.serve import own_page

POLICY = (  # viser's page unpacks scripts and runs them, reads what is inside it and talks to its server
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'unsafe-inline' 'unsafe-eval'; "
    "connect-src data: blob: 'self'; worker-src blob:; base-uri 'none'; form-action 'none'"
)


class _OwnPageAlone:
    """What a server of viser's is given: it talks to its own page only and cannot be asked to share what it shows."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401, viser's own
        with _guard_server():
            super().__init__(*arguments, **options)

    def request_share_url(self, verbose: bool = True) -> None:
        """Do nothing: viser would open a tunnel to a public server for whoever asks, and any browser may ask."""


class LiveServer(_OwnPageAlone, ViserServer):
    """A server of what is so now."""


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
                page.headers["Content-Security-Policy"] = POLICY
            return page

        return serve(*arguments, process_request=answered, **options)

    websockets.asyncio.server.serve = guarding  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]
    if not seen:
        raise RuntimeError("viser starts its server in another way than dockdyn guards")
