"""Campaigns that are stopped, damaged or shared among processes: the same in the end, nothing lost."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr
from helpers.processes import stop_once
from small_campaign import command, same_store

import dockdyn
from dockdyn.cli.campaign import claim_folder
from dockdyn.cli.common import Refusal
from dockdyn.studies.campaign import conduct as campaign
from dockdyn.studies.campaign.chunk import Chunk
from dockdyn.studies.campaign.seal import Damaged, add_seal, open_sealed
from dockdyn.studies.campaign.store import Store

SMALL_CHUNKS = (
    "from dockdyn.studies.campaign import conduct as c; c.CHUNK = 4; from dockdyn.__main__ import main; main()"
)

# the same, slowly, so that it can be stopped in the middle
SLOWLY = SMALL_CHUNKS.replace(
    "from dockdyn.__main__",
    "import time; f = c.compute_chunk; c.compute_chunk = lambda *a: (time.sleep(0.3), f(*a))[1]; from dockdyn.__main__",
)


def killed_after(chunks, folder, arguments, by=signal.SIGKILL):
    """Start a campaign and stop it, by default without warning, once so many chunks are there; what it said."""
    return stop_once(lambda: len(list((folder / "chunks").glob("[0-9]*.chunk"))) >= chunks, SLOWLY, *arguments, by=by)


def small_chunks(*arguments):
    return subprocess.run(
        [sys.executable, "-c", SMALL_CHUNKS, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_two_campaigns_on_one_folder(dock, file, tmp_path):
    """The second is refused, whatever it asks for, until the first ends, however it does."""
    hold = "import sys; from pathlib import Path; from dockdyn.studies.campaign.store import Store\n"
    hold += "with Store(Path(sys.argv[1])).claimed(): print('held', flush=True); sys.stdin.read()"
    folder = tmp_path / "shared"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    for more in ((), ("--seed", 8), ("--resume",)):
        ended = dock("campaign", "run", file, "--out", folder, *more)
        ended.check_refused("another process runs a campaign there")
    with pytest.raises(dockdyn.ScenarioError, match="another process"):
        dockdyn.campaign(dockdyn.load(file), folder)
    assert [path.name for path in folder.iterdir()] == [".lock"]
    holder.kill()
    holder.communicate()
    with Store(folder).claimed():
        pass
    assert not folder.exists()  # nothing came into it


@pytest.mark.full
def test_two_processes_at_once(file, whole):
    folder = file.parent / "at once"
    arguments = [str(part) for part in ("campaign", "run", file, "--out", folder, "--json")]
    code = "from dockdyn.cli.main import main; main()"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments, *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for more in ((), ("--seed", "8"))
    ]
    told = [process.communicate()[1] for process in running]
    codes = [process.returncode for process in running]
    assert sorted(codes) == [0, 2] and "another process runs a campaign there" in told[codes.index(2)]
    if codes[0] == 0:
        same_store(whole[0], folder)


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / ".lock").mkdir()  # which root cannot open either
    with pytest.raises(Refusal, match="cannot be written to"), claim_folder(Store(folder)):
        pass


@pytest.mark.full
def test_damaged_chunks_are_computed_again(dock, file, tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "CHUNK", 4)
    arguments = ("campaign", "run", file, "--runs", 20, "--out", "five", "--json")
    assert dock(*arguments).returncode == 0
    other = ("campaign", "run", file, "--runs", 4, "--seed", 8, "--out", "other", "--json")
    assert dock(*other).returncode == 0
    folder, untouched = tmp_path / "five", tmp_path / "untouched"
    shutil.copytree(folder, untouched)
    chunk = [folder / "chunks" / f"{number:06d}.chunk" for number in range(5)]
    chunk[0].write_bytes((tmp_path / "other/chunks/000000.chunk").read_bytes())
    flipped = bytearray(chunk[1].read_bytes())
    flipped[len(flipped) // 2] ^= 4
    chunk[1].write_bytes(flipped)
    chunk[2].write_bytes(chunk[3].read_bytes())
    chunk[4].write_bytes(chunk[4].read_bytes()[:-1000])
    ended = dock(*arguments, "--resume")
    assert ended.returncode == 0
    reasons = {
        0: "it is of another campaign",
        1: "its checksum does not fit",
        2: "it is chunk-3 of the campaign, not chunk-2",
        4: "its checksum is missing: cut short, or of an earlier dockdyn",
    }
    lines = [line for line in ended.stderr.splitlines() if line.startswith("warning")]
    assert lines == [f"warning: five/chunks/{n:06d}.chunk: {why}; computed again" for n, why in reasons.items()]
    same_store(untouched, folder)
    for number in range(5):
        one, other = (
            Chunk.from_bytes(part.read_bytes()) for part in (chunk[number], untouched / "chunks" / chunk[number].name)
        )
        assert (one.first, one.described) == (other.first, other.described) and list(one.columns) == list(other.columns)
        for name, values in one.columns.items():
            np.testing.assert_array_equal(values, other.columns[name])
    # a report says what is damaged, and changes nothing
    data = folder / "campaign.nc"
    data.write_bytes(data.read_bytes()[:-7])
    ended = dock("campaign", "report", "five")
    assert ended.returncode == 2 and "go on with --resume, which computes it again" in ended.stderr
    assert dock(*arguments, "--resume").returncode == 0  # from the chunks
    same_store(untouched, folder)


@pytest.mark.full
def test_a_folder_that_an_earlier_version_began_is_not_begun_again(dock, file, tmp_path):
    """Stopped before its end, with chunks of another form: nothing of it is written over."""
    assert dock("campaign", "run", file, "--runs", 4, "--out", "x").returncode == 0
    (tmp_path / "x/campaign.nc").unlink()
    (tmp_path / "x/chunks/000000.chunk").rename(tmp_path / "x/chunks/000000.nc")
    index = tmp_path / "x/campaign.json"
    stated = json.loads(index.read_text())
    stated.pop("sum")
    index.write_text(json.dumps(stated | {"format": 2}, indent=2))
    (tmp_path / "x/chunks/campaign.json").unlink()
    before = {path: path.read_bytes() for path in (tmp_path / "x").rglob("*") if path.is_file()}
    for more, words in (((), "give --resume"), (("--resume",), "is of another version of dockdyn")):
        ended = dock("campaign", "run", file, "--runs", 4, "--out", "x", *more)
        assert ended.returncode == 2 and words in ended.stderr
        assert {path: path.read_bytes() for path in before} == before


def flipped(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def test_a_bit_that_flips_in_an_index_changes_nothing(file, whole, tmp_path):
    """Nor one in its copy beside the chunks; of both it is damaged."""
    shutil.copytree(whole[0], tmp_path / "x")
    store, draw = Store(tmp_path / "x"), random.Random(41)
    before, there = store.index.read_bytes(), store.campaign()
    assert store.copy.read_bytes() == before
    for _ in range(300):
        place = draw.choice((store.index, store.copy))
        place.write_bytes(flipped(before, draw))
        assert store.campaign() == there
        place.write_bytes(before)
    store.index.write_bytes(flipped(before, draw))
    store.copy.write_bytes(flipped(before, draw))
    with pytest.raises(dockdyn.ScenarioError, match=r"x/campaign\.json: "):
        store.campaign()


@pytest.mark.full_cases("True")
@pytest.mark.parametrize("lost", [False, True])
def test_a_campaign_with_a_damaged_index_goes_on(lost, dock, file, whole, tmp_path):
    shutil.copytree(whole[0], tmp_path / "x")
    store = Store(tmp_path / "x")
    store.whole.unlink()
    before = store.index.read_bytes()
    if lost:
        store.index.unlink()
    else:
        store.index.write_bytes(before.replace(b'"seed": 7', b'"seed": 5'))
    ended = dock("campaign", "run", file, "--out", "x", "--resume", "--json")
    assert ended.returncode == 0, ended.stderr
    assert "warning: x/campaign.json: damaged or lost; made again from its copy beside the chunks\n" in ended.stderr
    assert store.index.read_bytes() == before
    same_store(whole[0], tmp_path / "x")


HEADLESS = Chunk(0, 1.0, {"reason": np.array(["", ""], object)}, {}).as_bytes().replace(b'["reason"]', b'["mass"]')


@pytest.mark.full_cases("[]\\n", "\\xff\\n", "", '{"first": 0}\\n12', "{}")
@pytest.mark.parametrize("content", [b"", b"{}", b"[]\n", b'{"first": 0}\n12', b"\xff\n", HEADLESS])
def test_what_is_sealed_but_no_chunk_is_one_line(content, dock, file, tmp_path):
    assert dock("campaign", "run", file, "--runs", 4, "--out", "x").returncode == 0
    (tmp_path / "x/campaign.nc").unlink()
    store = Store(tmp_path / "x")
    store.chunk(0).write_bytes(add_seal(content, store.campaign().hash, "chunk-0"))
    ended = dock("campaign", "report", "x")
    ended.check_refused("000000.chunk: is sealed, but nothing that a campaign writes")


def test_no_flipped_byte_passes():
    whole = add_seal(bytes(range(256)) * 3, "a" * 64, "chunk-7")
    assert open_sealed(whole, "a" * 64, "chunk-7") == bytes(range(256)) * 3
    for place in range(len(whole)):
        for change in (bytes([whole[place] ^ 1]), b""):
            with pytest.raises(Damaged):
                open_sealed(whole[:place] + change + whole[place + 1 :], "a" * 64, "chunk-7")


@pytest.mark.full
@pytest.mark.parametrize("kills", [(3,), (1, 3, 5)])
def test_killed_and_resumed_it_is_the_same(file, whole, kills):
    folder = file.parent / f"killed {len(kills)}"
    arguments = ("campaign", "run", file, "--out", folder, "--resume", "--json")
    for chunks in kills:
        killed_after(chunks, folder, arguments)
        assert not (folder / "campaign.nc").exists()
    told, code = killed_after(7, folder, arguments, signal.SIGINT)
    assert code == 130 and "of 40 cases are kept; go on with: dockdyn campaign run" in told
    ended = small_chunks(*arguments)
    assert ended.returncode == 0, ended.stderr
    reference, resumed = (xr.load_dataset(f / "campaign.nc", engine="h5netcdf") for f in (whole[0], folder))
    assert resumed.attrs["chunk"] == 4
    assert reference.drop_attrs(deep=False).identical(resumed.drop_attrs(deep=False))


@pytest.mark.full
def test_workers_give_the_same_store(file, whole):
    pytest.importorskip("distributed")
    folder = file.parent / "workers"
    ended = command("campaign", "run", file, "--out", folder, "--workers", 2, "--json")
    assert ended.returncode == 0, ended.stderr
    same_store(whole[0], folder)


@pytest.mark.full
def test_a_worker_of_a_cluster_may_die(file, whole):
    """A cluster of three processes, one of which is killed in the middle."""
    distributed = pytest.importorskip("distributed")
    folder = file.parent / "cluster"
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        arguments = ("campaign", "run", file, "--out", folder, "--scheduler", cluster.scheduler_address, "--json")
        process = subprocess.Popen(
            [sys.executable, "-c", SMALL_CHUNKS, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun = time.monotonic()
        while len(list((folder / "chunks").glob("[0-9]*.chunk"))) < 2 and process.poll() is None:
            assert time.monotonic() - begun < 500, "no chunk came"
            time.sleep(0.01)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        told = process.communicate(timeout=500)
    assert process.returncode == 0, told
    reference, shared = (xr.load_dataset(f / "campaign.nc", engine="h5netcdf") for f in (whole[0], folder))
    assert reference.drop_attrs(deep=False).identical(shared.drop_attrs(deep=False))


@pytest.mark.full
def test_a_full_disk_stops_it_so_that_it_can_go_on(file, whole):
    """Files of more than 8 kB cannot be written: no chunk can be kept."""
    folder = file.parent / "full"
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY)); "
    arguments = [str(part) for part in ("campaign", "run", file, "--out", folder, "--resume", "--json")]
    done = subprocess.run(
        [sys.executable, "-c", limit + "from dockdyn.__main__ import main; main()", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "file too large; 0 of 40 cases are kept; go on with: dockdyn campaign run" in done.stderr
    assert not list((folder / "chunks").glob("*.chunk"))
    assert command(*arguments).returncode == 0
    same_store(whole[0], folder)


def test_no_scheduler_there_is_one_line(dock, file, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("dockdyn.studies.cases.cluster.PATIENCE", 1)
    ended = dock("campaign", "run", file, "--out", "x", "--scheduler", "tcp://127.0.0.1:9")
    ended.check_refused("no Dask scheduler can be reached there")


def test_a_lost_scheduler_says_how_to_go_on(dock, file, monkeypatch):
    from contextlib import contextmanager

    from dockdyn.studies.campaign import conduct as campaign
    from dockdyn.studies.cases import cluster

    @contextmanager
    def gone(count, scheduler):
        def spread(function, tasks):
            raise cluster.WorkLost("CommClosedError: the scheduler is gone")
            yield

        yield spread

    monkeypatch.setattr(cluster, "spread_over_workers", gone)
    monkeypatch.setattr(campaign, "run_nominal", lambda *_: 0.0)
    ended = dock("campaign", "run", file, "--out", "x", "--workers", 2)
    assert ended.returncode == 3 and ended.stderr.count("\n") == 1
    assert "the scheduler is gone; 0 of 40 cases are kept; go on with: dockdyn campaign run" in ended.stderr
