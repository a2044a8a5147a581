"""What tests of the app share: the app as a process of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import urllib.request


class RunningApp:
    """The app, its address, and the folder for its files."""

    def __init__(self, process, url, folder):
        self.process, self.url, self.folder = process, url, folder
        self.origin, self.token = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/([\w-]+)/", url).groups()
        self.port = int(self.origin.rpartition(":")[2])

    def stored(self):
        """Return all that lies in its private folder."""
        (private,) = self.folder.glob("skbiasamp-*")
        return sorted(path.name for path in private.rglob("*") if path.is_file())


@contextlib.contextmanager
def running_app(folder, *options, browser="", ends_with=signal.SIGTERM):
    """Start the app, and end it."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-P", "-m", "skbiasamp", "app", *options]
    command += [] if browser else ["--no-browser"]
    environment = os.environ | {"TMPDIR": str(folder), "BROWSER": browser}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        url = re.search(r"http\S+", process.stdout.readline())[0]
        urllib.request.urlopen(url).close()  # it answers, so that its folder is there
        yield RunningApp(process, url, folder)
    finally:
        process.send_signal(ends_with)
        process.wait(10)
        process.stdout.close()
