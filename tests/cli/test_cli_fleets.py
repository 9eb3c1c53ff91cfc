"""`hinge learn --key` and what goes with it: a fleet is learned, saved, resumed, predicted with, shown and compared."""

from __future__ import annotations

import gzip
import json
import signal

import pytest

import hinge
from command_line import feed, started, wait_for_examples
from fleets import state
from hinge import Fleet
from keyed_files import as_csv, as_json, parted, records

ROWS = records(400)


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "users.jsonl").write_text(as_json(ROWS))
    (tmp_path / "users.csv").write_text(as_csv(ROWS))
    return run


def same(one, other):
    """Whether two fleets are the same to the bit, whatever their notes say: also if they learn on."""
    if state(one, sizes=False) != state(other, sizes=False):
        return False
    for fleet in (one, other):
        fleet.learn_many(
            *parted(
                [{**row, "label": fleet.labels[0] if fleet.labels else 0.5} for row in records(30, seed=9)]
            )
        )
    return state(one, sizes=False) == state(other, sizes=False)


def fleet_of(rows, **options):
    fleet = Fleet("classification", **options)
    fleet.learn_many(*parted(rows))
    return fleet


def mistakes_of(rows, **options):
    fleet = Fleet("classification", **options)
    keys, X, y = parted(rows)
    return sum(a != b for a, b in zip(fleet.round_many(keys, X, y), y, strict=True))


# ---- learning ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {}, {"shared": False}, {"personal": 1.5}, {"step": "pa2", "C": 0.1, "geometry": "diagonal"}, {"average": True},
], ids=str)  # fmt: skip
def test_a_run_learns_the_fleet_of_python(run, tmp_path, options):
    flags = {"shared": ["--no-shared"], "average": ["--average", "yes"]}
    given = [word for name, value in options.items() for word in flags.get(name, [f"--{name}", value])]
    done = run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "--json", *given)
    assert done.code == 0, done.err
    loaded = hinge.load(tmp_path / "fleet")
    assert isinstance(loaded, Fleet)
    assert same(loaded, fleet_of(ROWS, **options))
    last = done.records[-1]
    assert (last["examples"], last["keys"]) == (400, len({row["user"] for row in ROWS}))
    if options != {"average": True}:
        assert last["error"] == last["mistakes"] / 400
    # A tie is a mistake for a learner, and the first label for those who count predictions.
    assert last["error"] * 400 == pytest.approx(mistakes_of(ROWS, **options), abs=6)


def test_the_report_says_who_was_learned_and_how_well_new_keys_were_predicted(run):
    done = run("learn", "users.jsonl", "--key", "user", "-q")
    head, new, largest = done.out.splitlines()
    assert head.startswith("classification (shared + personal 0.5, pa1, C=1): 400 examples, ")
    assert ", 6 keys, " in head
    assert new.startswith("New keys (their first 10 examples): ")
    assert largest.startswith("Largest keys (examples): u0 (")
    by_age = run("learn", "users.jsonl", "--key", "user", "--json").records[-1]["by_age"]
    assert [group["examples"] for group in by_age[:4]] == ["1", "2", "3-5", "6-10"]
    assert [group["rounds"] for group in by_age[:4]] == [6, 6, 18, 30]
    assert sum(group["rounds"] for group in by_age) == 400


def test_tables_and_compressed_files_and_pipes_give_the_same_fleet(run, tmp_path):
    rows = [{name: float(value) if name == "size" else value for name, value in row.items()} for row in ROWS]
    full = [{**{f"t{j}": 0 for j in range(5)}, **row} for row in rows]
    (tmp_path / "full.jsonl").write_text(as_json(full))
    (tmp_path / "full.csv.gz").write_bytes(gzip.compress(as_csv(full).encode()))
    (tmp_path / "full.tsv").write_text(as_csv(full, "\t"))
    fleets = []
    for name in ("full.jsonl", "full.csv.gz", "full.tsv"):
        assert run("learn", name, "--key", "user", "-m", f"{name}.fleet", "-q").code == 0
        fleets.append(hinge.load(tmp_path / f"{name}.fleet"))
    process = started("learn", "-", "--key", "user", "-m", "pipe.fleet", "-q", folder=tmp_path)
    process.communicate(as_json(full).encode(), timeout=60)
    assert process.returncode == 0
    fleets.append(hinge.load(tmp_path / "pipe.fleet"))
    weights = [{key: pytest.approx(fleet[key].named_weights()) for key in fleet} for fleet in fleets]
    for fleet in fleets[1:]:
        assert {key: fleet[key].named_weights() for key in fleet} == weights[0]
        assert fleet.statistics.mistakes == fleets[0].statistics.mistakes


