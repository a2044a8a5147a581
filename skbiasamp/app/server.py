"""The server of the page: bound to this machine, for whoever has its address."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request as HttpRequest
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skbiasamp.app.files import RefusedError, Storage, StoredFile
from skbiasamp.app.jobs import Job
from skbiasamp.app.processes import LimitedProcess, MemoryLimitError, memory_for
from skbiasamp.app.request import OUTPUTS, FieldError, Request, field_of

STATIC = Path(__file__).parent / "static"
_HOSTS = ["127.0.0.1", "localhost"]
_MOST_AT_ONCE = 2  # audits; others wait
_LARGEST_REQUEST = 1 << 20  # bytes, of anything but a file
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
            # The browser is started with this address, which other users of the machine can see.
            self.key = ""
            answer = RedirectResponse(f"/{self.token}/", 303)
        elif not _equal(first, self.token):
            text = "The address is not complete: use the one that skbiasamp app has printed."
            answer = Response(text, 403)
        await answer(scope, receive, send_guarded)

    def _is_ours(self, method: str, headers: Headers) -> bool:
        """Return whether a request was not sent by another site."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        from_page = origin in self.origins or (origin is None and method in ("GET", "HEAD"))
        return from_page and site in ("same-origin", "none")


def _equal(text: str, secret: str) -> bool:
    return secrets.compare_digest(text.encode(), secret.encode())


