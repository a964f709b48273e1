"""What is refused: in one line that says what is wrong."""

from contextlib import contextmanager
from typing import NamedTuple

import pytest


@contextmanager
def refused(*words, match=None):
    """Expect a refusal of what is inside: one line with all of `words` in it, which `match` fits, a regular expression."""
    from dockdyn.scenario.language.errors import ScenarioError  # after the settings that conftest.py makes

    with pytest.raises(ScenarioError, match=match) as caught:
        yield
    line = str(caught.value)
    assert "\n" not in line
    assert [word for word in words if word not in line] == [], line


class CommandResult(NamedTuple):
    """What a command has left, as `subprocess` gives it."""

    returncode: int
    stdout: str
    stderr: str

    def check_refused(self, *words):
        """Assert exit code 2, nothing on the output, and one line of error with all of `words` in it."""
        assert (self.returncode, self.stdout, self.stderr.count("\n")) == (2, "", 1), self
        assert [word for word in words if word not in self.stderr] == [], self.stderr