def test_keys_of_arrow_tables_keep_their_type(run, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = records(60, ints=True)
    table = pa.table(
        {name: [row.get(name, 0) for row in rows] for name in ("user", "t0", "t1", "size", "label")}
    )
    parquet.write_table(table, tmp_path / "users.parquet")
    assert run("learn", "users.parquet", "--key", "user", "-m", "fleet", "-q").code == 0
    assert set(hinge.load(tmp_path / "fleet")) == {row["user"] for row in rows}


def test_in_a_table_keys_are_strings_and_in_json_as_written(run, tmp_path):
    (tmp_path / "a.csv").write_text("user,x,y\n7,1,a\n08,1,b\n")
    (tmp_path / "a.jsonl").write_text('{"user":7,"x":1,"y":"a"}\n{"user":"7","x":1,"y":"b"}\n')
    for name in ("a.csv", "a.jsonl"):
        assert run("learn", name, "--key", "user", "-m", f"{name}.fleet", "-q").code == 0
    assert list(hinge.load(tmp_path / "a.csv.fleet")) == ["7", "08"]
    assert set(hinge.load(tmp_path / "a.jsonl.fleet")) == {7, "7"}


def test_regression_and_weights(run, tmp_path):
    rows = [
        {**row, "label": row["size"] * 2 + len(row["user"]), "w": 1 + i % 2} for i, row in enumerate(ROWS)
    ]
    (tmp_path / "numbers.jsonl").write_text(as_json(rows))
    done = run(
        "learn", "numbers.jsonl", "--key", "user", "--weight", "w", "--C", "0.1", "-m", "fleet", "--json"
    )
    fleet = Fleet("regression", C=0.1)
    keys = [row["user"] for row in rows]
    X = [{name: value for name, value in row.items() if name not in ("user", "label", "w")} for row in rows]
    y = [row["label"] for row in rows]
    predicted = fleet.round_many(keys, X, y, [row["w"] for row in rows])
    assert same(hinge.load(tmp_path / "fleet"), fleet)
    distances = [abs(a - b) for a, b in zip(predicted, y, strict=True)]
    assert done.records[-1]["error"] == pytest.approx(sum(distances) / 400)


def test_passes_and_shuffling(run, tmp_path):
    assert run("learn", "users.jsonl", "--key", "user", "--passes", "3", "-m", "three", "-q").code == 0
    assert same(hinge.load(tmp_path / "three"), fleet_of(ROWS * 3))
    one = run("learn", "users.jsonl", "--key", "user", "--json").records[-1]
    three = run("learn", "users.jsonl", "--key", "user", "--passes", "3", "--json").records[-1]
    assert (three["passes"], three["error"], three["by_age"]) == (3, one["error"], one["by_age"])
    done = run("learn", "users.jsonl", "--key", "user", "--shuffle", "-m", "shuffled", "-q")
    assert done.code == 0
    loaded = hinge.load(tmp_path / "shuffled")
    assert {key: loaded[key].statistics.rounds for key in loaded} == {
        key: view.statistics.rounds for key in fleet_of(ROWS) if (view := fleet_of(ROWS)[key])
    }


def test_options_of_texts_and_fields(run, tmp_path):
    rows = [{"user": row["user"], "text": " ".join(name for name in row if name[0] == "t"), "label": row["label"]}
            for row in ROWS]  # fmt: skip
    (tmp_path / "texts.jsonl").write_text(as_json(rows))
    assert run("learn", "texts.jsonl", "--key", "user", "--text", "text", "-m", "fleet", "-q").code == 0
    assert set(hinge.load(tmp_path / "fleet")["u0"].named_weights()) == {f"text=t{j}" for j in range(5)}
    assert run("predict", "texts.jsonl", "-m", "fleet", "-q").code == 0


# ---- saving, stopping, resuming ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--no-shared"], ["--passes", "2"]], ids=str)
def test_a_resumed_run_is_bit_identical(run, tmp_path, options):
    lines = as_json(ROWS).splitlines(keepends=True)
    assert run("learn", "users.jsonl", "--key", "user", "-m", "once", "-q", *options).code == 0
    broken = [*lines[:230], "no json\n", *lines[230:]]
    (tmp_path / "users.jsonl").write_text("".join(broken))
    done = run("learn", "users.jsonl", "--key", "user", "-m", "fleet", *options)
    assert done.code == 2
    assert "users.jsonl:231:" in done.err
    assert "fleet holds the 230 examples before it" in done.err
    (tmp_path / "users.jsonl").write_text("".join(lines))
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "--resume", "-q", *options).code == 0
    one, other = hinge.load(tmp_path / "once"), hinge.load(tmp_path / "fleet")
    assert one.notes["ages"] == other.notes["ages"]
    assert same(one, other)


