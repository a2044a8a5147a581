"""Files that were dropped into the page: stored in a private folder while they arrive, or refused."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from skbiasamp.datasets import load_compas

_ENDINGS = (".csv", ".tsv", ".parquet")
_LONGEST_LINE = 1 << 20  # bytes
# How files begin that hold others, packed: what they unpack to has no limit.
_PACKED = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd")
_EXAMPLE = "compas.csv"


class RefusedError(ValueError):
    """A file is not stored; says why to the reader of the page."""


@dataclass(frozen=True)
class StoredFile:
    """A file in the private folder; `name` is the one it had, as far as it is harmless."""

    id: str
    name: str
    path: Path
    size: int
    sha256: str


class Storage:
    """A private folder with files, none larger than `most` bytes, all together four times that."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self.files: dict[str, StoredFile] = {}
        self._incoming = 0

    async def receive(self, name: str, chunks: AsyncIterator[bytes]) -> StoredFile:
        """Store a file as it arrives; nothing is left of one that is refused or broken off."""
        name = safe_name(name)
        file_id = secrets.token_urlsafe(12)
        place = self.folder / file_id
        place.mkdir(mode=0o700)
        path = place / ("data" + Path(name).suffix)
        size, digest = 0, hashlib.sha256()
        try:
            with path.open("wb") as file:
                line = 0
                async for chunk in chunks:
                    if not size and chunk:
                        _check_start(name, chunk)
                    size += len(chunk)
                    self._incoming += len(chunk)
                    self._check_room(name, size)
                    if path.suffix != ".parquet":
                        line = _check_line(name, chunk, line)
                    digest.update(chunk)
                    file.write(chunk)
            if not size:
                raise RefusedError(f"{name} is empty.")
            stored = StoredFile(file_id, name, path, size, digest.hexdigest())
            self.files[file_id] = stored
            return stored
        except BaseException:
            path.unlink(missing_ok=True)
            place.rmdir()
            raise
        finally:
            self._incoming -= size

    def _check_room(self, name: str, size: int) -> None:
        """Raise if a file, or all files together, are larger than allowed."""
        if size > self.most:
            text = f"{name} is larger than {_megabytes(self.most)}. Start the app with --max-size."
            raise RefusedError(text)
        if sum(file.size for file in self.files.values()) + self._incoming > 4 * self.most:
            text = "The files of all tabs are larger than allowed: close some, or remove files."
            raise RefusedError(text)

    def remove(self, file_id: str) -> None:
        """Delete a file."""
        file = self.files.pop(file_id)
        file.path.unlink()
        file.path.parent.rmdir()

    async def example(self) -> StoredFile:
        """Store COMPAS, as a reviewer would have it: labels, a prediction, race, sex and age."""
        compas = load_compas()
        columns = ["age", "sex", "race", "decile_score", "two_year_recid"]
        rows = compas.frame.assign(decile_score=compas.decile_score)[columns]
        rows["predicted"] = (rows.pop("decile_score") >= 5).astype(int)

        async def content() -> AsyncIterator[bytes]:
            yield rows.to_csv(index=False).encode()

        return await self.receive(_EXAMPLE, content())


def safe_name(name: str) -> str:
    """Return a file's name without folders, control characters and what options begin with."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    name = re.sub(r"[^\w .()+,@-]", "_", name).strip(" .-")[-100:].lstrip(" .-")
    stem, dot, ending = name.rpartition(".")
    ending = dot + ending.lower()
    if ending not in _ENDINGS or not stem:
        text = f"{name or 'This file'} cannot be read: only {', '.join(_ENDINGS)}. "
        if ending in (".xlsx", ".xls", ".ods"):
            text += "In the spreadsheet program, save it as CSV UTF-8."
        elif ending in (".zip", ".gz"):
            text += "Unpack it first."
        else:
            text += "Save the table as one of these."
        raise RefusedError(text)
    return stem + ending


def _check_start(name: str, start: bytes) -> None:
    """Raise if a file is not what its name says."""
    if start.startswith(_PACKED):
        text = f"{name} is a packed file, such as .zip, .gz or .xlsx. Unpack it, or save it as CSV."
        raise RefusedError(text)
    if start.startswith(b"PAR1") != name.endswith(".parquet"):
        raise RefusedError(f"{name} is not the kind of file that its name says.")


def _check_line(name: str, chunk: bytes, line: int) -> int:
    """Return how long the last line is by now, or raise if one is too long for a table."""
    first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
    if line + (len(chunk) if first < 0 else first) > _LONGEST_LINE:
        text = f"{name} has a line of more than {_megabytes(_LONGEST_LINE)}: this is no table."
        raise RefusedError(text)
    return line + len(chunk) if first < 0 else len(chunk) - last - 1


def _megabytes(n: int) -> str:
    return f"{n / 2**20:,.0f} MB"
