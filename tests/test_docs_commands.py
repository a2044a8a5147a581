"""Every command on the pages runs as it is written, on files with the columns that it names."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skbiasamp import Contingency
from skbiasamp.cli import main

pytestmark = pytest.mark.pages
ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands():
    """Yield each page with a complete command: no dots, and an argument at least."""
    for page in PAGES:
        text = page.read_text("utf-8")
        fences = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.DOTALL | re.M)
        whole = [re.sub(r"\\\n|\n +(?=--)", " ", fence) for fence in fences]  # a command is a line
        lines = [line for fence in whole for line in fence.splitlines()]
        lines += [" ".join(line.split()) for line in re.findall(r"`(skbiasamp [^`]+)`", text)]
        # Also those of a workflow: "- run: skbiasamp ...".
        for line in dict.fromkeys(re.sub(r"^\s*(\$ |- (run: )?)?", "", line) for line in lines):
            if re.match(r"skbiasamp \w+ \S+[./]", line) and "..." not in line:
                yield page.stem, line


def rows():
    """Return rows with each column that a page names; two rows a pair."""
    rng = np.random.default_rng(0)
    n = 400
    names = {"sex": "Female Male", "gender": "female male", "group": "1 2", "race": "Black White"}
    frame = pd.DataFrame({name: np.tile(two.split(), n // 2) for name, two in names.items()})
    frame["advert"] = np.arange(n) // 2
    for name in ("charged", "hired", "income", "placed", "engineer", "repaid", "invited", "judge"):
        frame[name] = rng.integers(0, 2, n)
    for name in ("predicted", "p", "p0", "p1", "old", "new"):
        frame[name] = frame["hired"].where(rng.random(n) < 0.8, 1)
    frame["score"] = rng.random(n)
    frame["price"] = 100 + 10 * rng.normal(size=n)
    frame["people"] = frame["judge"].where(rng.random(n) < 0.5)
    frame["granted"] = np.where(rng.random(n) < 0.9, "yes", "no")
    frame["repaid"] = frame["repaid"].where(frame["granted"] == "yes")
    frame["day"] = pd.date_range("2026-01-01", "2026-06-30", n).astype(str)
    for name in ("caption", "human", "caption_old", "caption_new"):
        frame[name] = rng.choice(["a surfboard", "an oven", "a street"], n)
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKBIASAMP_PROGRESS", "0")
    frame = rows()
    files = "test resumes pairs texts rows old new real synthetic applicants captions"
    for name in files.split():
        frame.to_csv(f"{name}.csv", index=False)
    frame.assign(predicted=frame["price"] + 1).to_csv("prices.csv", index=False)
    few = ["sex", "race", "charged", "hired", "income", "score"]  # all others are features
    frame[few].to_csv("train.csv", index=False)
    for name in ("train", "test", "today"):
        frame.to_parquet(f"{name}.parquet")
    columns = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
    Path("counts").mkdir()
    for day in range(40):
        name = f"{np.datetime64('2026-01-01') + day}.json"
        Contingency.from_frame(frame[day::40], **columns).to_json(Path("counts", name))
    labels = {"surfboard": ["surfboard"], "oven": ["oven", "/stove|cooker/"]}
    Path("objects.json").write_text(json.dumps(labels), "utf-8")
    return tmp_path


COMMANDS = [*commands()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_runs_as_it_is_written(page, line, folder, capsys):
    assert len(COMMANDS) >= 12
    assert {"audit", "compare", "over"} <= {one.split()[1] for _, one in COMMANDS}
    code = main(shlex.split(line)[1:])
    said = capsys.readouterr()
    assert code in (0, 1, 3), said.err  # 2: bad input
    for name in re.findall(r"--(?:html|json) (\S+)", line):
        assert (folder / name).is_file()