def test_the_key_is_kept_with_the_fleet(run):
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-q").code == 0
    assert run("learn", "users.jsonl", "-m", "fleet", "--resume", "-q").code == 0
    done = run("learn", "users.jsonl", "-m", "fleet", "--resume", "--key", "size", "-q")
    assert done.code == 2
    assert "the data was read with key='user': --resume cannot change this" in done.err
    done = run("learn", "users.jsonl", "-m", "fleet", "--resume", "--no-shared", "-q")
    assert "fleet has shared=True, and only the limits of a fleet can change" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_what_was_learned(run, tmp_path, number):
    process = started(
        "learn",
        "-",
        "--key",
        "user",
        "-m",
        "fleet",
        "--progress",
        "1",
        "--task",
        "classification",
        folder=tmp_path,
    )
    feed(process, as_json(ROWS[:100]))
    wait_for_examples(process, 100)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + number, told
    assert same(hinge.load(tmp_path / "fleet"), fleet_of(ROWS[:100]))


def test_saving_now_and_then_and_a_kill(run, tmp_path):
    process = started("learn", "-", "--key", "user", "-m", "fleet", "--save-every", "50", "--progress", "50",
                      folder=tmp_path)  # fmt: skip
    feed(process, as_json(ROWS[:120]), examples=100)
    feed(process, as_json(ROWS[120:130]))
    process.kill()
    process.communicate(timeout=60)
    saved = hinge.load(tmp_path / "fleet")
    learned = saved.notes["stream"]["position"]["examples"]
    assert learned in (50, 100)
    assert same(saved, fleet_of(ROWS[:learned]))


