"""A fleet, and one hashed table for all keys: HINGE_DATA=<folder> python benchmarks/fleet_peers.py [names ...]

Users of one table make a feature of each pair of a key and a feature (-q of Vowpal Wabbit), in one table of 2^b weights
for all keys.

    fleet              Fleet with personal=1: the same model as the pairs, without collisions; PA-I, C=1
    fleet, AROW        the same with AROW, r=1
    hashed pairs, B    a Learner, PA-I, C=1, of the features and the pairs, hashed into 2^B columns
    VW, B              vw --binary -q kx -b B: its default, the squared loss, with adaptive steps
    VW logistic, B     the same with --loss_function logistic

Each predicts a row, gets the truth, and learns it. *us*: microseconds of CPU time per event from text: JSON lines
(`Fleet.ingest`), VW's own text. A Learner of pairs reads arrays that were made before, so it has no time. *bytes*: of
weights and what finds them. VW needs `pip install vowpalwabbit`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from hinge import Fleet, Learner
from keyed_streams import Keyed, artificial, enron
from measure import markdown_table

BITS = (18, 22)
AROW = {"geometry": "diagonal", "step": "pa2", "C": 0.5, "covariance_regularizer": 1.0}
STREAMS = {
    "artificial": lambda: [artificial(0.1, users=20_000, rounds=200_000)],
    "mail": lambda: [stream for stream in enron() if "recipients, by sender" in stream.name],
}
Result = tuple[float, float | None, float]  # error, microseconds, bytes


def fleet(stream: Keyed, **options: Any) -> Result:
    lines = b"".join(json_lines(stream))
    made = Fleet(stream.task, personal=1.0, **options)
    began = time.process_time()
    predicted = made.ingest(lines)
    took = time.process_time() - began
    return wrong(predicted, stream.y), 1e6 * took / len(stream.y), sys.getsizeof(made)


def hashed_pairs(stream: Keyed, bits: int) -> Result:
    """The columns of the features, those of the keys, and those of the pairs, by one multiplicative hash."""
    from scipy.sparse import csr_matrix

    x = csr_matrix(stream.x)
    codes = np.unique(np.asarray(stream.keys), return_inverse=True)[1].ravel().astype(np.uint64)
    lengths = np.diff(x.indptr)
    of_rows = np.repeat(codes, lengths)
    places = x.indices.astype(np.uint64)
    shared, pairs = hashed(places, bits), hashed(places + (of_rows + np.uint64(1)) * np.uint64(2**32), bits)
    keys = hashed((codes + np.uint64(1)) * np.uint64(2**32) + np.uint64(2**31), bits)
    rows = np.concatenate([np.repeat(np.arange(len(codes)), lengths)] * 2 + [np.arange(len(codes))])
    columns, values = (
        np.concatenate([shared, pairs, keys]),
        np.concatenate([x.data, x.data, np.ones(len(codes))]),
    )
    wide = csr_matrix((values, (rows, columns)), shape=(len(codes), 2**bits))  # pairs of one column add up
    learner = Learner("classification", classes=[False, True])
    learner.learn(wide, stream.y)
    return learner.statistics.mean_cost, None, 8.0 * 2**bits


def hashed(places: Any, bits: int) -> Any:
    with np.errstate(over="ignore"):
        mixed = places * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(64 - bits)).astype(np.int64)


def vw(stream: Keyed, bits: int, options: str = "") -> Result:
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        text, made = Path(folder, "text"), Path(folder, "predictions")
        text.write_text("".join(vw_lines(stream)), encoding="utf-8")
        began = time.process_time()
        workspace = Workspace(f"--quiet --binary -q kx -b {bits} {options} -d {text} -p {made}")
        workspace.run_parser()
        workspace.finish()
        took = time.process_time() - began
        predicted = [float(line) > 0 for line in made.read_text(encoding="ascii").splitlines()]
    # A weight, and what its adaptive, normalized steps need: four floats.
    return wrong(predicted[: len(stream.y)], stream.y), 1e6 * took / len(stream.y), 16.0 * 2**bits


def wrong(predicted: list[Any], y: list[Any]) -> float:
    return float(np.mean([p != t for p, t in zip(predicted, y, strict=True)]))


def rows_of(stream: Keyed) -> Any:
    from scipy.sparse import csr_matrix

    x = csr_matrix(stream.x)
    for key, y, start, stop in zip(stream.keys, stream.y, x.indptr[:-1], x.indptr[1:], strict=True):
        yield key, y, zip(x.indices[start:stop].tolist(), x.data[start:stop].tolist(), strict=True)


def json_lines(stream: Keyed) -> Any:
    for key, y, row in rows_of(stream):
        x = {f"f{column}": round(value, 6) for column, value in row}
        yield json.dumps({"key": key, "label": bool(y), "x": x}).encode() + b"\n"


def vw_lines(stream: Keyed) -> Any:
    names: dict[Any, int] = {}
    for key, y, row in rows_of(stream):
        features = " ".join(f"f{column}:{value:.6g}" for column, value in row)
        yield f"{1 if y else -1} |k u{names.setdefault(key, len(names))} |x {features}\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"which to run (all): {', '.join(STREAMS)}")
    options = parser.parse_args()
    for name in options.names or STREAMS:
        for stream in STREAMS[name]():
            found = {"fleet": fleet(stream), "fleet, AROW": fleet(stream, **AROW)}
            for bits in BITS:
                found[f"hashed pairs, {bits}"] = hashed_pairs(stream, bits)
                found[f"VW, {bits}"] = vw(stream, bits)
                found[f"VW logistic, {bits}"] = vw(stream, bits, "--loss_function logistic")
            rows = [
                [who, f"{error:.4f}", "" if us is None else f"{us:.1f}", f"{size / 1e6:.1f} MB"]
                for who, (error, us, size) in found.items()
            ]
            print(f"{stream.name}: {len(stream.y):,} events of {len(set(stream.keys)):,} keys\n")
            print(markdown_table(["", "error", "us", "memory"], rows), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
