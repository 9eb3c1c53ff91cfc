"""Aligning a performance with its score, by a time warping whose weights are learned (an application that J06 names).

Both are pitch contours of the same melody. The performance has another tempo, is out of tune, now and then in the
wrong octave, and has wrong notes. An alignment is a path through all pairs of frames; its score adds up what w says of
each pair that it passes, and of each step on in both at once. Dynamic time warping finds the best path, PAStructured
learns w from pairs of contours whose true path is known.

    python examples/alignment.py [--picture FILE]
"""

from __future__ import annotations

import argparse

import numpy as np

from hinge import PAStructured

# An input x is an array: what is true of each pair of frames, score x performance x these. Then there is the step.
KINDS = ("in tune", "a semitone off", "some tones off", "far off", "an octave off", "onset in one only")
NAMES = (*KINDS, "on in both at once")
BY_HAND = {
    "by hand: the distance in semitones": np.array([0.0, -1.0, -3.0, -8.0, -12.0, 0.0, 0.0]),
    "by hand: octaves forgiven": np.array([0.0, -1.0, -3.0, -8.0, 0.0, 0.0, 0.0]),
}


def joint_features(x, path):
    """How often the path passes pairs of each kind, and advances in both: by the number of frames."""
    both = (np.diff(path, axis=0) == 1).all(axis=1).sum()
    return np.append(x[path[:, 0], path[:, 1]].sum(axis=0), both) / sum(x.shape[:2])


def argmax(w, x):
    return best_path(x @ w[:-1], w[-1])


def cost(path, predicted):
    """How many frames the predicted path is off the true one, in the mean."""
    return frames_off(path)[predicted[:, 0], predicted[:, 1]].sum() / (path[-1] + 1).sum()


def loss_augmented_argmax(w, x, path):
    """The largest score + cost: both are sums over the pairs of a path, so it is the same search."""
    return best_path(x @ w[:-1] + frames_off(path), w[-1])


def best_path(pairs, both):
    """Dynamic time warping: the path with the largest sum, of its pairs and of `both` for each step in both."""
    rows, both = pairs.tolist(), float(both)
    best, back = [np.cumsum(rows[0]).tolist()], [[2] * len(rows[0])]
    for row in rows[1:]:
        above, sums, came = best[-1], [best[-1][0] + row[0]], [1]
        for j in range(1, len(row)):
            ways = (above[j - 1] + both, above[j], sums[-1])
            came.append(ways.index(max(ways)))
            sums.append(max(ways) + row[j])
        best.append(sums)
        back.append(came)
    path = [(len(rows) - 1, len(rows[0]) - 1)]
    while path[-1] != (0, 0):
        i, j = path[-1]
        path.append((i - (back[i][j] != 2), j - (back[i][j] != 1)))
    return np.array(path[::-1])


def frames_off(path):
    """How far each pair of frames is off the path; one frame is not counted."""
    rows, columns = path[-1] + 1
    at = np.interp(np.arange(rows), path[:, 0], path[:, 1])
    return np.maximum(0.0, np.abs(np.arange(columns) - at[:, np.newaxis]) - 1)


def play(rng, notes, durations, sloppy):
    """The pitch of each frame, whether a note begins in it, and how many notes into the melody it is."""
    count, sloppy = len(notes), float(sloppy)
    pitch = notes + sloppy * 12 * rng.choice([-1, 0, 1], count, p=[0.15, 0.7, 0.15])
    pitch = pitch + sloppy * rng.normal(0, 5, count) * (rng.random(count) < 0.1)
    lengths = np.maximum(1, np.round(durations * np.exp(sloppy * rng.normal(0, 0.35, count)))).astype(int)
    note = np.repeat(np.arange(count), lengths)
    begins = np.diff(note, prepend=-1) == 1
    place = np.concatenate([np.arange(length) / length for length in lengths]) + note
    return (
        pitch[note] + sloppy * rng.normal(0, 0.4, len(note)),
        begins ^ (rng.random(len(note)) < 0.05 * sloppy),
        place,
    )


def make_pair(rng):
    """A score with a performance, and the true path."""
    notes = 60 + np.cumsum(rng.choice([-4, -2, -1, 0, 1, 2, 4], size=rng.integers(8, 12)))
    durations = rng.choice([2.0, 4.0, 6.0], size=len(notes))
    (pitch, begins, place), (its_pitch, its_begins, its_place) = (
        play(rng, notes, durations, sloppy) for sloppy in (False, True)
    )
    apart = np.abs(pitch[:, np.newaxis] - its_pitch)
    octave = np.abs(apart - 12) < 1
    kinds = [apart < 0.75, apart < 1.5, apart < 4, ~octave, octave]  # the first that is true
    first = np.argmax(kinds, axis=0)
    x = np.stack([*(first == kind for kind in range(5)), begins[:, np.newaxis] != its_begins], axis=-1)
    return x.astype(float), best_path(-np.abs(place[:, np.newaxis] - its_place), 0.0)


def draw(file, x, path, weights):
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(7, 6), layout="constrained")).subplots()
    axes.imshow(x[:, :, 0] + x[:, :, 4] / 2, cmap="Greys", origin="lower", aspect="auto", alpha=0.4)
    axes.plot(path[:, 1], path[:, 0], color="black", linewidth=5, alpha=0.4, label="the true path")
    for name, w in weights.items():
        found = argmax(w, x)
        axes.plot(found[:, 1], found[:, 0], label=f"{name} ({cost(path, found):.2f} frames off)")
    axes.set(
        xlabel="frames of the performance",
        ylabel="frames of the score",
        title="dark: in tune, or an octave off",
    )
    axes.legend(loc="upper left")
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description="Learns to align performances with scores.")
    parser.add_argument("--picture", metavar="FILE", help="draw one of the held-out pairs (needs matplotlib)")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = zip(*(make_pair(rng) for _ in range(60)), strict=True)
    model = PAStructured(
        joint_features, argmax, cost, loss_augmented_argmax, selection="max-additive",
        average=True, max_iter=5, random_state=0,
    )  # fmt: skip
    weights = BY_HAND | {"learned": model.fit(X[:30], y[:30]).coef_}
    print("frames off the true path, in the mean, of 30 held-out performances")
    for name, w in weights.items():
        costs = [cost(path, argmax(w, x)) for x, path in zip(X[30:], y[30:], strict=True)]
        print(f"  {name:36}{np.mean(costs):5.2f}")
    print("\nthe weights, by hand and learned (all scaled to the same length)")
    for name, *its in zip(NAMES, *(w / np.linalg.norm(w) for w in weights.values()), strict=True):
        print(f"  {name:20}" + "".join(f"{weight:8.2f}" for weight in its))
    if arguments.picture:
        draw(arguments.picture, X[30], y[30], weights)


if __name__ == "__main__":
    main()