def test_a_log_is_followed(run, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(as_json(ROWS[:50]))
    process = started("learn", "log.jsonl", "--follow", "--key", "user", "-m", "fleet", "--progress", "1",
                      folder=tmp_path)  # fmt: skip
    wait_for_examples(process, 50)
    with log.open("a") as file:
        file.write(as_json(ROWS[50:90]))
    wait_for_examples(process, 90)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert same(hinge.load(tmp_path / "fleet"), fleet_of(ROWS[:90]))


def test_a_followed_log_is_learned_exactly_once_after_a_kill(run, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(as_json(ROWS[:50]))
    arguments = [
        "learn",
        "log.jsonl",
        "--follow",
        "--key",
        "user",
        "-m",
        "fleet",
        "--resume",
        "--save-every",
        "20",
    ]
    for count, end in ((50, "kill"), (90, "terminate")):
        process = started(*arguments, "--progress", "1", folder=tmp_path)
        wait_for_examples(process, count)
        if end == "kill":
            process.kill()
            with log.open("a") as file:
                file.write(as_json(ROWS[50:90]))
        else:
            process.terminate()
        process.communicate(timeout=60)
    assert same(hinge.load(tmp_path / "fleet"), fleet_of(ROWS[:90]))


# ---- invalid lines and options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "why"), [
    ('{"t0":1,"label":"yes"}', 'there is no field "user" (--key): there are "t0", "label"'),
    ('{"user":null,"label":"yes"}', 'a key, a string or a whole number, was expected in "user", there is null'),
    ('{"user":1.5,"label":"yes"}', 'a key, a string or a whole number, was expected in "user", there is 1.5'),
    ('{"user":true,"label":"yes"}', 'a key, a string or a whole number, was expected in "user", there is true'),
    ('{"user":["a"],"label":"yes"}', 'a key, a string or a whole number, was expected in "user", there is ["a"]'),
    ('{"user":99999999999999999999,"label":"yes"}', 'the key in "user" is beyond 64 bits: write it as a string'),
    ('{"user":"%s","label":"yes"}' % ("u" * 1025), "a key must have at most 1024 bytes, not 1025"),
    ('{"user":"u0","label":["yes","no"]}', "there are 2 labels (--task multilabel learns sets)"),
    ('{"user":"u0","t0":1e200,"label":"yes"}', "feature 't0': the value is too large: its square overflows float64"),
])  # fmt: skip
@pytest.mark.parametrize("read", ["by the core", "by Python"])
def test_invalid_lines_have_their_place(run, tmp_path, line, why, read):
    lines = as_json(ROWS[:30]).splitlines()
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:20], line, *lines[20:]]) + "\n")
    how = ["--task", "classification", *([] if read == "by the core" else ["--drop", "nothing"])]
    done = run("learn", "bad.jsonl", "--key", "user", "-m", "fleet", "-q", *how)
    assert done.code == 2
    assert done.err.startswith("bad.jsonl:21:")
    assert why in done.err
    assert same(hinge.load(tmp_path / "fleet"), fleet_of(ROWS[:20]))
    done = run(
        "learn", "bad.jsonl", "--key", "user", "-m", "fleet", "-q", "--force", "--on-error", "skip", *how
    )
    assert done.code == 0
    assert "1 example was skipped" in done.err
    assert same(hinge.load(tmp_path / "fleet"), fleet_of(ROWS[:30]))


def test_invalid_keys_of_tables_have_their_place(run, tmp_path):
    (tmp_path / "bad.csv").write_text("user,x,label\nu1,1,a\n,1,b\nu2,1,b\n")
    done = run("learn", "bad.csv", "--key", "user", "-q")
    assert done.err.startswith('bad.csv:3: the key is missing (column "user")')
    assert run("learn", "bad.csv", "--key", "user", "-q", "--on-error", "skip").out.count("2 keys") == 1
    done = run("learn", "bad.csv", "--key", "usr", "-q")
    assert 'there is no column "usr" (--key): did you mean "user"?' in done.err


@pytest.mark.parametrize(("arguments", "why"), [
    (["--kernel", "rbf"], "--kernel is not for fleets (--key): a key keeps weights of features"),
    (["-a", "committee"], "a fleet (--key) has no committee"),
    (["--experts", "auto"], "--experts is not for fleets (--key): its experts would be kept for every key"),
    (["--hash-bits", "10"], "--hash-bits is not for fleets (--key)"),
    (["--geometry", "mahalanobis"], "the geometry of a fleet must be 'euclidean' or 'diagonal', not 'mahalanobis'"),
    (["--step", "cw"], "the step of a fleet must be one of pa, pa1, pa2, perceptron"),
    (["--certificate"], "--certificate is not for fleets (--key): it needs all examples at once"),
    (["--batch-tolerance", "0.1", "--step", "pa"], "--batch-tolerance is not for fleets (--key)"),
    (["--task", "ordinal"], "A fleet is for classification and regression, not for ordinal"),
    (["--personal", "-1"], "--personal must be a number from 0 to 100"),
])  # fmt: skip
def test_what_a_fleet_cannot_do_is_rejected_with_the_reason(run, tmp_path, arguments, why):
    done = run("learn", "users.jsonl", "--key", "user", "-m", "fleet", *arguments)
    assert done.code == 2
    assert why in done.err
    assert not (tmp_path / "fleet").exists()


def test_options_of_fleets_need_a_key(run, tmp_path):
    done = run("learn", "users.jsonl", "--no-shared")
    assert "--shared is for fleets: --key FIELD names the field with the key" in done.err
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    done = run("learn", "a.svm", "--key", "user")
    assert "--key is for CSV, JSON, Arrow: it cannot be used with the format svmlight" in done.err
    done = run("tune", "users.jsonl", "--key", "user")
    assert "'hinge compare --key' compares fleets" in done.err


