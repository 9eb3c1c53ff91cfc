"""Streams of keyed examples: users who do not all like the same."""

import csv
import io
import json
import random


def records(count, users=6, seed=0, ints=False):
    """Records with a key, three features and a label, which depends on the user."""
    draw = random.Random(seed)
    taste = [[draw.choice([-1, 1]) * draw.uniform(0.5, 1.5) for _ in range(5)] for _ in range(users)]
    found = []
    for _ in range(count):
        user = min(draw.randrange(users), draw.randrange(users))
        topics = draw.sample(range(5), 2)
        size = round(draw.uniform(-1, 1), 3)
        score = sum(taste[user][topic] for topic in topics) + size
        features = {f"t{topic}": 1 for topic in topics}
        found.append(
            {
                "user": user if ints else f"u{user}",
                **features,
                "size": size,
                "label": "yes" if score > 0 else "no",
            }
        )
    return found


def as_json(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows, separator=","):
    """A table in which absent features are empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    table = csv.DictWriter(out, sorted(names), delimiter=separator, restval="0", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def parted(rows):
    """Keys, features and labels."""
    keys = [row["user"] for row in rows]
    X = [{name: value for name, value in row.items() if name not in ("user", "label")} for row in rows]
    return keys, X, [row["label"] for row in rows]


def contents(fleet):
    """All that a fleet has learned: two fleets with the same contents have the same bits."""
    core = fleet._core
    parts = []
    for key in [*fleet, *([None] if fleet.parameters["shared"] else [])]:
        names, weights, biases = core.weights(key)
        counted = core.statistics(key), core.labels_of(key), core.counts(key)[:2]
        parts.append((key, *counted, names, weights.tobytes(), biases.tobytes()))
    return fleet.task, fleet.parameters, fleet.labels, core.clock, parts
