"""Checks before a change is merged start from an empty environment; the recipe for conda."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import skbiasamp

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / ".ci" / "run"


@pytest.mark.skipif(not (SCRIPT.exists() and shutil.which("bash")), reason="needs a checkout, bash")
@pytest.mark.parametrize("home", ["/somewhere", None])
def test_nothing_of_the_shell_helps(tmp_path, home):
    """What a run must not depend on is gone; what an installation needs stays."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    make = tmp_path / "make"
    make.write_text("#!/bin/sh\nenv\necho 1 passed\n")
    make.chmod(0o755)
    kept = {"PIP_CERT": "a b.pem", "SKBIASAMP_DATA": "data", "PYTHON": "python", "TEST_JOBS": "8"}
    shell = {"PYTHONUNBUFFERED": "1", "LANG": "C", "OMP_NUM_THREADS": "1", "PYTHONPATH": "x"}
    path = f"{tmp_path}:/usr/bin:/bin"
    given = {**kept, **shell, "PATH": path} | ({} if home is None else {"HOME": home})
    done = subprocess.run(
        ["bash", tmp_path / ".ci" / "run"], env=given, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert {f"{name}={value}" for name, value in kept.items()} | {f"PATH={path}"} <= set(lines)
    assert not [line for line in lines if line.partition("=")[0] in shell]
    homes = {line for line in lines if line.startswith("HOME=")}
    assert homes == {f"HOME={home}"} if home else len(homes) == 1
    assert lines[-1] == "lint and all tests passed"


def test_the_conda_recipe_and_the_citation_are_of_this_version():
    recipe = (ROOT / "docs" / "recipes" / "conda-recipe.yaml").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.search(r'version: "(.*)"', recipe)[1] == skbiasamp.__version__
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    needs = [line.strip("- ").replace(" ", "") for line in run.splitlines()]
    assert needs[0] == "python>=${{python_min}}"
    assert needs[1:] == project["dependencies"]
    assert f'python_min: "{project["requires-python"][2:]}"' in recipe
    # The citation has the date of the changelog as well.
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    pattern = rf"^## {re.escape(skbiasamp.__version__)} \((.*)\)"
    (date,) = re.findall(pattern, (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert f"\nversion: {skbiasamp.__version__}\ndate-released: {date}\n" in citation


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
@pytest.mark.parametrize("target", ["test-quick", "test-oldest", "test-clients", "fuzz"])
def test_files_that_the_makefile_names_are_there(target):
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = re.findall(r"tests/test_\w+\.py", done.stdout)
    assert files
    assert [file for file in files if not (ROOT / file).exists()] == []
