"""Directional bias amplification in captions: both directions, and which tasks count."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

import skbiasamp
from skbiasamp import LICAuditor
from skbiasamp.metrics import DBACAuditor, dbac_amplification

TASKS = {"bike": ["bike", "bicycle"], "cake": ["cake"], "dog": [re.compile(r"dogg?y?\b")]}
WORDS = ["bike", "cake", "dog"]


def world(lean_data, lean_model, n=400, seed=0):
    """Return captions that name a thing, which depends on the group as much as `lean` says."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], n)

    def texts(lean):
        own = np.where(group == "f", "cake", "bike")
        thing = np.where(rng.random(n) < lean, own, rng.choice(WORDS, n))
        who = np.where(group == "f", "woman", "man")
        return [f"a {a} has a {b} today" for a, b in zip(who, thing, strict=True)]

    return {
        "y_true": texts(lean_data),
        "y_pred": texts(lean_model),
        "sensitive_features": group,
    }


@pytest.fixture(scope="module")
def biased():
    return world(0.1, 0.8)


def quick(direction, **options):
    tasks = {"tasks": TASKS} if direction == "A->T" else {}
    return DBACAuditor(direction, n_draws=2, n_resamples=99, random_state=0, **tasks, **options)


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_a_stronger_association_is_amplified_in_both_directions(direction, biased):
    result = quick(direction).audit(**biased)
    assert result.low > 0
    assert result.verdict == "reveals more"
    about = "the tasks" if direction == "A->T" else "the group"
    assert f"The predictions reveal {about} more than" in result.sentence
    back = quick(direction).audit(
        **biased | {"y_true": biased["y_pred"], "y_pred": biased["y_true"]}
    )
    assert back.high < 0


@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_a_model_that_copies_has_exactly_0(direction, biased):
    same = quick(direction).audit(**biased | {"y_pred": biased["y_true"]})
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_from_task_to_group_it_is_lic_in_another_form(biased):
    table = quick("T->A").audit(**biased).table.iloc[0]
    lic = LICAuditor(n_draws=2, interval=None, random_state=0).audit(**biased).table.iloc[0]
    assert table["quality_model"] == lic["quality_model"]
    assert table["delta"] == lic["amplification"]
    plain = quick("T->A", normalize=False).score(**biased)
    assert plain == lic["amplification"]


def test_the_value_is_the_mean_over_tasks_of_the_ratio(biased):
    result = quick("A->T").set_params(n_draws=1, interval=None).audit(**biased)
    table = result.table
    assert table["task"].tolist() == ["bike", "cake", "dog"]
    assert set(table["group"]) == {"(all)"}
    ratio = table["delta"] / (table["quality_model"] + table["quality_data"])
    np.testing.assert_allclose(table["amplification"], ratio)
    assert result.value == pytest.approx(ratio.mean())


def test_words_of_the_tasks_are_hidden_from_the_attacker(biased):
    words = quick("A->T").audit(**biased).words
    assert not words["word"].str.contains("bike|cake|dog").any()
    own = words[(words["source"] == "model texts") & (words["target"] == "cake")]
    assert "woman" in own["word"].iloc[0]
    assert set(words["target"]) == {"bike", "cake", "dog"}


def test_the_association_alone_is_found_not_how_often_a_task_is_named():
    """The model names cakes more often, whatever the group: nothing is revealed."""
    rng = np.random.default_rng(0)
    given = world(0.0, 0.0, seed=1)
    more = np.where(rng.random(400) < 0.5, "cake", rng.choice(WORDS, 400))
    given["y_pred"] = [
        f"a {'woman' if a == 'f' else 'man'} has a {b} today"
        for a, b in zip(given["sensitive_features"], more, strict=True)
    ]
    result = quick("A->T").audit(**given)
    assert result.verdict == "no clear effect"


def test_tasks_that_hardly_any_text_names_are_left_out(biased):
    given = {name: list(held) for name, held in biased.items()}
    given["y_true"][0] = "a man has a kite today"
    auditor = clone(quick("A->T")).set_params(tasks=TASKS | {"kite": ["kite"]})
    with pytest.warns(UndefinedMetricWarning, match="'kite'.*left out"):
        result = auditor.audit(**given)
    assert "kite" not in set(result.table["task"])
    auditor = clone(quick("A->T")).set_params(tasks={"kite": ["kite"]})
    with pytest.raises(ValueError, match="tasks must be named by 10 texts"):
        auditor.audit(**given)


def test_models_are_compared_on_the_same_tasks(biased):
    never = [text.replace("dog", "tree") for text in biased["y_true"]]
    report = skbiasamp.compare(
        biased["y_true"],
        {"biased": biased["y_pred"], "never a dog": never},
        sensitive_features=biased["sensitive_features"],
        auditor=[quick("A->T")],
    )
    result = report["DBAC A->T"]
    assert set(result.pairs["task"]) == {"bike", "cake"}
    assert result.table["difference_high"].iloc[-1] < 0


@pytest.mark.filterwarnings("ignore:Fewer than 10 texts")
def test_runs_are_measured_on_the_same_tasks(biased):
    never = [text.replace("dog", "tree") for text in biased["y_true"]]
    runs = [biased["y_pred"], never, never]
    result = quick("A->T").audit_runs(
        biased["y_true"], runs, sensitive_features=biased["sensitive_features"]
    )
    assert set(result.table["task"]) == {"bike", "cake"}
    assert not np.isnan(result.table["amplification"]).any()


def test_a_page_and_json_hold_it(tmp_path, biased):
    report = skbiasamp.audit(**biased, auditor=[quick("A->T"), quick("T->A")])
    assert list(report) == ["DBAC A->T", "DBAC T->A"]
    content = report["DBAC A->T"].to_dict()
    assert (content["about"], content["verdict"]) == ("the tasks", "reveals more")
    pytest.importorskip("jinja2")
    report.to_html(tmp_path / "page.html")
    assert "DBAC" in (tmp_path / "page.html").read_text()


def test_the_function_is_the_value(biased):
    how = {"tasks": TASKS, "n_draws": 2, "random_state": 0}
    assert dbac_amplification(**biased, direction="A->T", **how) == quick("A->T").score(**biased)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"direction": "A->T"}, "tasks must name the words of each task if direction='A->T'"),
        ({"direction": "up"}, "direction"),
        ({"direction": "A->T", "tasks": {"bike": []}}, "bike"),
    ],
)
def test_parameters_that_cannot_be_are_named(params, message, biased):
    with pytest.raises(ValueError, match=message):
        DBACAuditor(**params).audit(**biased)
