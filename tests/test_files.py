"""Files in: the one that is named, however it is written; a report says what was read."""

import gzip
import hashlib
import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import refused

import skbiasamp

# Internal: a file is changed while our own reader has it open.
from skbiasamp.cli import main

COLUMNS = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
NAMES = [part for option, column in COLUMNS.items() for part in (f"--{option}", column)]


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["Müller", "Šimić"], n)
    hired = (rng.random(n) < 0.3 + 0.4 * (sex == "Müller")).astype(int)
    predicted = np.where(rng.random(n) < 0.2, 1 - hired, hired)
    weight = rng.integers(1, 9, n) / 4
    return pd.DataFrame({"sex": sex, "hired": hired, "predicted": predicted, "weight": weight})


ROWS = rows(60)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(files, **more):
    return skbiasamp.audit_frame(
        files, **COLUMNS, **more, auditor=skbiasamp.DirectionalAuditor(interval=None)
    )


def value_of(frame, weight=None):
    weight = None if weight is None else frame[weight]
    return skbiasamp.metrics.directional_amplification(
        frame["hired"], frame["predicted"], sensitive_features=frame["sex"], sample_weight=weight
    )


# ------------------------------------------------------------------ the file that is named


def test_a_path_that_exists_is_that_file(engine):
    kinds = ["csv", "parquet"] if importlib.util.find_spec("pyarrow") else ["csv"]
    others = ("p[1]", "p1"), ("s*", "sx"), ("a\\*", "a\\b"), ("~", "x"), ("a'b", "a")
    for kind in kinds:
        for names in others:
            for name, n in zip(names, (40, 60), strict=True):
                one = rows(n, n)
                write = one.to_parquet if kind == "parquet" else one.to_csv
                with Path(f"{name}.{kind}").open("wb") as file:  # pandas would expand ~
                    write(file, index=False)
            report = audited(f"{names[0]}.{kind}")
            assert report.context["n_samples"] == 40
            assert report["directional A->T"].published == pytest.approx(value_of(rows(40, 40)))
    # It is a pattern only if no file is called so.
    for name, n in (("part-1.csv", 30), ("part-[2].csv", 20)):
        rows(n, n).to_csv(name, index=False)
    for named, n in (("p[1].csv", 40), ("p1.csv", 60), ("p[0-9].csv", 60), ("part-*.csv", 50)):
        assert audited(named).context["n_samples"] == n


def test_rows_do_not_count_twice(capsys):
    ROWS.to_csv("a.csv", index=False)
    for named in (["a.csv", "*.csv"], ["a.csv", str(Path("a.csv").resolve())]):
        assert "a.csv is named twice" in refused(capsys, "audit", *named, *NAMES)
    ROWS.to_csv("a.tsv", sep="\t", index=False)
    assert "files of different kinds" in refused(capsys, "audit", "a.csv", "a.tsv", *NAMES)


def test_parts_may_have_another_order_of_columns_and_be_written_differently(engine):
    ROWS.loc[:24, ::-1].to_csv("a.csv", index=False)
    Path("b.csv").write_bytes(text_of(ROWS[25:], sep=";", decimal=",").encode("utf-16"))
    found = audited("?.csv", weight="weight")
    assert found["directional A->T"].published == pytest.approx(value_of(ROWS, "weight"))
    assert [one["rows"] for one in found.data_files] == [25, 35]


def test_lines_of_any_system_are_rows(engine):
    text = ROWS.to_csv(index=False)
    for begin, rest in (("\r", "\r"), ("\r\n", "\r\n"), ("\r", "\n")):
        lines = text[:300].replace("\n", begin) + text[300:].replace("\n", rest)
        Path("a.csv").write_bytes(lines.encode())
        found = audited("a.csv", weight="weight")["directional A->T"]
        assert found.published == pytest.approx(value_of(ROWS, "weight"))


# ------------------------------------------------------------------ what was read


