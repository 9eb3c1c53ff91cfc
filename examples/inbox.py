"""An inbox that sorts itself: texts, categories and numbers in one record, learned as they come.

Each mail is a record with a subject, a body, a sender and its attachments. (All of it is simulated.) `Features` says
which fields are text and which are not features, `Pipeline` learns from records, and the file that it saves needs
nothing else.

    python examples/inbox.py
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

import hinge

TOPICS = {
    "invoices": ["invoice", "payment", "due", "account", "total"],
    "meetings": ["agenda", "monday", "room", "minutes", "call"],
    "travel": ["flight", "hotel", "booking", "gate", "ticket"],
}
SENDERS = {"invoices": "billing", "meetings": "ann", "travel": "airline"}
COMMON = ["please", "thanks", "find", "attached", "dear", "best", "regards", "today", "week", "you"]


def mails(count: int, seed: int = 0) -> Iterator[tuple[dict[str, Any], str]]:
    random = np.random.RandomState(seed)
    for number in range(count):
        folder = str(random.choice(list(TOPICS)))
        words = [*random.choice(COMMON, 8), *random.choice(TOPICS[folder], 2)]
        sender = SENDERS[folder] if random.rand() < 0.6 else "bob"
        yield (
            {
                "id": number,
                "subject": " ".join(random.choice(COMMON, 3)),
                "body": " ".join(map(str, random.permutation(words))),
                "sender": {"name": sender, "known": bool(random.rand() < 0.5)},
                "attachments": ["pdf"] if folder == "invoices" and random.rand() < 0.7 else [],
                "reply_to": None,
            },
            folder,
        )


def main() -> None:
    features = hinge.Features(text=["subject", "body"], drop=["id"])
    inbox = hinge.Pipeline(features, hinge.Learner("classification"))
    wrong = [0, 0]
    for place, (mail, folder) in enumerate(mails(1000)):
        wrong[place >= 500] += inbox.predict_one(mail) != folder
        inbox.learn_one(mail, folder)
    print("Mails in the wrong folder, each predicted before it was learned:")
    print(f"  of the first 500 {wrong[0]}")
    print(f"  of the last 500 {wrong[1]}")

    with tempfile.TemporaryDirectory() as folder:
        inbox.save(os.path.join(folder, "inbox.hinge"))
        again = hinge.load(os.path.join(folder, "inbox.hinge"))
    mail = {"subject": "your flight", "body": "gate and ticket attached", "sender": {"name": "airline"}}
    print(f"A new mail goes to {again.predict_one(mail)}, because of")
    for part in again.explain_one(mail)[:3]:
        print(f"  {part.feature} {part.contribution:+.3f}")


if __name__ == "__main__":
    main()
