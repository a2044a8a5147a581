"""Files out: a reader finds the old file or the new one, never half of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from skbiasamp._input.errors import InputError, InputTypeError


def written(text: str, path: Any) -> str:
    """Return text, once it is in the file that is named, if one is."""
    if path is not None:
        if not isinstance(path, str | os.PathLike):
            text = "path must be text or a path, or None; got {kind}."
            raise InputTypeError(text, kind=type(path).__name__)
        check_path(Path(path))
        _replace(Path(path), text.encode("utf-8"))
    return text


def check_path(path: Path) -> None:
    """Raise if no file can be written at a path."""
    if "\0" in str(path):
        raise InputError("path must hold no NUL character; got {path!r}.", path=str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name the file to write")


def _replace(path: Path, content: bytes) -> None:
    """Write a file beside the one that is named, and give it that name when it is complete."""
    if path.exists() and not path.is_file():  # a device such as /dev/stdout
        path.write_bytes(content)
        return
    target = path.resolve()  # a link keeps pointing to its file
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} is write-protected")  # renaming would not ask
    beside = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            beside.chmod(mode)
        beside.replace(target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # the reader knows this name, and not the temporary one
        raise
