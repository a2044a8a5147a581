"""Where a data file lies: in a folder of the user's, in the cache, or at its publisher's."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "SKBIASAMP_DATA"


def find_file(
    name: str,
    *,
    sha256: str,
    origin: str,
    url: str | None = None,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Path:
    """Find a file, fetch it where that is possible, and make sure that it is the one we mean."""
    from sklearn.datasets import get_data_home  # imports rich where that is installed

    cache = Path(data_home).expanduser() if data_home else Path(get_data_home()) / "skbiasamp"
    own = os.environ.get(FOLDER_VARIABLE)
    folders = [Path(own).expanduser(), cache] if own else [cache]
    for folder in folders:
        file = folder / name
        if file.is_file():
            check_sum(file, sha256)
            return file
    by_hand = (
        f"{origin} Put the file in {cache}, or name the folder that has it in the environment "
        f"variable {FOLDER_VARIABLE}."
    )
    if url is None or not download_if_missing:
        looked = " nor in ".join(map(str, folders))
        reason = "" if url is None else ", and download_if_missing is False"
        raise FileNotFoundError(f"{name} is not in {looked}{reason}. {by_hand}")
    retrieve = import_pooch(by_hand).retrieve
    try:
        retrieve(url, known_hash=f"sha256:{sha256}", fname=name, path=cache)
    except Exception as error:
        error.add_note(by_hand)
        raise
    return cache / name


def check_sum(file: Path, sha256: str) -> None:
    """Raise if the file is not, byte for byte, the one that results were published for."""
    seen = hashlib.sha256(file.read_bytes()).hexdigest()
    if seen != sha256:
        raise ValueError(
            f"{file} is not the file this loader reads: its sha256 is {seen}, expected {sha256}. "
            "It may be damaged, edited or another version: remove it and fetch it again."
        )


def import_pooch(by_hand: str) -> Any:
    """Return pooch, or say how to do without."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"downloading needs pooch: pip install 'skbiasamp[datasets]'. {by_hand}"
        ) from error
    return pooch
