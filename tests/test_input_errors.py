"""Errors about the input: whoever reads them finds the names that they used."""

import ast
import copy
import inspect
import pickle
from contextlib import suppress
from functools import partial
from pathlib import Path
from string import Formatter

import pytest

import skbiasamp
from skbiasamp._input.errors import InputError, InputTypeError, Role, speaking


def test_roles_are_called_as_in_python_by_default():
    error = InputError("{y_pred} is {kind}: pass {missing='drop'}, or {missing}.", kind="odd")
    assert str(error) == error.args[0] == "y_pred is odd: pass missing='drop', or missing."
    assert isinstance(error, ValueError)
    assert not isinstance(error, TypeError)
    assert isinstance(InputTypeError(""), TypeError)


@pytest.mark.parametrize("seen", ["{y_true}", "y_true", "{}", "{{", "{y_true.real}", r"\1", "%s"])
def test_data_is_never_rewritten(seen):
    with pytest.raises(InputError) as caught, speaking(y_true="--target"):
        raise InputError("{y_true}: {seen} {seen!r}", seen=seen)
    assert str(caught.value) == f"--target: {seen} {seen!r}"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_data_is_formatted_and_may_be_a_role():
    error = InputError("{at} {number:.2f} {{y}}", at=Role("y_true"), number=1.234)
    assert str(error) == "y_true 1.23 {y}"


def test_the_innermost_name_wins():
    outer = speaking(y_true="--target", y_pred="--prediction")
    with pytest.raises(InputError) as caught, outer, speaking(y_true="column 'y_pred' (target)"):
        raise InputError("{y_true} and {y_pred}")
    assert str(caught.value) == "column 'y_pred' (target) and --prediction"


def test_a_role_that_becomes_another_is_named_further_out():
    outer = speaking(y_train="--train", y_true="--target")
    with pytest.raises(InputError) as caught, outer, speaking(y_true="y_train"):
        raise InputError("{y_true}")
    assert str(caught.value) == "--train"


def test_roles_can_be_swapped():
    with pytest.raises(InputError) as caught, speaking(y_true="y_pred", y_pred="y_true"):
        raise InputError("{y_true} {y_pred}")
    assert str(caught.value) == "y_pred y_true"


def test_an_option_is_written_as_its_reader_passes_it():
    def written(rest):
        return f"auditor=MALSAuditor(missing{rest})"

    with pytest.raises(InputError) as caught, speaking(missing=written):
        raise InputError("{missing='drop'}")
    assert str(caught.value) == "auditor=MALSAuditor(missing='drop')"


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize("kind", [InputError, InputTypeError])
def test_a_copied_error_can_still_be_named(again, kind):
    # as after a process of joblib
    error = again(kind("{y_true} is {seen}", seen="{y_true}"))
    assert type(error) is kind
    with pytest.raises(kind, match=r"^--target is \{y_true\}$"), speaking(y_true="--target"):
        raise error


def test_other_errors_pass_as_they_are():
    with pytest.raises(ValueError, match="y_true") as caught, speaking(y_true="--target"):
        raise ValueError("y_true")
    assert type(caught.value) is ValueError


def test_the_cause_is_kept():
    error = InputError("{y_true}")
    error.__cause__ = KeyError("x")
    with pytest.raises(InputError, match="--target") as caught, speaking(y_true="--target"):
        raise error
    assert isinstance(caught.value.__cause__, KeyError)


def test_booleans_are_not_called_numbers():
    with pytest.raises(ValueError, match=r"y_true holds booleans \(False and True\)"):
        skbiasamp.audit([True, False], ["yes", "no"], sensitive_features=["f", "m"])


def messages():
    """Yield where an error is raised, its template and the names of its data."""
    for path in sorted(Path(skbiasamp.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if not named or node.func.id not in ("InputError", "InputTypeError"):
                continue
            if node.args and isinstance(node.args[0], ast.Constant):
                data = {keyword.arg for keyword in node.keywords}
                yield f"{path.name}:{node.lineno}", node.args[0].value, data


MODULES = ("metrics", "model_selection", "monitoring", "mitigation", "text", "datasets", "testing")


def parameters():
    """Return the names of all public parameters: errors may say them without data."""
    names = set()
    for module in (skbiasamp, *map(partial(getattr, skbiasamp), MODULES)):
        for name in module.__all__:
            public = getattr(module, name)
            methods = vars(public).values() if isinstance(public, type) else ()
            for method in filter(callable, (public, *methods)):
                with suppress(ValueError, TypeError):
                    names |= inspect.signature(method).parameters.keys()
    return names


def test_every_message_has_its_data():
    """A format or a conversion is of data, since roles have none; and data is shown."""
    read, roles = list(messages()), parameters()
    assert len(read) > 200
    for where, template, data in read:
        fields = [(name, form, how) for _, name, form, how in Formatter().parse(template) if name]
        every = {name for _, _, data in read for name in data} - roles
        assert None in data or data <= {name for name, *_ in fields}, where
        for name, form, how in fields:
            assert None in data or name in data or not (form or how), f"{where}: {name}"
            assert None in data or name in data or name not in every, f"{where}: {name}"
