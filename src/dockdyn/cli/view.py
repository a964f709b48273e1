"""`dockdyn view`: the replay of a run, served to a browser or written as one page."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import Force, NoOwnCode, Refusal, say, vacant_file, with_ending, write_text

PORT, LOOPBACK = 8080, "127.0.0.1"


def view(
    result: Annotated[Path, typer.Argument(help="The result.nc of a run.")],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page that needs no network, instead of serving.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help=f"Port to serve on; by default {PORT} or a free one.")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Address to serve on; others than this machine can then look."),
    ] = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Replay a run in the browser.

    Bodies and forces, until Ctrl-C; or, with --html, as a page to pass on.
    """
    from dockdyn.api import scene_of
    from dockdyn.results.store import as_written, open_result, result_in

    result = result_in(result)
    if html is not None:
        for flag in (flag for flag, value in {"--host": host, "--port": port}.items() if value is not None):
            raise Refusal(f"{flag}: is of serving; must be without --html")
        html = with_ending(html, ".html")
        vacant_file(html, force, result, other="another --html")
    host = host or LOOPBACK
    address = None if html is not None else _check_host(host)
    with as_written(result):
        scene = scene_of(open_result(result), result.parent, str(result))
    for words in scene.warnings:
        say(f"warning: {words}", err=True)
    from dockdyn.report.scene.page import page_of

    if html is not None:
        write_text(html, page_of(scene), force)
        say(f"Replay: {html}")
        return
    from dockdyn.report.scene.serve import serve_page

    assert address is not None
    if not address.is_loopback:
        say(f"warning: {host} is no loopback address: whoever reaches it can look at this replay", err=True)
    serve_page(page_of(scene), host, free_port(host, port), lambda url: say(f"Replay: {url} (Ctrl-C ends it)"))


def _check_host(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the address of --host."""
    try:
        return ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise Refusal(f"--host {host}: must be an address of this machine, such as 127.0.0.1 or 0.0.0.0") from None


def free_port(host: str, port: int | None) -> int:
    """Return the port asked for; where none is, the usual one or, where that is taken, one that is free."""
    import socket

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
