"""The app is for one person on one machine: what it refuses, and what it leaves behind."""

import asyncio
import gzip
import io
import json
import signal
import socket
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from app_process import running_app
from command_line import refused as refused_command

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

ROWS = b"sex,hired,predicted\n" + b"f,0,0\nf,1,0\nm,1,1\nm,0,1\n" * 25


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("app"), "--max-size", "2") as running:
        yield running


@pytest.fixture
def page(app):
    """Return a client that sends what the page sends."""
    with httpx.Client(base_url=app.url, headers={"origin": app.origin}, timeout=60) as client:
        yield client


def stored(page, content=ROWS, name="rows.csv"):
    """Drop a file into the page, and return what the app knows of it."""
    response = page.post("files", params={"name": name}, content=content)
    assert response.status_code == 200, response.text
    return response.json()


def refused(response):
    """Return why the app refuses something."""
    assert response.status_code == 422
    return response.json()["error"]


def ended(page, job):
    """Wait until a job is over, and return what the page is told last."""
    with page.stream("GET", f"jobs/{job['id']}/events") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in events.iter_lines() if line.startswith("data: ")]
    return json.loads(lines[-1].removeprefix("data: "))


def until(happened):
    """Wait some seconds for something to happen."""
    for _ in range(200):
        if happened():
            return
        time.sleep(0.03)
    raise AssertionError("it did not happen")


OPTIONS = {"target": ["hired"], "prediction": ["predicted"], "sensitive": ["sex"]}


# --------------------------------------------------------------------------- who may ask


@pytest.mark.parametrize("path", ["", "app.js", "files", "jobs", "jobs/x/report.html", "nothing"])
@pytest.mark.parametrize("token", ["", "wrong/", "open/wrong/"])
def test_every_address_needs_the_token(app, path, token):
    response = httpx.get(f"{app.origin}/{token}{path}")
    assert response.status_code == 403
    assert app.token not in response.text + str(response.headers)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_name_that_was_bound_to_this_machine_is_refused(app, host):
    """DNS rebinding: a page of evil.example reaches 127.0.0.1 under its own name."""
    assert httpx.get(app.url, headers={"host": host}).status_code == 400


def test_what_another_page_or_site_sends_or_loads_is_refused(app):
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", None):
        headers = {} if origin is None else {"origin": origin}
        assert httpx.post(f"{app.url}example", headers=headers).status_code == 403
    for site in ("cross-site", "same-site"):
        headers = {"sec-fetch-site": site}
        assert httpx.get(f"{app.url}app.js", headers=headers).status_code == 403


def test_only_this_machine_reaches_it(app):
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", app.port), timeout=5)


def test_the_browser_is_started_with_an_address_that_works_once(tmp_path):
    """Other users of a machine see the arguments of its processes."""
    seen = tmp_path / "address"
    browser = tmp_path / "browser"
    writes = f"import sys\nopen({str(seen)!r}, 'w').write(sys.argv[1])\n"
    browser.write_text(f"#!{sys.executable}\n{writes}")
    browser.chmod(0o755)
    with running_app(tmp_path / "files", browser=str(browser)) as app:
        until(lambda: seen.exists() and seen.read_text())
        address = seen.read_text()
        assert app.token not in address
        first, second = httpx.get(address), httpx.get(address)
    assert first.headers["location"] == f"/{app.token}/"
    assert second.status_code == 403


@pytest.mark.parametrize("path", ["", "app.js", "files/x", "nothing"])
def test_every_answer_says_what_a_browser_must_not_do(app, path):
    headers = httpx.get(app.url + path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_a_report_may_run_its_own_script_only(page):
    options = OPTIONS | {"limit": ["0.1"]}
    job = page.post("jobs", json={"files": {"test": stored(page)["id"]}, "options": options}).json()
    assert ended(page, job)["state"] == "done"
    headers = page.get(f"jobs/{job['id']}/report.html").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'sha256-" in policy
    assert "unsafe" not in policy
    assert "allow-same-origin" not in policy


# --------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../../etc/passwd.csv", "passwd.csv"),
        ("..\\..\\boot.csv", "boot.csv"),
        ("--html=x.csv", "html_x.csv"),
        ("<img src=x onerror=alert(1)>.csv", "_img src_x onerror_alert(1)_.csv"),
        ("Zahlen für 2026.CSV", "Zahlen für 2026.csv"),
    ],
)
def test_a_file_name_is_a_name_and_no_path(app, page, name, kept):
    file = stored(page, name=name)
    assert file["name"] == kept
    assert set(app.stored()) <= {"data.csv", "rows.csv", "report.html", "report.json", "report.md"}
    assert page.delete(f"files/{file['id']}").status_code == 204


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("rows.csv", content)
    return packed.getvalue()


