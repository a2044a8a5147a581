"""Files that cannot be downloaded, found in a folder that the user names."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from skbiasamp._input.errors import InputError


def find_file(
    name: str, sha256: str, origin: str, data_home: str | os.PathLike[str] | None
) -> Path:
    """Return a file whose results are published for one version only; `origin` says what it is."""
    from sklearn.datasets import get_data_home  # imports rich where that is installed

    home = Path(data_home).expanduser() if data_home else Path(get_data_home()) / "skbiasamp"
    own = os.environ.get("SKBIASAMP_DATA")
    folders = [Path(own).expanduser(), home] if own else [home]
    file = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if file is None:
        raise FileNotFoundError(
            f"{name} is not in {' nor in '.join(map(str, folders))}. It cannot be downloaded: "
            f"{origin}. Put the file in {home}, or name its folder in the environment variable "
            "SKBIASAMP_DATA."
        )
    actual = hashlib.sha256(file.read_bytes()).hexdigest()
    if actual != sha256:
        raise InputError(
            "{file} is not the file that this loader reads: its sha256 is {seen}, expected "
            "{expected}. It may be damaged, edited or another version; replace it.",
            file=str(file),
            seen=actual,
            expected=sha256,
        )
    return file
