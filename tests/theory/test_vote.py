"""The vote of a committee on losses alone: its twin, its theorems T1.2 to T1.4, and what must not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hinge.theory import vote
from hinge.theory.committees import A, VoteRecord
from reference_vote import ReferenceVote

EPS = 1 + 1e-9


# --- sequences of losses ---------------------------------------------------------------------------------------------


def random_losses(rng):
    """0 and 1, or numbers of any size, with ties; experts of any quality, which may change."""
    rounds, experts = int(rng.integers(1, 200)), int(rng.integers(2, 9))
    rates = rng.random((1 + int(rng.integers(3)), experts)) ** rng.integers(1, 4)
    pieces = np.sort(rng.integers(0, rounds + 1, len(rates) - 1))
    rate = rates[np.searchsorted(pieces, np.arange(rounds), side="right")]
    losses = (rng.random((rounds, experts)) < rate).astype(float)
    if rng.integers(2):
        losses *= rng.exponential(size=(rounds, 1 if rng.integers(2) else experts)) * 10.0 ** rng.integers(
            -3, 4
        )
    losses[rng.random(rounds) < rng.choice([0.0, 0.3])] = rng.choice([0.0, 1.0])  # where all lose the same
    return losses


def adversarial_losses(rng):
    """The expert with the largest weight loses, or all but the smallest; or the leader is driven back and forth."""
    rounds, experts = int(rng.integers(1, 120)), int(rng.integers(2, 7))
    prior, kind, rows = random_prior(rng, experts), int(rng.integers(4)), []
    reference = ReferenceVote(prior)
    for t in range(rounds):
        p = reference.weights
        row = np.zeros(experts)
        if kind == 0:
            row[np.argmax(p)] = 1.0
        elif kind == 1:
            row[:] = 1.0
            row[np.argmin(p)] = 0.0
        elif kind == 2:
            row = (np.arange(experts) % 2 == t % 2).astype(float)
        else:  # the half of the weight that is the larger one
            order = np.argsort(-p)
            row[order[np.cumsum(p[order]) <= 0.6]] = rng.exponential()
            row[order[0]] = rng.exponential()
        rows.append(row)
        reference.learn(row)
    return np.array(rows), prior


def random_prior(rng, experts):
    prior = rng.exponential(size=experts) ** rng.choice([0.0, 1.0, 3.0]) + 1e-9
    return prior / prior.sum()


def sequences(count):
    rng = np.random.default_rng(0)
    for i in range(count):
        if i % 2:
            yield rng, *adversarial_losses(rng)
        else:
            losses = random_losses(rng)
            yield rng, losses, random_prior(rng, losses.shape[1])


# --- the twin --------------------------------------------------------------------------------------------------------


def test_the_vote_equals_its_twin():
    for _, losses, prior in sequences(120):
        found, twin = vote(losses, prior), ReferenceVote(prior)
        for t, row in enumerate(losses):
            np.testing.assert_allclose(found.weights[t], twin.weights, rtol=1e-9, atol=1e-12)
            twin.learn(row)
        np.testing.assert_allclose(found.weights[-1], twin.weights, rtol=1e-9, atol=1e-12)
        assert found.record.delta == pytest.approx(twin.delta, rel=1e-11)
        assert found.record.telling == twin.rounds


def test_the_record_is_what_was_observed():
    for _, losses, prior in sequences(60):
        found = vote(losses, prior)
        p, record = found.weights[:-1], found.record
        telling = np.ptp(losses, axis=1) > 0
        h = (p * losses).sum(axis=1)
        variance = (p * (losses - h[:, None]) ** 2).sum(axis=1)
        assert record.expected_loss == pytest.approx(h.sum())
        assert record.telling_loss == pytest.approx(h[telling].sum())
        assert record.variance == pytest.approx(variance[telling].sum())
        assert record.range == np.ptp(losses, axis=1).max()
        assert record.loss_of_all == pytest.approx(losses[~telling, 0].sum())
        assert (record.telling, record.weight) == (telling.sum(), len(losses))
        np.testing.assert_allclose(found.losses, losses.sum(axis=0))
        np.testing.assert_allclose(found.telling_losses, losses[telling].sum(axis=0))
        np.testing.assert_allclose(found.weights.sum(axis=1), 1)


# --- the theorems ----------------------------------------------------------------------------------------------------


def test_T1_2_the_expected_loss_is_close_to_that_of_every_expert():
    largest = 0.0
    for _, losses, prior in sequences(600):
        found = vote(losses, prior)
        record = found.record
        assert record.expected_loss <= found.regret_bounds.min() * EPS
        if record.delta > 0:
            regrets = record.expected_loss - losses.sum(axis=0)
            largest = max(largest, (regrets / (found.regret_bounds - losses.sum(axis=0))).max())
    assert largest > 0.5  # the bound is not empty


def test_T1_2_delta_is_bounded_by_the_variances():
    largest = 0.0
    for _, losses, prior in sequences(600):
        record = vote(losses, prior).record
        assert record.delta <= record.largest_delta * EPS
        largest = max(largest, record.delta / record.largest_delta if record.telling else 0.0)
    assert largest > 0.5


def test_the_lemma_of_one_round():
    """2 delta/eta <= v + (2/3) s delta, delta = h - m, v the variance and s the range of the losses under p."""
    rng, largest = np.random.default_rng(1), 0.0
    for _ in range(3000):
        p = random_prior(rng, int(rng.integers(2, 6)))
        losses = rng.exponential(size=len(p)) * (rng.random(len(p)) < 0.7)
        eta, h = 10.0 ** rng.uniform(-3, 3), p @ losses
        delta = h - losses.min() + math.log(p @ np.exp(-eta * (losses - losses.min()))) / eta
        v, s = p @ (losses - h) ** 2, np.ptp(losses)
        rounding = 1e-15 * (1 + h) / min(1.0, eta) ** 2  # delta is a difference
        assert 2 * delta / eta <= (v + 2 / 3 * s * delta) * EPS + rounding
        if v > 1e-6 and eta > 1e-2:
            largest = max(largest, 2 * delta / eta / (v + 2 / 3 * s * delta))
    assert largest > 0.99


def test_T1_3_the_expected_loss_is_close_to_that_of_a_sequence_of_experts():
    """Of all divisions into at most four pieces, that with the smallest bound."""
    largest = 0.0
    for rng, losses, prior in sequences(300):
        record = vote(losses, prior).record
        if not record.telling:
            continue
        for _ in range(5):
            cuts = np.sort(rng.integers(0, len(losses) + 1, int(rng.integers(0, 4))))
            pieces = np.split(losses, cuts)
            price = (len(pieces) * math.log(record.telling)) / A
            total = 0.0
            for piece in pieces:  # the best expert of each piece, with its prior
                costs = piece.sum(axis=0) + record.delta * np.log(1 / prior) / A
                k = int(costs.argmin())
                total += piece[:, k].sum()
                price += math.log(1 / prior[k]) / A
            assert record.expected_loss <= (total + record.delta * (1 + price)) * EPS
            largest = max(largest, (record.expected_loss - total) / (record.delta * (1 + price)))
    assert largest > 0.3


def test_T1_4_the_mistakes_of_the_vote():
    """Experts that predict labels; the label with the largest weight wins. Rounds on which all err count once."""
    rng = np.random.default_rng(2)
    for i in range(300):
        rounds, experts, labels = (int(rng.integers(1, most)) for most in (150, 9, 5))
        truth = rng.integers(labels, size=rounds)
        made = rng.integers(labels, size=(rounds, experts))
        right = rng.random((rounds, experts)) < rng.random(experts)
        made = np.where(right, truth[:, None], made)
        if i % 3 == 0 and experts > 1:  # two halves that contradict each other
            made = np.where(
                np.arange(experts) % 2 == rng.integers(2, size=(rounds, 1)),
                truth[:, None],
                truth[:, None] + 1,
            )
        losses, prior = (made != truth[:, None]).astype(float), random_prior(rng, experts)
        found = vote(losses, prior)
        record, mistakes = found.record, 0
        for t in range(rounds):
            votes = np.bincount(made[t], weights=found.weights[t], minlength=labels + 1)
            mistakes += votes[truth[t]] <= np.delete(votes, truth[t]).max(initial=0.0)  # ties are mistakes
        M, M_D = losses.sum(axis=0), found.telling_losses
        np.testing.assert_allclose(M, record.loss_of_all + M_D)
        prices = np.array([record.price(prior_k) for prior_k in prior])
        assert mistakes <= (record.loss_of_all + 2 * record.telling_loss) * EPS
        assert record.loss_of_all + 2 * record.telling_loss <= (M + M_D + 2 * prices).min() * EPS
        assert record.variance <= record.telling_loss * EPS
        for k in range(experts if record.telling else 0):
            c = prices[k] / record.delta
            bound = M_D[k] + c * math.sqrt(A * M_D[k]) + c * c * A + c * (2 * A / 3 + 1)
            assert record.telling_loss <= bound * EPS


# --- what does not matter --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1000.0, 2.0**-40, 1e-9])
def test_the_unit_of_the_losses_does_not_matter(factor):
    for _, losses, prior in sequences(40):
        one, other = vote(losses, prior), vote(factor * losses, prior)
        np.testing.assert_allclose(other.weights, one.weights, rtol=1e-7, atol=1e-12)
        assert other.record.delta == pytest.approx(factor * one.record.delta, rel=1e-9)
        if factor == 2.0**-40:  # powers of 2 commute with rounding
            assert (other.weights == one.weights).all()


def test_a_constant_added_to_all_losses_does_not_matter():
    for rng, losses, prior in sequences(40):
        raised = losses + rng.integers(0, 5, size=(len(losses), 1))
        np.testing.assert_allclose(
            vote(raised, prior).weights, vote(losses, prior).weights, rtol=1e-6, atol=1e-9
        )


def test_rounds_of_equal_losses_change_nothing():
    for rng, losses, prior in sequences(40):
        place = int(rng.integers(len(losses) + 1))
        equal = np.full((3, losses.shape[1]), rng.choice([0.0, 1.0, 7.5]))
        some = vote(np.insert(losses, place, equal, axis=0), prior)
        assert (np.delete(some.weights, slice(place, place + 3), axis=0) == vote(losses, prior).weights).all()


def test_copies_of_an_expert_share_its_weight():
    """A prior that is divided among equal experts gives the same vote: births of lattice lanes change nothing."""
    for rng, losses, prior in sequences(40):
        k, share = int(rng.integers(losses.shape[1])), float(rng.choice([0.5, 0.1, 0.75]))
        doubled = np.insert(losses, k, losses[:, k], axis=1)
        divided = np.insert(prior, k, share * prior[k])
        divided[k + 1] = (1 - share) * prior[k]
        one, two = vote(losses, prior), vote(doubled, divided)
        merged = np.delete(two.weights, k, axis=1)
        merged[:, k] += two.weights[:, k]
        np.testing.assert_allclose(merged, one.weights, rtol=1e-7, atol=1e-12)
        assert two.record.delta == pytest.approx(one.record.delta, rel=1e-9)


def test_the_first_difference_needs_no_rate():
    """Before it the weights are the prior, and the mix loss is the smallest loss: Delta is h - min."""
    found = vote([[3.0, 3.0], [1.0, 5.0]], [0.25, 0.75])
    assert found.weights[1].tolist() == [0.25, 0.75]
    assert found.record == VoteRecord(3.0, 7.0, 4.0, 3.0, 4.0, 3.0, 1, 2.0, 0.0)


def test_extreme_losses_leave_finite_weights():
    for losses in ([[0.0, 1e150]] * 5, [[0.0, 1e-300], [1e-300, 0.0]] * 5, [[0.0, 1.0]] * 20000):
        found = vote(losses)
        assert np.isfinite(found.weights).all()
        assert found.weights.min() >= 0
        np.testing.assert_allclose(found.weights.sum(axis=1), 1)


def test_invalid_losses_are_rejected():
    for losses, prior, message in [
        ([1.0, 2.0], None, r"\(rounds, experts\)"),
        (np.zeros((3, 0)), None, "at least one expert"),
        ([[0.0, math.nan]], None, "finite"),
        ([[0.0, 1e200]], None, "overflow"),
        ([[0.0, 1.0]], [1.0], "2 numbers above 0"),
        ([[0.0, 1.0]], [1.0, 0.0], "2 numbers above 0"),
        ([[0.0, 1.0]], [1.0, math.inf], "2 numbers above 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            vote(losses, prior)
