"""Files that were dropped into the page: stored in a private folder, or refused."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

_ENDINGS = (".csv", ".tsv", ".parquet")
_LONGEST_LINE = 1 << 20  # bytes
# How packed files begin: what they unpack to has no limit.
_PACKED = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd")
_INSTEAD = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "In the spreadsheet program, save it as CSV UTF-8."),
    **dict.fromkeys((".zip", ".gz"), "Unpack it first."),
}


class RefusedError(ValueError):
    """Something is refused; the text is for the reader of the page."""


@dataclass(frozen=True)
class StoredFile:
    """A file in the private folder; `name` is the one it had, as far as it is harmless."""

    id: str
    name: str
    path: Path
    size: int
    sha256: str


async def store(
    name: str, chunks: AsyncIterator[bytes], folder: Path, *, largest: int
) -> StoredFile:
    """Store a file as it arrives; nothing is left of one that is refused or broken off."""
    name, file_id = safe_name(name), secrets.token_urlsafe(12)
    (folder / file_id).mkdir(mode=0o700)
    path = folder / file_id / f"data{Path(name).suffix}"
    size, line, digest = 0, 0, hashlib.sha256()
    try:
        with path.open("wb") as file:
            async for chunk in chunks:
                if not size:
                    _check_start(name, chunk)
                size += len(chunk)
                if size > largest:
                    raise RefusedError(
                        f"{name} is larger than the {largest / 2**20:,.0f} MB that are left. "
                        "Remove files, or start the app with another --max-size."
                    )
                first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
                line += len(chunk) if first < 0 else first
                if line > _LONGEST_LINE and path.suffix != ".parquet":
                    text = f"{name} has a line of more than a million characters: it is no table."
                    raise RefusedError(text)
                line = line if first < 0 else len(chunk) - last - 1
                digest.update(chunk)
                file.write(chunk)
        if not size:
            raise RefusedError(f"{name} is empty.")
    except BaseException:
        shutil.rmtree(path.parent)
        raise
    return StoredFile(file_id, name, path, size, digest.hexdigest())


def safe_name(name: str) -> str:
    """Return a file's name without folders, control characters and what options begin with."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    name = re.sub(r"[^\w .()+,@-]", "_", name)[-100:].strip(" .-")
    path = Path(name)
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        text = _INSTEAD.get(ending, "Save the table as one of these.")
        raise RefusedError(f"{name or 'This file'} is no .csv, .tsv or .parquet file. {text}")
    return path.stem + ending


def _check_start(name: str, start: bytes) -> None:
    """Raise if a file is not what its name says."""
    if start.startswith(_PACKED):
        text = f"{name} is a packed file, such as .zip, .gz or .xlsx. Unpack it, or save it as CSV."
        raise RefusedError(text)
    if start and start.startswith(b"PAR1") != name.endswith(".parquet"):
        raise RefusedError(f"{name} is not the kind of file that its name says.")
