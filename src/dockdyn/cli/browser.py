"""A page in the browser, or in a file to pass on: what commands that show one have in common."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dockdyn.cli.common import Refusal, say, vacant_file, with_ending, write_text

PORT, LOOPBACK = 8080, "127.0.0.1"

Html = Annotated[Path | None, typer.Option("--html", help="Write a page that needs no network, instead of serving.")]
Port = Annotated[
    int | None, typer.Option("--port", min=1, max=65535, help=f"Port to serve on; by default {PORT} or a free one.")
]
Host = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help="Address to serve on; others than this machine can then look."),
]


class Showing(NamedTuple):
    """Where a page is shown: in a file, or at an address until Ctrl-C."""

    html: Path | None
    host: str
    port: int | None
    force: bool

    @staticmethod
    def of(html: Path | None, host: str | None, port: int | None, force: bool, source: Path | None = None) -> Showing:
        """Return it as the options of a command say; `source` is a file that must stay. Raises Refusal."""
        if html is None:
            _refuse_no_address(host or LOOPBACK)
            return Showing(None, host or LOOPBACK, port, force)
        for flag in (flag for flag, value in {"--host": host, "--port": port}.items() if value is not None):
            raise Refusal(f"{flag}: is of serving; must be without --html")
        html = with_ending(html, ".html")
        vacant_file(html, force, *(() if source is None else (source,)), other="another --html")
        return Showing(html, LOOPBACK, None, force)

    def show(self, page: str, title: str) -> None:
        """Write the page, or serve it until Ctrl-C, and say under its `title` where it is."""
        if self.html is not None:
            write_text(self.html, page, self.force)
            say(f"{title}: {self.html}")
            return
        from dockdyn.report.scene.serve import serve_page

        if not _address(self.host).is_loopback:
            say(f"warning: {self.host} is no loopback address: whoever reaches it can look at this page", err=True)
        serve_page(
            page, self.host, free_port(self.host, self.port), lambda url: say(f"{title}: {url} (Ctrl-C ends it)")
        )


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(LOOPBACK if host == "localhost" else host)


def _refuse_no_address(host: str) -> None:
    try:
        _address(host)
    except ValueError:
        raise Refusal(f"--host {host}: must be an address of this machine, such as 127.0.0.1 or 0.0.0.0") from None


def free_port(host: str, port: int | None) -> int:
    """Return the port asked for; where none is, the usual one or, where that is taken, one that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in (PORT, 0) if port is None else (port,):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, one))
            except OSError as error:
                if one == PORT and port is None:
                    continue
                where = f"--port {one}" if port is not None else f"--host {host}"
                raise Refusal(f"{where}: cannot be served on ({error.strerror}); give another") from None
            return int(probe.getsockname()[1])
    raise AssertionError
