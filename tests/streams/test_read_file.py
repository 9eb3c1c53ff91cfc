"""Files that the native readers read by their descriptors: the same as through Python, whatever gives the bytes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from hinge import InputError
from hinge._core import SvmlightReader, VowpalTextReader
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats import text
from hinge.streams.formats.text import BATCH, PIECE, Svmlight, VowpalText

pytestmark = pytest.mark.skipif(not hasattr(SvmlightReader, "read_file"), reason="not on this system")

LINES = {
    Svmlight: [b"1 3:0.5 70:2 # one\n", b"-1 1:1e-3\r\n", b"\n", b"# nothing\n", b"2,3 999:7\n", b" 5:1\n"],
    VowpalText: [b"1 2 'tag|a x y:2\n", b"-1 |b:0.5 x\n", b"\n", b"|a \xc3\xa9:3 z\n", b"1 |word w w:2\n"],
}
KINDS = pytest.mark.parametrize("source", [Svmlight, VowpalText])


def content(source, size, seed=0):
    """Lines of different lengths, so that pieces are cut anywhere in them; the last one does not end."""
    lines = LINES[source]
    chosen = np.random.default_rng(seed).integers(len(lines), size=size // 8)
    return b"".join(lines[i] for i in chosen)[:size].rpartition(b"\n")[0]


def arrays(batch):
    text = batch.X
    parts = [*text.csr()[:3], text.labels, text.label_starts(), batch.lines, batch.weights]
    return [None if its is None else np.asarray(its).tolist() for its in parts]


def batches(source, path, bad=None, native=True):
    """The arrays of the batches, the names of new columns, widths and positions in the file."""
    with pytest.MonkeyPatch.context() as patch:
        if native:  # it must not be read through Python
            patch.delattr(text, "_fed_from")
        else:
            patch.setattr(text, "_fed_by_itself", lambda *_: None)
        return [
            (arrays(batch), batch.X.new_names, batch.X.width, batch.position)
            for batch in source().batches(Input(path), bad or BadLines())
        ]


def joined(found):
    """One batch of several, as lists."""
    rows = []
    for (values, columns, starts, labels, label_starts, lines, weights), *_ in found:
        for i, line in enumerate(lines):
            x, its = slice(*starts[i : i + 2]), slice(*label_starts[i : i + 2])
            rows.append((line, values[x], columns[x], labels[its], weights[i] if weights else 1.0))
    return rows, [name for _, names, *_ in found for name in names], found[-1][2] if found else 0


@KINDS
@pytest.mark.parametrize("size", [0, 1, 100, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, BATCH, 2 * BATCH + 77])
def test_file_gives_the_same_batches_natively_and_through_python(tmp_path, source, size):
    path = tmp_path / "data"
    path.write_bytes(content(source, size))
    found = batches(source, path)
    assert found == batches(source, path, native=False)
    assert len(found) == (size > 20) + (size > BATCH) + (size > 2 * BATCH)
    if found:
        assert found[-1][-1] == path.stat().st_size


@KINDS
def test_line_may_be_split_anywhere_between_pieces(tmp_path, source):
    line = LINES[source][0]
    path = tmp_path / "data"
    for before in range(len(line) + 2):
        path.write_bytes(b"#" * (PIECE - before - 1) + b"\n" + line * 2 if source is Svmlight else
                         b"1 |" + b" " * (PIECE - before - 4) + b"\n" + line * 2)  # fmt: skip
        assert batches(source, path) == batches(source, path, native=False)


@KINDS
@pytest.mark.parametrize("step", [7, 5000, 200_000])
def test_pipe_gives_the_same_rows(tmp_path, source, step):
    whole = content(source, 40 * step if step < 100 else 300_000)
    file = tmp_path / "data"
    file.write_bytes(whole)
    path = tmp_path / "fifo"
    os.mkfifo(path)

    def write():
        with open(path, "wb", buffering=0) as pipe:
            for start in range(0, len(whole), step):
                pipe.write(whole[start : start + step])
                time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    found = batches(source, path)
    writer.join()
    assert joined(found) == joined(batches(source, file, native=False))


def test_pipe_gives_available_lines_without_waiting():
    reader = SvmlightReader(first=1, max_features=10, max_line=1000)
    reader.restart(skip=False)
    out, into = os.pipe()
    with open(out, "rb", buffering=0), open(into, "wb", buffering=0) as pipe:
        for i in range(1, 4):
            pipe.write(b"1 2:3\n1 2:")
            assert reader.read_file(out, BATCH) is True  # it does not block
            assert reader.take().lines.tolist() == [2 * i - 2, 2 * i - 1][i == 1 :]
            pipe.write(b"4\n")
        pipe.close()
        assert reader.read_file(out, BATCH) is None
        assert reader.take().lines.tolist() == [6]


def test_non_blocking_pipe_is_read():
    reader = SvmlightReader(first=1, max_features=10, max_line=1000)
    reader.restart(skip=False)
    out, into = os.pipe()
    with open(out, "rb", buffering=0), open(into, "wb", buffering=0) as pipe:
        os.set_blocking(out, False)
        assert reader.read_file(out, BATCH) is True  # nothing is there, but it has not ended
        assert reader.take() is None
        pipe.write(b"1 2:3\n")
        assert reader.read_file(out, BATCH)
        assert reader.take().csr()[0].tolist() == [3.0]


@KINDS
@pytest.mark.parametrize("before", [0, 10, PIECE, BATCH + PIECE])
def test_bad_line_is_reported_with_its_place(tmp_path, source, before):
    good, path = content(source, before), tmp_path / "data"
    path.write_bytes(good + b"\nbad line\n" + content(source, 3 * PIECE, 1))
    errors = []
    for native in (True, False):
        with pytest.raises(InputError) as caught:
            batches(source, path, native=native)
        errors.append((caught.value.line, caught.value.column, str(caught.value)))
    assert errors[0] == errors[1]
    assert errors[0][0] == good.count(b"\n") + 2


@KINDS
@pytest.mark.parametrize("every", [1, 2, 1000])
def test_bad_lines_are_skipped_and_counted(tmp_path, source, every):
    path = tmp_path / "data"
    good = content(source, 2 * BATCH).split(b"\n")
    path.write_bytes(b"\n".join(b"bad line" if i % every == 0 else line for i, line in enumerate(good)))
    count = len(range(0, len(good), every))
    both = []
    for native in (True, False):
        bad = BadLines(skip=True, most=count)
        found = batches(source, path, bad, native)
        assert bad.count == count
        both.append((found, [str(error) for error in bad.first]))
    assert both[0] == both[1]

    for native in (True, False):
        bad = BadLines(skip=True, most=count // 2)
        with pytest.raises(
            InputError, match=f"{path}:1: .*the first of {count // 2 + 1} that cannot be read"
        ):
            batches(source, path, bad, native)


def test_bad_lines_do_not_accumulate_in_memory(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"x\n" * BATCH)
    reader = SvmlightReader(first=1, max_features=10, max_line=1000)
    reader.restart(skip=True)
    with open(path, "rb") as file:
        assert reader.read_file(file.fileno(), BATCH) is False
        assert file.raw.tell() == PIECE
        assert len(reader.bad_lines()) == PIECE // 2


@pytest.mark.parametrize("reader", [
    SvmlightReader(first=1, max_features=9, max_line=99),
    VowpalTextReader(hash_bits=0, max_features=9, grow=True, max_line=99),
])  # fmt: skip
def test_folders_and_invalid_descriptors_are_rejected(tmp_path, reader):
    reader.restart(skip=False)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(IsADirectoryError):
            reader.read_file(folder, BATCH)
    finally:
        os.close(folder)
    with pytest.raises(OSError, match="Bad file descriptor"):
        reader.read_file(-1, BATCH)
    with pytest.raises(TypeError):
        reader.read_file("data", BATCH)
    with pytest.raises(TypeError):
        reader.read_file(0, -1)
    reader.read(b"1\n" if isinstance(reader, SvmlightReader) else b"1 |a b\n")
    assert reader.take() is not None


def test_peeked_and_compressed_files_are_read_through_python(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(b"1 1:1\n-1 2:1\n"))
    writer.start()
    file = Input(path)
    assert file.peek() == b"1 1:1\n-1 2:1\n"
    assert sum(map(len, Svmlight().batches(file, BadLines()))) == 2
    writer.join()
    reader = SvmlightReader(first=1, max_features=9, max_line=99)
    for other in (io.BytesIO(b""), io.BufferedReader(io.BytesIO(b""))):
        assert text._fed_by_itself(reader, file, other, BATCH) is None


def test_peeked_pipe_is_read_in_large_batches(tmp_path):
    """The bytes that were peeked at come first; the rest is read by its descriptor, not in pieces of 64 KB."""
    (tmp_path / "data.svm").write_text(
        "".join(f"{1 - 2 * (k % 2)} {k % 100 + 1}:0.5 200:1\n" for k in range(100_000))
    )
    program = (
        "from hinge.streams.batches import BadLines\n"
        "from hinge.streams.files import Input\n"
        "from hinge.streams.sources import detect, make_source\n"
        "file = Input('-')\n"
        "batches = list(make_source(detect(file)).batches(file, BadLines()))\n"
        "print(sum(map(len, batches)), len(batches), batches[0].lines[0], batches[-1].lines[-1])\n"
    )
    feeding = subprocess.Popen(["cat", "data.svm"], stdout=subprocess.PIPE, cwd=tmp_path)
    with feeding:
        command = [sys.executable, "-c", program]
        ran = subprocess.run(command, stdin=feeding.stdout, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    rows, count, first, last = map(int, ran.stdout.split())
    assert (rows, first, last) == (100_000, 1, 100_000)
    assert count <= 10  # 1.7 MB