def test_fleets_and_other_models_are_told_apart(run):
    assert run("learn", "users.jsonl", "-m", "one", "-q").code == 0
    for command in (["predict", "users.jsonl", "-m", "one"], ["learn", "users.jsonl", "-i", "one"]):
        assert "one is one model for all examples, and not a fleet" in run(*command, "--key", "user").err
    fleet_of(ROWS).save("plain")
    done = run("predict", "users.jsonl", "-m", "plain")
    assert "plain is a fleet: --key FIELD names the field with the key of an example" in done.err
    assert run("predict", "users.jsonl", "-m", "plain", "--key", "user", "--label", "label", "-q").code == 0
    assert "one is one model for all examples" in run("inspect", "one", "--key", "u0").err


def test_limits_hold(run, tmp_path):
    done = run("learn", "users.jsonl", "--key", "user", "--max-keys", "2", "-q")
    assert done.code == 2
    assert "the fleet already has 2 keys, its limit (max_keys)" in done.err
    done = run(
        "learn", "users.jsonl", "--key", "user", "--max-keys", "2", "--at-max-keys", "ignore", "-m", "f", "-q"
    )
    assert "examples and features were left out" in done.out
    assert len(hinge.load(tmp_path / "f")) == 2
    assert run("learn", "users.jsonl", "--key", "user", "--memory", "1MB", "-q").code == 0


# ---- predictions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--scores"], ["--json", "--scores"], ["--no-shared"]], ids=str)
def test_predictions_are_those_from_before_each_example(run, tmp_path, options):
    rows = [{**row, "label": None} if i % 50 == 7 else row for i, row in enumerate(ROWS)]
    (tmp_path / "some.jsonl").write_text(as_json(rows))
    assert run("learn", "some.jsonl", "--key", "user", "-p", "all.txt", "-q", *options).code == 0
    fleet = Fleet("classification", shared="--no-shared" not in options)
    expected = []
    for row, key, x, y in zip(rows, *parted(rows), strict=True):
        label, score = fleet.predict_one(key, x), fleet.score_one(key, x)
        expected.append((label, score))
        if row["label"] is not None:
            fleet.learn_one(key, x, y)
    found = (tmp_path / "all.txt").read_text().splitlines()
    if "--json" in options:
        assert [(r["prediction"], r["score"]) for r in map(json.loads, found)] == expected
    elif "--scores" in options:
        assert found == [f"{label or ''}\t{score:.9g}" for label, score in expected]
    else:
        assert found == [label or "" for label, _ in expected]


def test_scores_of_many_labels_are_by_label(run, tmp_path):
    rows = [{**row, "label": "abc"[i % 3]} for i, row in enumerate(ROWS)]
    (tmp_path / "three.jsonl").write_text(as_json(rows))
    assert (
        run("learn", "three.jsonl", "--key", "user", "-m", "fleet", "-p", "p.txt", "--scores", "-q").code == 0
    )
    assert (tmp_path / "p.txt").read_text().splitlines()[-1].split("\t")[1].count("=") == 3
    fleet = hinge.load(tmp_path / "fleet")
    keys, X, _ = parted(rows[:5])
    told = run("predict", "three.jsonl", "-m", "fleet", "--scores", "--json", "-q").records
    assert [r["prediction"] for r in told[:5]] == fleet.predict_many(keys, X)
    assert [r["scores"] for r in told[:5]] == fleet.score_many(keys, X)


def test_predictions_of_a_resumed_run_have_one_line_each(run, tmp_path):
    lines = as_json(ROWS).splitlines(keepends=True)
    assert run("learn", "users.jsonl", "--key", "user", "-m", "once", "-p", "once.txt", "-q").code == 0
    (tmp_path / "users.jsonl").write_text("".join([*lines[:77], "{\n", *lines[77:]]))
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-p", "two.txt", "-q").code == 2
    (tmp_path / "users.jsonl").write_text("".join(lines))
    assert run("learn", "users.jsonl", "-m", "fleet", "-p", "two.txt", "-q", "--resume").code == 0
    assert (tmp_path / "two.txt").read_text() == (tmp_path / "once.txt").read_text()


