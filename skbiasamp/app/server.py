"""The server of the page: bound to this machine, for the user who has its address."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import secrets
import shlex
import shutil
import signal
import socket
import tempfile
import webbrowser
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skbiasamp.app.files import RefusedError, StoredFile, store
from skbiasamp.app.jobs import OUTPUTS, Form, Job, run_python
from skbiasamp.datasets import load_compas

_STATIC = Path(__file__).parent / "static"
_HOSTS = ["127.0.0.1", "localhost"]
_MOST_AT_ONCE = 2  # audits; others wait
_MOST_TABS = 20  # whose choices are kept
_PATIENCE = 5  # seconds to take the rest of a file that is refused
_EVERY = 0.2  # seconds between two looks at an audit
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Answer only requests that have the token and come from the page, or open it."""

    def __init__(self, app: ASGIApp, token: str, key: str, port: int) -> None:
        self.app, self.token, self.key = app, token, key
        self.origins = {f"http://{host}:{port}" for host in _HOSTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        first, _, rest = scope["path"].lstrip("/").partition("/")
        answer: ASGIApp = self.app
        if scope["type"] != "http" or not self._is_ours(scope["method"], Headers(scope=scope)):
            answer = Response("This request does not come from the page.", 403)
        elif first == "open" and self.key and _equal(rest, self.key):
            # Other users of the machine can see the address that a browser is started with.
            self.key = ""
            answer = Response(status_code=303, headers={"location": f"/{self.token}/"})
        elif not _equal(first, self.token):
            answer = Response("Use the whole address that skbiasamp app has printed.", 403)
        await answer(scope, receive, send_guarded)

    def _is_ours(self, method: str, headers: Headers) -> bool:
        """Return whether a request was not sent by another site."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        from_page = origin in self.origins or (origin is None and method in ("GET", "HEAD"))
        return from_page and site in ("same-origin", "none")


def _equal(text: str, secret: str) -> bool:
    return secrets.compare_digest(text.encode(), secret.encode())


class App:
    """What the page can ask for: files, their columns, audits."""

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.files: dict[str, StoredFile] = {}
        self.jobs: dict[str, Job] = {}
        self.tabs: dict[str, bytes] = {}
        self.turns = asyncio.Semaphore(_MOST_AT_ONCE)
        # By the content of a file: when its first report was made, and when limits were set.
        self.reported: dict[str, datetime] = {}
        self.limits: dict[tuple[str, str], datetime] = {}

    def routes(self) -> list[Route | Mount]:
        """Return what there is below the token."""
        return [
            Route("/files", self.receive, methods=["POST"]),
            Route("/example", self.example, methods=["POST"]),
            Route("/files/{id}", self.remove, methods=["DELETE"]),
            Route("/files/{id}/columns", self.columns, methods=["POST"]),
            Route("/jobs", self.start, methods=["POST"]),
            Route("/jobs/{id}", self.cancel, methods=["DELETE"]),
            Route("/jobs/{id}/events", self.events),
            Route("/jobs/{id}/{report}", self.report),
            Route("/tabs/{tab}", self.tab, methods=["GET", "PUT"]),
            Mount("/", StaticFiles(directory=_STATIC, html=True)),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Keep everything in a private folder, which is deleted at the end."""
        with tempfile.TemporaryDirectory(prefix="skbiasamp-") as folder:
            self.folder = Path(folder)
            yield
            for job in self.jobs.values():
                await job.end()

    async def receive(self, request: Request) -> Response:
        """Store the body of the request, a file."""
        content = request.stream()
        try:
            return await self._store(request.query_params.get("name", ""), content)
        except RefusedError:
            # A browser reads the answer once it has sent everything.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    async for _ in content:
                        pass
            raise

    async def example(self, request: Request) -> Response:
        """Store COMPAS, as a reviewer would have it."""
        compas = load_compas()
        rows = compas.frame[["age", "sex", "race", "two_year_recid"]]
        rows = rows.assign(predicted=(compas.decile_score >= 5).astype(int))

        async def content() -> AsyncIterator[bytes]:
            yield rows.to_csv(index=False).encode()

        return await self._store("compas.csv", content())

    async def _store(self, name: str, content: AsyncIterator[bytes]) -> Response:
        left = 4 * self.max_size - sum(file.size for file in self.files.values())
        file = await store(name, content, self.folder, largest=min(self.max_size, left))
        self.files[file.id] = file
        return JSONResponse({"id": file.id, "name": file.name})

    async def remove(self, request: Request) -> Response:
        """Delete a file."""
        file = self._file(request.path_params["id"])
        shutil.rmtree(self.files.pop(file.id).path.parent)
        return Response(status_code=204)

    async def columns(self, request: Request) -> Response:
        """Return what a file holds, read in a process of its own."""
        file, output = self._file(request.path_params["id"]), list[str]()
        given = json.dumps(await request.json())
        path = str(file.path.relative_to(self.folder))
        module = ["-m", "skbiasamp.app.columns", path, given]
        code = await run_python(module, self.folder, file.size, output.append)
        answer = "".join(output)
        if code != 0:
            lines = answer.splitlines() or ["It cannot be read."]
            raise RefusedError(f"{file.name}: {lines[-1]}")
        return Response(answer, media_type="application/json")

    async def start(self, request: Request) -> Response:
        """Start an audit."""
        fields = await request.json()
        files, names = dict[str, StoredFile](), dict[str, str]()
        for role in ("test", "train", "other"):
            if role in fields["files"]:
                file = self._file(fields["files"][role])
                # Of two files with one name in different folders, the second gets its role.
                names[role] = f"{role} {file.name}" if file.name in files else file.name
                files[names[role]] = file
        asked = Form(fields["options"], names)
        sha256, limit = files[names["test"]].sha256, str(fields["options"].get("limit", ""))
        command, record = ["skbiasamp", *asked.arguments()], self._record(sha256, limit)
        job = Job(["-m", *command], files, self.folder)
        self.jobs[job.id] = job
        job.start(self.turns, record, lambda: self.reported.setdefault(sha256, datetime.now()))
        answer = {"id": job.id, "names": names, "models": asked.models, "record": record}
        return JSONResponse(answer | {"command": shlex.join(command)})

    async def tab(self, request: Request) -> Response:
        """Keep what was chosen in a tab of the browser, until its page is loaded again."""
        tab = request.path_params["tab"]
        if request.method == "PUT":
            others = [item for item in self.tabs.items() if item[0] != tab]
            self.tabs = dict([*others[1 - _MOST_TABS :], (tab, await request.body())])
        return Response(self.tabs.get(tab, b"null"), media_type="application/json")

    def _record(self, sha256: str, limit: str) -> str:
        """Return whether a limit was set before the first report of a file was made."""
        if not limit:
            return "No limit was set."
        since = self.limits.setdefault((sha256, limit), datetime.now())
        order = "before" if since < self.reported.get(sha256, datetime.max) else "after"
        return f"The limit was set at {since:%H:%M:%S}, {order} a report of this file was made."

    async def cancel(self, request: Request) -> Response:
        """End an audit."""
        await self._job(request).end()
        return Response(status_code=204)

    async def events(self, request: Request) -> Response:
        """Return the progress of an audit as it comes."""
        job = self._job(request)

        async def stream() -> AsyncIterator[str]:
            while job.state in ("waiting", "running"):
                yield f"data: {json.dumps(job.describe())}\n\n"
                await asyncio.sleep(_EVERY)
            yield f"data: {json.dumps(job.describe())}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def report(self, request: Request) -> Response:
        """Return a file that an audit has written, to be shown or saved."""
        job, name = self._job(request), request.path_params["report"]
        if name not in OUTPUTS.values() or job.state != "done":
            raise RefusedError("There is no such report.")
        return FileResponse(
            job.folder / name,
            filename=name,
            content_disposition_type="attachment" if "save" in request.query_params else "inline",
            headers={"content-security-policy": _policy_of((job.folder / name).read_text("utf-8"))},
        )

    def _file(self, file_id: str) -> StoredFile:
        if file_id not in self.files:
            raise RefusedError("This file is no longer there: drop it again.")
        return self.files[file_id]

    def _job(self, request: Request) -> Job:
        if request.path_params["id"] not in self.jobs:
            raise RefusedError("This report is no longer there: make it again.")
        return self.jobs[request.path_params["id"]]


def _policy_of(page: str) -> str:
    """Return a policy that lets a report run its own script, and none that data brought.

    Its script is the last one and its style the first: what data hold stands between them.
    """
    script = page[page.rfind("<script>") + len("<script>") : page.rfind("</script>")]
    style = page[page.find("<style>") + len("<style>") : page.find("</style>")]
    hashes = [hashlib.sha256(text.encode()).digest() for text in (script, style)]
    of_script, of_style = (base64.b64encode(sha256).decode() for sha256 in hashes)
    return (
        f"default-src 'none'; script-src 'sha256-{of_script}'; style-src 'sha256-{of_style}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "sandbox allow-scripts allow-popups"
    )


async def _refuse(request: Request, error: Exception) -> Response:
    # Closed, since the rest of a file that is refused has no end, perhaps.
    return JSONResponse({"error": str(error)}, 422, {"connection": "close"})


def serve(port: int, *, browser: bool, max_size: int) -> None:
    """Serve the page on this machine until Ctrl-C; port 0 is any that is free."""
    with socket.create_server((_HOSTS[0], port)) as listening:
        port = listening.getsockname()[1]
        token, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        answers = App(max_size)
        app = Starlette(
            routes=[Mount(f"/{token}", routes=answers.routes())],
            middleware=[
                Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False),
                Middleware(Guard, token=token, key=key, port=port),
            ],
            lifespan=answers.lifespan,
            exception_handlers={RefusedError: _refuse, ClientDisconnect: _refuse},
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        if hasattr(signal, "SIGHUP"):  # the terminal was closed
            signal.signal(signal.SIGHUP, lambda *_: setattr(server, "should_exit", True))
        print(f"Open this address in a browser: http://{_HOSTS[0]}:{port}/{token}/")
        print("It is for you alone. Ctrl-C ends the app and deletes its files.", flush=True)
        if browser:
            webbrowser.open(f"http://{_HOSTS[0]}:{port}/open/{key}")
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