def test_a_report_says_what_was_read(engine, capsys):
    for name, part in (("a.csv", ROWS[:25]), ("b.csv", ROWS[25:]), ("train.csv", rows(80, 1))):
        part.to_csv(name, index=False)
    expected = [
        {
            "rows_are": rows_are,
            "path": name,
            "rows": n,
            "sha256": hashlib.sha256(Path(name).read_bytes()).hexdigest(),
            "format": "CSV, delimiter ',', utf-8",
        }
        for rows_are, name, n in (
            ("audited", "a.csv", 25),
            ("audited", "b.csv", 35),
            ("training", "train.csv", 80),
        )
    ]
    assert audited(["a.csv", "b.csv"], train="train.csv").data_files == expected
    assert audited(ROWS).data_files == []
    call = ["audit", "a.csv", "b.csv", "--train", "train.csv", *NAMES]
    assert main([*call, "--json", "report.json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(Path("report.json").read_text())["data_files"] == expected
    for one in expected:
        assert f"- {one['path']} ({one['rows']} rows, CSV" in printed
        assert f"  SHA-256 {one['sha256']}\n" in printed


# ------------------------------------------------------------------ however it is written


def text_of(frame, **how):
    return frame.to_csv(index=False, **how)


def objects_of(frame):
    return frame.to_json(orient="records", lines=True)


LATIN = ROWS.replace("Šimić", "Gruß")

WRITTEN = {
    "comma.csv": text_of(ROWS).encode(),
    "blank-line.csv": text_of(ROWS).replace("\n", "\n\n", 1).encode(),
    "semicolon.csv": text_of(ROWS, sep=";").encode(),
    "excel.csv": text_of(ROWS, sep=";", decimal=",").encode("utf-8-sig"),
    "tab.csv": text_of(ROWS, sep="\t").encode(),
    "bar.csv": text_of(ROWS, sep="|").encode(),
    "tab.tsv": text_of(ROWS, sep="\t").encode(),
    "utf-16.csv": text_of(ROWS).encode("utf-16"),
    "excel-unicode.csv": text_of(ROWS, sep="\t", decimal=",").encode("utf-16"),
    "utf-16-le.csv": text_of(ROWS).encode("utf-16-le"),
    "utf-16-be.csv": text_of(ROWS).encode("utf-16-be"),
    "latin.csv": text_of(LATIN, sep=";", decimal=",").encode("latin-1"),
    "packed.csv.gz": gzip.compress(text_of(ROWS, sep=";", decimal=",").encode()),
    "objects.ndjson": objects_of(ROWS).encode("utf-8-sig"),
    "objects.jsonl.gz": gzip.compress(objects_of(ROWS).encode()),
}


def test_a_file_is_read_however_it_is_written(engine):
    for name, content in WRITTEN.items():
        Path(name).write_bytes(content)
        frame = LATIN if name == "latin.csv" else ROWS
        found = audited(name, weight="weight")
        value = found["directional A->T"].published
        assert value == pytest.approx(value_of(frame, "weight"), rel=1e-9), name
        assert sorted(found.context["groups"]) == sorted(frame["sex"].unique()), name
        assert [one["rows"] for one in found.data_files] == [60], name


@pytest.mark.parametrize("least", [-(2**53) - 1, 2**53, 2**64 - 2])
def test_long_integers_beside_an_empty_cell_keep_their_digits(engine, least):
    """To NumPy they are floats, which merge two groups."""
    kind = pd.UInt64Dtype() if least >= 2**63 else pd.Int64Dtype()
    own, other = [least, least + 1, None] * 20, [None, 5] * 30
    for name, ids in (("a", own), ("b", other)):
        frame = ROWS.assign(sex=pd.array(ids, dtype=kind))
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_json(f"{name}.jsonl", orient="records", lines=True)
        if importlib.util.find_spec("pyarrow"):
            frame.to_parquet(f"{name}.parquet")
    for file in (path.name for path in sorted(Path().glob("a.*"))):
        for files, groups in ((file, set(own)), (f"?{file[1:]}", {*own, 5})):
            found = set(audited(files, missing="group").context["groups"])
            assert found == groups - {None} | {"(missing)"}, files


def test_a_letter_far_below_makes_a_file_latin(engine):
    many = pd.concat([ROWS.assign(sex="a")] * 2000 + [ROWS.assign(sex="ä")])
    Path("late.csv").write_bytes(text_of(many).encode("latin-1"))
    assert audited("late.csv").context["groups"] == ["a", "ä"]


def test_delimiter_and_encoding_can_be_given(engine, capsys):
    greek = ROWS.replace({"sex": {"Müller": "άλφα", "Šimić": "βήτα"}})
    Path("greek.csv").write_bytes(text_of(greek, sep="#").encode("iso8859-7"))
    given = ("--delimiter", "#", "--encoding", "greek", "--json", "report.json")
    assert main(["audit", "greek.csv", *NAMES, *given]) == 0
    report = json.loads(Path("report.json").read_text())
    assert report["context"]["groups"] == ["άλφα", "βήτα"]
    assert report["data_files"][0]["format"] == "CSV, delimiter '#', iso8859-7"
    Path("tab.csv").write_text(text_of(ROWS, sep="\t"), encoding="utf-8")
    for tab in ("tab", "\\t", "\t"):
        assert main(["audit", "tab.csv", *NAMES, "--delimiter", tab]) == 0


# ------------------------------------------------------------------ what is wrong with it

HEAD = "sex,hired,predicted,weight\n"
GOOD = "f,1,1,1\nm,0,0,1\n"
LINE = '{"sex": "f", "hired": 1, "predicted": 1}\n'


WRONG = [
    ("long.csv", f"{HEAD}{GOOD}f,1,1,1,1\n{GOOD}", "long.csv, line 4, has 5 cells, and the"),
    ("short.csv", f"{HEAD}{GOOD}f,1,1\n{GOOD}", "short.csv, line 4, has 3 cells, and the fi"),
    ("open.csv", f'{HEAD}{GOOD}"f,1,1,1\n{GOOD}', "open.csv, line 4: unexpected end of data"),
    ("twice.csv", "sex,hired,sex,predicted\n", "twice.csv has 2 columns named 'sex'"),
    ("excel.csv", "sep=;\nsex;hired\n", "excel.csv begins with 'sep=;', which only Excel reads"),
    ("object.jsonl", f"{LINE}\n{LINE}{LINE[:20]}\n", "object.jsonl, line 4, is no JSON object"),
    ("array.jsonl", f"{LINE}[1]\n", "array.jsonl, line 2, is no JSON object of single values"),
    ("nested.jsonl", LINE.replace('"f"', '["f"]'), "'sex' holds more than one value"),
    ("close.jsonl", LINE.replace("sex", "sexe"), "no column 'sex': did you mean 'sexe'?"),
    ("empty.csv.gz", b"", "empty.csv.gz is empty"),
    ("plain.csv.gz", f"{HEAD}{GOOD}", "plain.csv.gz cannot be read as .csv"),
    ("cut.csv.gz", gzip.compress((HEAD + GOOD * 999).encode())[:-20], "cannot be read as .csv"),
    ("packed.parquet.gz", "x", "only files of .csv, .tsv, .jsonl, .ndjson, .parquet can be"),
]


def test_what_is_wrong_is_named_by_its_line(engine, capsys):
    for name, content, message in WRONG:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert message in refused(capsys, "audit", name, *NAMES)
    Path("latin.csv").write_bytes(f"{HEAD}{GOOD}ä,1,1,1\n".encode("latin-1"))
    error = refused(capsys, "audit", "latin.csv", *NAMES, "--encoding", "utf-8")
    assert "latin.csv, line 4, is no text in utf-8. Name its --encoding" in error
    os.mkfifo("pipe.csv")
    error = refused(capsys, "audit", "pipe.csv", *NAMES)
    assert "pipe.csv is no file that can be read twice" in error


def test_names_of_columns_are_taken_as_they_are(engine, capsys):
    """To polars ^sex$ is a pattern, and to DuckDB * is all columns."""
    for kind, target, sex in (
        ("csv", "*", "^sex$"),
        ("csv", 'says "hired", twice\n', "$"),
        ("parquet", "^predicted$", "*"),
    ):
        if kind == "parquet":
            pytest.importorskip("pyarrow")
        other = ROWS.rename(columns={"sex": sex, "hired": target}).assign(
            sex="x", SEX="x", day="2026-01-05"
        )
        getattr(other, f"to_{kind}")(f"a.{kind}", index=False)
        named = ["--target", target, "--prediction", "predicted", "--sensitive", sex]
        audit = ["audit", f"a.{kind}", *named, "--auditor", "skbiasamp:DirectionalAuditor"]
        assert main([*audit, "--json", "a.json"]) == 0
        results = json.loads(Path("a.json").read_text())["results"]
        assert results["directional A->T"]["published"] == pytest.approx(value_of(ROWS))
        capsys.readouterr()
        # One period: the reference.
        assert main(["over", f"a.{kind}", "--time", "day", *named]) == 3
        assert "60 rows" in capsys.readouterr().out


def test_the_decimal_sign_can_be_given(engine, capsys):
    """Quoted commas stand between commas, and nothing else says that they are decimal."""
    ROWS.to_csv("quoted.csv", decimal=",", index=False)
    given = [*NAMES, "--weight", "weight", "--json", "report.json"]
    assert main(["audit", "quoted.csv", *given, "--decimal", ","]) == 0
    report = json.loads(Path("report.json").read_text())
    published = report["results"]["directional A->T"]["published"]
    assert published == pytest.approx(value_of(ROWS, "weight"), rel=1e-9)
    assert "decimal comma" in report["data_files"][0]["format"]
    capsys.readouterr()
    assert "--weight" in refused(capsys, "audit", "quoted.csv", *given, "--decimal", ".")


AGES = pd.Series([17.5, 18, 24, 25, 39, 40, 80, None] * 20, name="age")
BINS = ("under 18", "18 to under 25", "25 to under 40", "40 or more")


def test_numbers_are_cut_into_groups(engine, capsys):
    frame = pd.concat([rows(160), AGES], axis=1)
    frame.to_csv("ages.csv", index=False)
    names = [*NAMES[:-1], "age", "--bins", "age=18,25,40", "--missing", "drop"]
    assert main(["audit", "ages.csv", *names, "--json", "report.json"]) == 0
    report = json.loads(Path("report.json").read_text())
    assert sorted(report["context"]["groups"]) == sorted(BINS)
    cut = pd.cut(AGES, [-np.inf, 18, 25, 40, np.inf], right=False, labels=BINS).astype(object)
    known = frame.assign(sex=cut)[AGES.notna()]
    value = report["results"]["directional A->T"]["published"]
    assert value == pytest.approx(value_of(known), rel=1e-9)


def test_the_edges_of_bins_are_as_precise_as_their_column(engine):
    """0.7 in 32 bits is less than 0.7 in 64."""
    pytest.importorskip("pyarrow")
    single = np.tile(np.array([0.6, 0.7, 0.8], "f4"), 20)
    ROWS.assign(score=single).to_parquet("single.parquet")
    names = [*NAMES[:-1], "score", "--bins", "score=0.7", "--json", "report.json"]
    assert main(["audit", "single.parquet", *names]) == 0
    groups = json.loads(Path("report.json").read_text())["groups"]
    assert [row[1:3] for row in groups["data"]] == [[40, 40 / 60], [20, 20 / 60]]


def test_options_of_no_use_are_refused(capsys):
    ROWS.to_csv("a.csv", index=False)
    assert "no role" in refused(capsys, "audit", "a.csv", *NAMES, "--bins", "weight=1,2")
    assert "holds text" in refused(capsys, "audit", "a.csv", *NAMES, "--bins", "sex=1,2")
    for option, value in (
        ("--bins", "age="),
        ("--bins", "age=2,1"),
        ("--bins", "age=nan"),
        ("--delimiter", ";;"),
        ("--delimiter", '"'),
        ("--encoding", "base64"),
        ("--seed", "4294967296"),
        ("--seed", "one"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "a.csv", *NAMES, option, value])
        assert f"{option}: must be" in capsys.readouterr().err