def test_predict_uses_the_key_of_the_fleet_and_shared_weights_for_new_keys(run, tmp_path):
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-q").code == 0
    fleet = hinge.load(tmp_path / "fleet")
    rows = [*ROWS[:5], {**ROWS[0], "user": "nobody"}]
    (tmp_path / "new.jsonl").write_text(as_json(rows))
    done = run("predict", "new.jsonl", "-m", "fleet", "--scores")
    keys, X, y = parted(rows)
    expected = list(zip(fleet.predict_many(keys, X), fleet.score_many(keys, X), strict=True))
    assert done.out.splitlines() == [f"{label}\t{score:.9g}" for label, score in expected]
    wrong = sum(label != truth for (label, _), truth in zip(expected, y, strict=True))
    assert f"6 predictions, {100 * wrong / 6:.2f} % wrong" in done.err
    renamed = [{("who" if name == "user" else name): value for name, value in row.items()} for row in rows]
    (tmp_path / "new.jsonl").write_text(as_json(renamed))
    assert run("predict", "new.jsonl", "-m", "fleet", "--scores", "--key", "who").out == done.out


@pytest.mark.parametrize("options", [[], ["--no-shared"]], ids=str)
def test_explanations_add_up(run, tmp_path, options):
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-q", *options).code == 0
    (tmp_path / "new.jsonl").write_text(as_json([ROWS[0], {**ROWS[0], "user": "nobody"}]))
    for record in run(
        "predict", "new.jsonl", "-m", "fleet", "--scores", "--explain", "9", "--json", "-q"
    ).records:
        assert sum(share for _, share in record["contributions"]) == pytest.approx(record["score"])


# ---- inspect ----------------------------------------------------------------------------------------------------


def test_inspect_shows_the_distribution(run, tmp_path):
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-q").code == 0
    fleet, summary = hinge.load(tmp_path / "fleet"), hinge.load(tmp_path / "fleet").summary()
    told = json.loads(run("inspect", "fleet", "--json", "--top", "2").out)
    assert (told["keys"], told["statistics"]["rounds"]) == (6, 400)
    assert told["distribution"]["examples"]["most"] == summary["rounds"].max()
    assert told["distribution"]["features"]["least"] == summary["features"].min()
    assert told["distribution"]["bytes"]["mean"] == summary["bytes"].mean()
    assert [one["key"] for one in told["mistakes"]] == [key for key, _ in fleet.top(2, "mistakes")]
    assert sum(group["rounds"] for group in told["by_age"]) == 400
    text = run("inspect", "fleet").out
    for word in (
        "a fleet, classification",
        "users.jsonl (json, --key user), finished",
        "per key",
        "most mistakes",
    ):
        assert word in text


def test_inspect_shows_one_key(run, tmp_path):
    rows = [{**row, "user": int(row["user"][1:])} for row in ROWS]
    (tmp_path / "users.jsonl").write_text(as_json(rows))
    assert run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-q").code == 0
    view = hinge.load(tmp_path / "fleet")[3]
    told = json.loads(run("inspect", "fleet", "--key", "3", "--json").out)
    assert (told["key"], told["statistics"]["rounds"]) == (3, view.statistics.rounds)
    personal = view.named_weights()
    assert told["weights"]
    for weight in told["weights"]:
        assert weight["personal"] == personal[weight["feature"]]
        score = view.score_one({weight["feature"]: 1.0}) - view.score_one({})
        assert weight["shared"] + weight["personal"] == pytest.approx(score)
    assert "3: a key of fleet" in run("inspect", "fleet", "--key", "3").out
    assert "fleet has no key '33': it has " in run("inspect", "fleet", "--key", "33").err


