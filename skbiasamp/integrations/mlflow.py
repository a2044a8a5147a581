"""Reports in MLflow: metrics with their intervals, the page, and hashes of the data."""

from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Any

from skbiasamp._input.errors import InputTypeError
from skbiasamp._input.keywords import keywords
from skbiasamp.results import AuditReport

__all__ = ["log_report"]


@keywords()
def log_report(report: AuditReport, *, folder: str = "bias_amplification") -> dict[str, float]:
    """Log a report to the active MLflow run.

    The run gets each metric's value with its confidence interval as metrics, the report as JSON and
    as a page as artifacts, and its verdicts and the hashes of the audited files as tags.

    .. versionadded:: 0.1

    Parameters
    ----------
    report : AuditReport
        What `skbiasamp.audit` returned.
    folder : str, default="bias_amplification"
        Folder of the artifacts, and first part of the names of metrics and tags.

    Returns
    -------
    metrics : dict of str to float
        What was logged. MLflow refuses ``>`` in names: "directional A->T" becomes
        "directional_A_to_T". Undefined numbers are left out.
    """
    if not isinstance(report, AuditReport):
        raise InputTypeError(
            "{report} must be an AuditReport; got {kind}.", kind=type(report).__name__
        )
    mlflow = _import_mlflow()
    metrics, tags = {}, {f"{folder}.verdict": report.verdict}
    for name, result in report.items():
        legal = legal_name(name)
        for part in ("value", "low", "high", "p_value"):
            number = float(getattr(result, part))
            if math.isfinite(number):
                metrics[f"{folder}/{legal}/{part}"] = number
        tags[f"{folder}.{legal}"] = result.verdict
    for at, file in enumerate(report.data_files):
        tags |= {f"{folder}.data.{at}.{key}": str(value) for key, value in file.items()}
    with tempfile.TemporaryDirectory() as made:
        report.to_json(Path(made) / "report.json")
        report.to_html(Path(made) / "report.html")
        mlflow.log_artifacts(made, artifact_path=folder)
    mlflow.log_metrics(metrics)
    mlflow.set_tags(tags)
    return metrics


def legal_name(name: str) -> str:
    """Return a name of letters, digits, underscores, dashes and periods."""
    return re.sub(r"[^\w.-]+", "_", name.replace("->", "_to_"), flags=re.ASCII)


def _import_mlflow() -> Any:
    try:
        import mlflow
    except ImportError as error:
        raise ImportError("log_report needs MLflow: pip install 'skbiasamp[mlflow]'") from error
    return mlflow