BOMB = b"0" * 10_000_000


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("rows.csv", zipped(BOMB), "is a packed file"),
        ("rows.parquet", gzip.compress(BOMB, mtime=0), "is a packed file"),
        ("rows.csv.gz", gzip.compress(ROWS, mtime=0), "Unpack it first"),
        ("rows.xlsx", zipped(ROWS), "save it as CSV UTF-8"),
        ("rows.parquet", ROWS, "is not the kind of file"),
        ("rows.csv", b"", "is empty"),
        ("rows.exe", ROWS, "is no .csv, .tsv or .parquet file"),
    ],
)
def test_what_is_no_table_is_refused_and_not_kept(app, page, name, content, reason):
    before = app.stored()
    assert reason in refused(page.post("files", params={"name": name}, content=content))
    assert app.stored() == before


def endless(start, part):
    """Yield a body without an end, the first megabytes at once."""
    yield start
    for _ in range(64):
        yield part
    while True:
        time.sleep(0.1)
        yield part


def test_a_file_without_end_is_refused_and_not_kept(app, page):
    """One line, and many rows: at the same time, since the app waits some seconds for the rest."""
    before = app.stored()
    bodies = endless(b"", b"x" * 65536), endless(b"sex,hired\n", b"f,0\n" * 16384)
    with ThreadPoolExecutor() as at_once:
        sent = [at_once.submit(page.post, "files?name=a.csv", content=body) for body in bodies]
    reasons = "it is no table", "--max-size"
    for response, reason in zip((each.result() for each in sent), reasons, strict=True):
        assert reason in refused(response)
        assert response.headers["connection"] == "close"
    assert app.stored() == before


def test_files_of_all_tabs_together_have_a_limit_and_room_comes_back(tmp_path):
    """Four times that of one file."""
    whole = b"sex,hired\n" + b"f,1\n" * 250_000
    assert 3 * len(whole) < 4 * 2**20 - len(whole) < 4 * len(whole)
    with (
        running_app(tmp_path, "--max-size", "1") as app,
        httpx.Client(base_url=app.url, headers={"origin": app.origin}, timeout=60) as client,
    ):
        files = [stored(client, whole, f"rows{i}.csv") for i in range(4)]
        more = client.post("files", params={"name": "more.csv"}, content=whole)
        assert "MB that are left. Remove files" in refused(more)
        client.delete(f"files/{files[0]['id']}")
        stored(client, whole, "again.csv")


def test_an_upload_that_breaks_off_leaves_nothing(app):
    before = app.stored()
    with socket.create_connection(("127.0.0.1", app.port)) as connection:
        connection.sendall(
            f"POST /{app.token}/files?name=half.csv HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Origin: {app.origin}\r\nContent-Length: 1000000\r\n\r\n".encode()
            + ROWS
        )
        until(lambda: app.stored() != before)  # what has arrived is written
    until(lambda: app.stored() == before)


def test_a_table_has_a_limit_of_columns(page):
    header = ",".join(f"c{i}" for i in range(1001))
    file = stored(page, f"{header}\n{header}\n".encode())
    assert "1,001 columns" in refused(page.post(f"files/{file['id']}/columns", json={}))


CUTS = {
    "ages": (range(18, 90), [40, 70]),
    "shares": ([i / 100 for i in range(60)], [0.2, 0.4]),
    "below 0": ([1000 * i for i in range(-20, 40)], [0, 20000]),
    "most": ([*range(100)] + [200] * 900, [200]),
    "few": ([*range(10)], []),
    "more": ([*range(11)], [3, 7]),
    "texts": (["a", 1, 2], []),
}


def cuts_of(page, columns):
    """Return the cuts that the page proposes for each column of a file."""
    rows = pd.DataFrame(columns).assign(hired=0).to_csv(index=False)
    described = page.post(f"files/{stored(page, rows.encode())['id']}/columns", json={}).json()
    return {one["name"]: one["cuts"] for one in described["columns"] if one["name"] in columns}