def test_inspect_shows_the_weights_of_each_label_of_a_key(run, tmp_path):
    rows = [{**row, "label": "abc"[i % 3]} for i, row in enumerate(ROWS)]
    (tmp_path / "three.jsonl").write_text(as_json(rows))
    assert run("learn", "three.jsonl", "--key", "user", "--max-names", "2", "-m", "fleet", "-q").code == 0
    fleet = hinge.load(tmp_path / "fleet")
    told = json.loads(run("inspect", "fleet", "--key", "u1", "--top", "100", "--json").out)
    assert {weight["label"] for weight in told["weights"]} == set("abc")
    personal, sizes = fleet["u1"].named_weights(), []
    for weight in told["weights"]:
        assert weight["personal"] == personal[weight["label"]][weight["feature"]]
        sizes.append(abs(weight["shared"] + weight["personal"]))
    assert sizes == sorted(sizes, reverse=True)
    assert any(weight["shared"] for weight in told["weights"] if weight["feature"][0] == "#")
    assert "label" in run("inspect", "fleet", "--key", "u1").out


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_pictures(run, tmp_path, ending):
    pytest.importorskip("matplotlib")
    assert (
        run("learn", "users.jsonl", "--key", "user", "-m", "fleet", "-q", "--plot", f"run.{ending}").code == 0
    )
    done = run("inspect", "fleet", "--plot", f"fleet.{ending}")
    assert f"The picture is in fleet.{ending}" in done.out
    for name in ("run", "fleet"):
        assert (tmp_path / f"{name}.{ending}").stat().st_size > 5000


# ---- compare ----------------------------------------------------------------------------------------------------


def test_compare_says_which_form_to_use(run, tmp_path):
    rows = records(3000, users=4, seed=3)
    (tmp_path / "users.jsonl").write_text(as_json(rows))
    told = run("compare", "users.jsonl", "--key", "user", "--json", "-q").records
    forms = {record["name"]: record for record in told if record["event"] == "form"}
    expected = {form.name: form for form in hinge.fleet.compare_forms("classification", *parted(rows))}
    assert len(forms) == len(expected) == 8
    for ours, theirs in [
        ("one model for all", "one model for all"),
        ("per key", "per key"),
        *((f"shared + personal {s:g}", f"shared + personal, {s:g}") for s in (0.25, 0.5, 1)),
    ]:
        # A tie counts as a mistake here, and as the first label there.
        assert forms[ours]["error"] == pytest.approx(expected[theirs].error, abs=0.005), ours
        for age, error in expected[theirs].by_age.items():
            assert forms[ours]["by_age"][age] == pytest.approx(error, abs=0.1), (ours, age)
    assert [name for name, record in forms.items() if record["control"]] == [
        name for name in forms if name.startswith("shuffled keys")
    ]
    best = min(
        (record for record in forms.values() if not record["control"]), key=lambda record: record["error"]
    )
    assert min(forms[name]["error"] for name in forms if name.startswith("shuffled")) > best["error"] + 0.03
    advice = told[-1]["text"]
    assert advice.startswith("Use hinge learn --key user")
    assert "with shuffled keys" in advice
    assert best["best"]
    flags = advice.partition(": ")[0].split()[5:]
    learned = run("learn", "users.jsonl", "--key", "user", "--json", *flags).records[-1]
    assert learned["error"] == best["error"]


def test_compare_says_that_keys_do_not_matter(run, tmp_path):
    rows = records(1500, users=1, seed=4)
    for i, row in enumerate(rows):
        row["user"] = f"u{i * 7 % 40}"
    (tmp_path / "users.jsonl").write_text(as_json(rows))
    done = run("compare", "users.jsonl", "--key", "user", "-q")
    assert done.code == 0
    assert "Use one model for all, without --key" in done.out or "The keys do not matter" in done.out


def test_compare_of_a_pipe_has_no_control(run, tmp_path):
    process = started("compare", "-", "--key", "user", "--json", "-q", folder=tmp_path)
    out, _ = process.communicate(as_json(ROWS).encode(), timeout=60)
    names = [record["name"] for record in map(json.loads, out.splitlines()) if record["event"] == "form"]
    assert sorted(names) == [
        "one model for all",
        "per key",
        *(f"shared + personal {s}" for s in (0.25, 0.5, 1)),
    ]


def test_compare_takes_one_algorithm(run):
    done = run("compare", "users.jsonl", "--key", "user", "pa1", "-q")
    assert "with --key the forms of one fleet are compared: -a pa1 chooses its algorithm" in done.err
    assert run("compare", "users.jsonl", "--key", "user", "-a", "pa2:C=0.1", "-q").code == 0
