"""A model for each reader of a newspaper: what all readers like, what this one likes, and what new ones will like.

Readers open some articles and skip others. (All of it is simulated.) All of them like exclusive stories and dislike
long ones; which topics they like is a matter of taste. Some come every day, most only a few times. A `Fleet` has
weights that all readers share, and personal ones on top of them.

    python examples/fleet_news.py
    python examples/fleet_news.py --picture fleets.png    # needs matplotlib
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from typing import Any

from hinge import Fleet
from hinge.fleet import compare_forms

TOPICS = ["football", "film", "music", "politics", "science", "travel"]
LABELS = ["opens", "skips"]


def articles(count: int) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Readers, articles, and what the readers do with them."""
    random.seed(1)
    tastes: dict[str, dict[str, float]] = {}
    for _ in range(count):
        reader = f"reader-{min(int(random.paretovariate(0.6)), 500)}"
        taste = tastes.setdefault(reader, {topic: random.gauss(0, 1) for topic in TOPICS})
        topics = random.sample(TOPICS, 2)
        x = {
            **dict.fromkeys(topics, 1),
            "exclusive": random.random() < 0.5,
            "long": random.random() < 0.5,
        }
        liking = sum(taste[topic] for topic in topics) + 2 * x["exclusive"] - 2 * x["long"]
        yield reader, x, "opens" if liking > 0 else "skips"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--picture", metavar="FILE", help="draw the errors by the age of the reader")
    picture = parser.parse_args().picture
    stream = list(articles(10_000))
    readers, rows, labels = ([event[i] for event in stream] for i in range(3))

    forms = compare_forms("classification", readers, rows, labels, classes=LABELS)
    print(forms)
    if picture:
        from hinge.plots import plot_forms

        plot_forms(forms, picture)

    fleet = Fleet("classification", **forms.best.options)
    seen: dict[str, int] = {}
    wrong: list[list[bool]] = [[], []]
    for reader, article, label in stream:
        seen[reader] = seen.get(reader, 0) + 1
        wrong[seen[reader] > 100].append(fleet.round_one(reader, article, label) != label)
    print("\nArticles whose reader was predicted wrongly, in %:")
    print(f"  the first 100 of each reader {100 * sum(wrong[0]) / len(wrong[0]):.1f}")
    print(f"  later ones {100 * sum(wrong[1]) / len(wrong[1]):.1f}")

    story = {"film": 1, "exclusive": True}
    print(f"\nA new reader {fleet.predict_one('new', story)} an exclusive story about films.")
    regulars = [key for key, _ in fleet.top(20, by="rounds")]
    reader = max(regulars, key=lambda key: fleet.score_one(key, story))  # scores above 0 are the second label
    print(f"{reader} {fleet.predict_one(reader, story)} it, because of")
    for part in fleet[reader].explain_one(story):
        print(f"  {part.feature} {part.shared:+.2f} (all readers) {part.personal:+.2f} ({reader})")


if __name__ == "__main__":
    main()