def test_cuts_are_round_and_leave_no_group_empty(page):
    n = 9000  # each column some times as a whole
    columns = {name: np.resize([*numbers], n) for name, (numbers, _) in CUTS.items()}
    found = cuts_of(page, columns)
    assert {*found} == {*CUTS}
    for name, (_, cuts) in CUTS.items():
        assert found[name] == pytest.approx(cuts), name
    ages = sorted([*range(18, 90)] * 3000)  # more rows than are looked at, in order
    assert cuts_of(page, {"age": ages}) == {"age": [40, 70]}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_groups_of_several_columns_are_counted(page, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    n = 100_040  # more than are read at once, so that parts of a file are added up
    sex = ["f", "m"] * (n // 2)
    age = [20.0 if i < n - 40 else 60.0 for i in range(n - 4)] + [None] * 4
    table = pd.DataFrame({"sex": sex, "age": age})
    content = io.BytesIO()
    table.to_parquet(content) if kind == "parquet" else table.to_csv(content, index=False)
    address = f"files/{stored(page, content.getvalue(), f'rows.{kind}')['id']}/columns"
    asked = {"cuts": {"sex": [], "age": [60]}, "missing": ""}  # a cut begins the upper group
    assert page.post(address, json=asked).json() == {"groups": 4, "small": 2, "smallest": 18}
    asked["missing"] = "group"
    assert page.post(address, json=asked).json() == {"groups": 6, "small": 4, "smallest": 2}
    asked["cuts"] = {"sex": [40]}
    assert refused(page.post(address, json=asked))


def test_memory_has_a_limit(tmp_path, monkeypatch):
    from skbiasamp.app import jobs
    from skbiasamp.app.files import RefusedError

    monkeypatch.setattr(jobs, "_LEAST", 100 << 20)
    takes_all = "import time; many = [b'x' * 10**6 for _ in range(500)]; time.sleep(60)"
    with pytest.raises(RefusedError, match=r"more than 0\.1 GB of memory, and was stopped"):
        asyncio.run(jobs.run_python(["-c", takes_all], tmp_path, 0, print))


@pytest.mark.parametrize("path", ["..%2f..%2f..%2fetc%2fpasswd", "../server.py"])
def test_no_other_file_is_read(page, path):
    for address in (path, f"jobs/{path}", f"files/{path}"):
        assert page.get(address).status_code in (403, 404, 405, 422)


# --------------------------------------------------------------------------- options


def test_a_column_cannot_be_an_option(tmp_path, page):
    target = tmp_path / "written.html"
    for options in (
        OPTIONS | {"sensitive": ["sex", f"--html={target}"]},
        OPTIONS | {"target": [f"--json={target}"]},
    ):
        file = stored(page)
        response = page.post("jobs", json={"files": {"test": file["id"]}, "options": options})
        if response.status_code == 200:
            assert ended(page, response.json())["state"] == "failed"
        else:
            assert "begins with a hyphen" in refused(response)
        assert not target.exists()


@pytest.mark.parametrize(
    "options",
    [{"html": ["/tmp/x"]}, {"auditor": ["os:system"]}, {"target": [1]}, {"target": ["\0"]}],
)
def test_only_options_of_the_page_are_passed_on(page, options):
    fields = {"files": {"test": stored(page)["id"]}, "options": OPTIONS | options}
    assert "reload the page" in refused(page.post("jobs", json=fields))


def used_and_ended(folder, how):
    """Start an app, begin an audit, and end the app by a signal before the audit is over."""
    with running_app(folder, ends_with=how) as app:
        (private,) = app.folder.iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
        client = httpx.Client(base_url=app.url, headers={"origin": app.origin})
        with client as page:
            fields = {"files": {"test": stored(page)["id"]}, "options": OPTIONS}
            page.post("jobs", json=fields)
            assert "data.csv" in app.stored()
    return list(app.folder.iterdir())


def test_nothing_is_left_when_it_ends(tmp_path):
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    with ThreadPoolExecutor() as at_once:
        left = at_once.map(used_and_ended, [tmp_path / how.name for how in signals], signals)
        assert list(left) == [[], [], []]


# --------------------------------------------------------------------------- the command


def test_without_its_packages_the_command_says_what_to_install(monkeypatch, capsys):
    for name in [*sys.modules]:
        if name.startswith("skbiasamp.app."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert "pip install 'skbiasamp[app]'" in refused_command(capsys, "app", "--no-browser")


def test_a_port_that_is_taken_is_one_clear_line(app, capsys):
    error = refused_command(capsys, "app", "--no-browser", "--port", str(app.port))
    assert "in use" in error


def test_all_files_together_have_a_limit(tmp_path):
    content = ROWS * 1_500  # 0.9 MB
    with running_app(tmp_path / "small", "--max-size", "1") as small:
        page = httpx.Client(base_url=small.url, headers={"origin": small.origin}, timeout=60)
        for _ in range(4):
            kept = stored(page, content)
        error = refused(page.post("files", params={"name": "rows.csv"}, content=content))
        assert error.startswith("rows.csv is larger than the 0 MB that are left")
        assert page.delete(f"files/{kept['id']}").status_code == 204
        stored(page, content)
        page.close()