class App:
    """The page's requests: files, their columns, and audits."""

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns = asyncio.Semaphore(_MOST_AT_ONCE)
        # Of each file, by its content: when its first report was made, and when limits were set.
        self._reported: dict[str, datetime] = {}
        self._limits: dict[tuple[str, str], datetime] = {}

    def routes(self) -> list[Route | Mount]:
        """Return what there is below the token."""
        return [
            Route("/", self.page),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/files", self.receive, methods=["POST"]),
            Route("/example", self.example, methods=["POST"]),
            Route("/files/{id}", self.remove, methods=["DELETE"]),
            Route("/files/{id}/columns", self.columns, methods=["POST"]),
            Route("/jobs", self.start, methods=["POST"]),
            Route("/jobs/{id}", self.cancel, methods=["DELETE"]),
            Route("/jobs/{id}/events", self.events),
            Route("/jobs/{id}/{report}", self.report),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Keep everything in a private folder, which is deleted at the end."""
        with tempfile.TemporaryDirectory(prefix="skbiasamp-") as folder:
            self.folder = Path(folder)
            self.storage = Storage(self.folder, self.max_size)
            try:
                yield
            finally:
                for job in self.jobs.values():
                    job.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def page(self, request: HttpRequest) -> Response:
        """Return the page."""
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    async def receive(self, request: HttpRequest) -> Response:
        """Store the body of the request, a file."""
        try:
            name = request.query_params.get("name", "")
            return _stored(await self.storage.receive(name, request.stream()))
        except RefusedError as error:
            return _refused(str(error), 413)
        except ClientDisconnect:  # cancelled, and nobody reads the answer
            return Response(status_code=400)

    async def example(self, request: HttpRequest) -> Response:
        """Store the data that come with the package."""
        return _stored(await self.storage.example())

    async def remove(self, request: HttpRequest) -> Response:
        """Delete a file."""
        self.storage.remove(self._file(request.path_params["id"]).id)
        return Response(status_code=204)

    async def columns(self, request: HttpRequest) -> Response:
        """Return what a file holds, read in a process of its own."""
        file, given = self._file(request.path_params["id"]), await _json(request)
        module = ["-m", "skbiasamp.app.columns", str(file.path), json.dumps(given)]
        try:
            process = LimitedProcess(module, self.folder, memory_for(file.size))
            code, output = await process.run()
            answer = json.loads(output) if code == 0 else {"error": "It cannot be read."}
        except MemoryLimitError:
            answer = {"error": f"It needs more than {process.memory / 2**30:.1f} GB of memory."}
        if "error" in answer:
            return _refused(f"{file.name}: {answer['error']}", 422)
        return JSONResponse(answer)

    async def start(self, request: HttpRequest) -> Response:
        """Start an audit."""
        fields = await _json(request)
        try:
            wanted = {role: str(fields["files"].get(role) or "") for role in _ROLES}
            files = {role: self._file(name) for role, name in wanted.items() if name}
            asked = Request(fields, files)
            asked.check()
            arguments, python = asked.arguments(), asked.python()
        except FieldError as error:
            return _refused(str(error), 422, error.field)
        except (AttributeError, KeyError, TypeError):
            return _refused("The page and the server do not fit: reload the page.", 400)
        by_name = {asked.names[role]: file for role, file in files.items()}
        record = self._record(files["test"].sha256, asked.text("limit"))
        job = Job(arguments, by_name, self.folder)
        self.jobs[job.id] = job
        task = asyncio.create_task(self._run(job, files))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        texts = {"command": asked.command(), "python": python, "record": record}
        return JSONResponse({"id": job.id} | texts)

    async def _run(self, job: Job, files: dict[str, StoredFile]) -> None:
        await job.run(self._turns)
        if job.state == "failed":
            job.field, job.text = field_of(job.text, files)
        elif job.state == "done":
            self._reported.setdefault(files["test"].sha256, datetime.now())

    def _record(self, sha256: str, limit: str) -> str:
        """Return whether a limit was set before the first report of a file was seen."""
        if not limit:
            return "No limit was set."
        since = self._limits.setdefault((sha256, limit), datetime.now())
        first = self._reported.get(sha256)
        if first is None or since < first:
            return f"The limit was set at {since:%H:%M:%S}, before a report of this file was made."
        return (
            f"The limit was set at {since:%H:%M:%S}, after a report of this file was made "
            f"({first:%H:%M:%S})."
        )

    async def cancel(self, request: HttpRequest) -> Response:
        """End an audit."""
        self._job(request).cancel()
        return Response(status_code=204)

    async def events(self, request: HttpRequest) -> Response:
        """Return the progress of an audit as it comes."""
        job = self._job(request)

        async def stream() -> AsyncIterator[str]:
            while not job.is_over:
                yield f"data: {json.dumps(job.described())}\n\n"
                await asyncio.sleep(_EVERY)
            yield f"data: {json.dumps(job.described())}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def report(self, request: HttpRequest) -> Response:
        """Return a file that an audit has written, to be shown or saved."""
        job, name = self._job(request), request.path_params["report"]
        path = job.folder / name
        if name not in OUTPUTS.values() or job.state != "done" or not path.exists():
            raise HTTPException(404)
        content = path.read_bytes()
        headers = {"content-security-policy": _policy_of_report(content.decode())}
        if "save" in request.query_params:
            headers["content-disposition"] = f'attachment; filename="{name}"'
        kinds = {".html": "text/html", ".json": "application/json", ".md": "text/plain"}
        return Response(content, headers=headers, media_type=kinds[path.suffix])

    def _file(self, file_id: str) -> StoredFile:
        if file_id not in self.storage.files:
            raise HTTPException(404, "This file is no longer there: drop it again.")
        return self.storage.files[file_id]

    def _job(self, request: HttpRequest) -> Job:
        job = self.jobs.get(request.path_params["id"])
        if job is None:
            raise HTTPException(404)
        return job


_ROLES = ("test", "train", "other")


async def _json(request: HttpRequest) -> dict[str, Any]:
    """Return the fields that a request has in its body."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_REQUEST:
            raise HTTPException(413)
    try:
        fields = json.loads(body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise HTTPException(400)
    return fields


def _stored(file: StoredFile) -> Response:
    return JSONResponse({"id": file.id, "name": file.name, "size": file.size})


def _refused(text: str, status: int, field: str = "") -> Response:
    return JSONResponse({"error": text, "field": field}, status)


def _policy_of_report(page: str) -> str:
    """Return a policy that lets a report run its own script, and nothing that data brought.

    Its script is the last one and its style the first: data stand between them, escaped.
    """
    script = page[page.rfind("<script>") + 8 : page.rfind("</script>")]
    style = page[page.find("<style>") + 7 : page.find("</style>")]
    sources = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    return (
        f"default-src 'none'; script-src 'sha256-{sources[0]}'; style-src 'sha256-{sources[1]}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "sandbox allow-scripts allow-popups"
    )


async def _answer_error(request: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _refused(error.detail, error.status_code)


def make_app(token: str, key: str, port: int, max_size: int) -> Starlette:
    """Return the application, with what protects it."""
    app = App(max_size)
    guards = [
        Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False),
        Middleware(Guard, token=token, key=key, port=port),
    ]
    return Starlette(
        routes=[Mount(f"/{token}", routes=app.routes())],
        middleware=guards,
        lifespan=app.lifespan,
        exception_handlers={HTTPException: _answer_error},
    )


def serve(port: int, *, browser: bool, max_size: int) -> None:
    """Serve the page on this machine until Ctrl-C; port 0 is any that is free."""
    with socket.socket() as listening:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_HOSTS[0], port))
        listening.listen()
        port = listening.getsockname()[1]
        token, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        app = make_app(token, key, port, max_size)
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        if hasattr(signal, "SIGHUP"):  # the terminal was closed
            signal.signal(signal.SIGHUP, lambda *_: setattr(server, "should_exit", True))
        print(f"Open this address in a browser: http://{_HOSTS[0]}:{port}/{token}/")
        print("It is for you alone. Ctrl-C ends the app and deletes its files.", flush=True)
        if browser:
            webbrowser.open(f"http://{_HOSTS[0]}:{port}/open/{key}")
        server.run(sockets=[listening])
