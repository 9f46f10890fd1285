"""Test a loss of power: it removes the bytes that were written and not synced, and no others."""

import os

import pytest

from lab.errors import ExitStatus, MissingProgram
from lab.experiments import matrix
from lab.scenario import reader
from lab.scenario.stages import find_stage
from lab.servers import synced_files
from lab.servers.synced_files import SyncedFiles, can_see, need_sight, unsynced_pages


@pytest.fixture
def kernel(monkeypatch):
    """Return a list with the number of unsynced pages that the kernel reports, or with None if it does not report."""
    pages: list[int | None] = [0]

    def asked(file: int) -> int:
        if pages[0] is None:
            raise OSError("Function not implemented")
        return pages[0]

    monkeypatch.setattr(synced_files, "unsynced_pages", asked)
    return pages


@pytest.fixture
def appended(tmp_path):
    """Yield the file to which a Redis appends."""
    (tmp_path / "appendonlydir").mkdir()
    with (tmp_path / "appendonlydir" / "appendonly.aof.1.incr.aof").open("ab", buffering=0) as file:
        yield file


@pytest.mark.parametrize(("first", "then"), [(b"synced", b", not synced"), (b"", b"not synced"), (b"synced", b"")])
def test_unsynced_bytes_are_lost(kernel, appended, tmp_path, first, then):
    """The file is cut to the length at which it was last seen synced; without such a length, the whole file is lost."""
    files = SyncedFiles(tmp_path)
    if first and then:
        appended.write(first)
        files.look()
    kernel[0] = len(then) > 0
    appended.write(then or first)
    if first and then:
        files.look()

    files.lose_unsynced()

    assert (tmp_path / "appendonlydir" / "appendonly.aof.1.incr.aof").read_bytes() == first


def test_kernel_reports_unsynced_pages(tmp_path):
    """The kernel counts the pages of a write, and none of them after a sync."""
    if not can_see(tmp_path):
        pytest.skip("this kernel, or the file system of the temporary folder, does not report unsynced pages")
    with (tmp_path / "file").open("wb", buffering=0) as file:
        file.write(b"x" * 10_000)
        assert unsynced_pages(file.fileno()) > 0
        os.fsync(file.fileno())
        assert unsynced_pages(file.fileno()) == 0


@pytest.mark.parametrize("reported", [None, 0, 1])
def test_a_kernel_that_does_not_report_is_refused(kernel, tmp_path, reported):
    """A loss of power is refused if the kernel lacks the call, or if a file always or never has unsynced pages."""
    kernel[0] = reported

    with pytest.raises(MissingProgram, match=r"cachestat .* Linux 6\.5 or newer, .* not on tmpfs") as refused:
        need_sight(tmp_path)

    assert refused.value.exit_status == ExitStatus.CANNOT_RUN


@pytest.mark.parametrize("name", ["power_loss_always", "power_loss_everysec", "power_loss_no"])
def test_matrix_leaves_a_loss_of_power_out(kernel, name):
    """If the kernel does not report unsynced pages, a loss of power cannot be in the matrix, and other faults can."""
    kernel[0] = None

    assert "cachestat" in matrix.lacking(reader.load(name), find_stage("lua"))
    assert "cachestat" not in matrix.lacking(reader.load("store_restart_persisted"), find_stage("lua"))
