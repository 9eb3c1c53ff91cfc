"""Certificates of a run: the stream is read again, to measure the losses of multiples of the learned weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._core import TextPart
from ..learner import Learner
from ..model.experts import is_committee
from ..options.table import COVARIANCES
from ..streams.batches import Batch, part, rows_of_text
from ..streams.evaluation import Study
from ..streams.guessing import shown_label
from ..streams.stream import Shuffled, Stream
from ..streams.truths import with_labels
from ..structured.sequence_learner import SequenceLearner
from ..theory import committees
from ..theory.certificate import Certificate, Hindsight
from ..theory.hindsight import rows, sentences


def no_comparators(study: Study, stream: Stream | Shuffled) -> str:
    """Why the loss of a fixed predictor on the stream cannot be measured; "" if it can."""
    learner = study.learner
    if study.is_committee:
        why_not = "a committee is compared with its experts, not with fixed predictors: hinge inspect prints its bound"
    elif isinstance(learner, SequenceLearner):
        why_not = sentences.no_theorem(learner)
    elif study.ranker is not None:
        why_not = sentences.started_elsewhere(learner)
    elif rows.grew_from_two(learner):
        named = ",".join(map(shown_label, learner.labels.known))
        why_not = f"{rows.GREW}: name all of them with --classes {named if len(named) < 200 else '...'}"
    else:
        why_not = rows.no_theorem(learner) or _no_run(learner)
    if not why_not and not stream.can_be_read_again:
        why_not = "a pipe cannot be read again to measure the loss of a fixed predictor"
    return why_not


def _no_run(learner: Any) -> str:
    """Why a run in another geometry cannot be repeated."""
    p = learner.parameters
    if p["geometry"] == "entropy":
        return "new features appeared, which changed the weights of the others, and no theorem covers that"
    if p["geometry"] in COVARIANCES and learner.many_scores and p["classes"] is None:
        return "with a covariance all labels must be named (--classes), because the run is repeated"
    return ""


def hindsight(study: Study) -> Hindsight:
    if isinstance(study.learner, SequenceLearner):
        return sentences.of_learned(study.learner)
    if study.ranker is None:
        return rows.of_learned(study.learner)
    from ..theory.hindsight import rankings

    return rankings.of_learned(study.ranker)


def first_is_start(study: Study) -> bool:
    """Whether the first example was not a round, but the start."""
    learner = study.learner
    return not isinstance(learner, SequenceLearner) and study.ranker is None and rows.starts_at_first(learner)


def see(seen: Hindsight, study: Study, batch: Batch, name: str) -> None:
    """Measures the next examples of the stream; a batch may be empty."""
    if not len(batch):
        return
    X: Any = batch.X
    y, unseen, width = study.truth(batch, name), None, study.learner.n_features
    if isinstance(X, TextPart):
        X, unseen = rows_of_text(X, width), X.unseen_squares(width)
    elif study.ranker is None and not isinstance(study.learner, SequenceLearner):
        X, unseen = rows.looked_up(study.learner, X, known=False)
    seen.see(X, y, unseen)


def certified(studies: Sequence[tuple[Study, str]], stream: Stream | Shuffled) -> list[Certificate]:
    """The certificates of learners that have learned the stream once. Each study comes with the reason why it has none,
    or "". The stream is read once for all of them; committees do not need it."""
    seen = [
        None if why_not or _committee(study) is not None else hindsight(study) for study, why_not in studies
    ]
    for piece in stream.once() if any(seen) else ():
        for (study, _), each in zip(studies, seen, strict=True):
            if each is not None:
                see(each, study, with_labels(piece.batch, study._task), piece.file.name)
    return [_certificate(study, why_not, each) for (study, why_not), each in zip(studies, seen, strict=True)]


def _certificate(study: Study, why_not: str, seen: Hindsight | None) -> Certificate:
    if seen is not None:
        return seen.certificate()
    committee = _committee(study)
    return Certificate.none(why_not) if committee is None else committees.certificate(committee)


def _committee(study: Study) -> Learner | None:
    learner = study.learner
    return learner if isinstance(learner, Learner) and is_committee(learner) else None


def moments(study: Study, stream: Stream | Shuffled, examples: list[int]) -> Iterator[Hindsight]:
    """The state of the hindsight after each of these numbers of examples, which ascend."""
    seen, wanted, count = hindsight(study), iter(examples), 0
    stop = next(wanted, None)
    for piece in stream.once():
        batch, name, begin = with_labels(piece.batch, study._task), piece.file.name, 0
        while stop is not None and stop <= count + len(batch):
            see(seen, study, part(batch, begin, stop - count), name)
            begin = stop - count
            yield seen
            stop = next(wanted, None)
        see(seen, study, part(batch, begin, len(batch)), name)
        count += len(batch)
