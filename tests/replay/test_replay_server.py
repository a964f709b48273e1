"""The server of replays and of live views: it talks to its own page alone."""

import http.client

import pytest

from dockdyn.report.scene.serve import EVENTS, own_page, served


def test_the_page_is_given_to_the_names_of_this_machine_alone():
    with served("<p>the page</p>", "127.0.0.1", 0) as address:
        host = address.removeprefix("http://")
        for path, headers, status in (
            ("/", {}, 200),
            ("/?theme=dark", {"Origin": address}, 200),
            ("/etc/passwd", {}, 404),
            ("//../etc/passwd", {}, 404),
            ("/", {"Origin": "http://evil.example"}, 403),
            ("/", {"Host": "evil.example"}, 403),  # a name that its owner pointed at this machine
        ):
            line = http.client.HTTPConnection(host, timeout=10)
            line.request("GET", path, headers=headers)
            answer = line.getresponse()
            assert (answer.status, b"the page" in answer.read()) == (status, status == 200), (path, headers)
            line.close()


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://localhost:8080", "localhost:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://192.0.2.7:8080", "192.0.2.7:8080", True),
        ("http://evil.example:8080", "evil.example:8080", False),  # a name that its owner pointed at this machine
        ("http://localhost:8080", "localhost:9090", False),
        ("http://[", "[", False),
    ],
)
def test_which_pages_are_its_own(origin, host, own):
    assert own_page([origin], [host]) is own


def test_events_are_told_to_its_own_page_alone():
    with served("<p>the page</p>", "127.0.0.1", 0, lambda: iter(["data: 1\n\n", "data: 2\n\n"])) as address:
        for origin, status in ((None, 200), (address, 200), ("http://evil.example", 403), ("null", 403)):
            line = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
            line.request("GET", EVENTS, headers={} if origin is None else {"Origin": origin})
            answer = line.getresponse()
            told = answer.read()
            assert (answer.status, told == b"data: 1\n\ndata: 2\n\n") == (status, status == 200), origin
            line.close()


def test_a_page_without_news_has_no_events():
    with served("<p>the page</p>", "127.0.0.1", 0) as address:
        line = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
        line.request("GET", EVENTS)
        assert line.getresponse().status == 404
        line.close()
