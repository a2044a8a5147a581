"""Zhao, Wang, Yatskar, Ordonez and Chang 2017."""

from reference_data import read_rba_shares

from published._rows import Row, page

NAMES = {"imsitu": "imSitu verbs", "coco": "COCO objects"}
WHEN = {"before": "without constraints", "after": "with constraints"}


def rba():
    """Yield the means of amplification, from the shares that the authors released."""
    shares = page("rba")
    for (dataset, when), published in shares["PAPER"].items():
        frame = read_rba_shares(dataset=dataset).frame
        ours = shares["amplification"](frame, when)
        resolved = shares["amplification"](shares["without_ties"](frame), when)
        ties = (frame["train"] == 0.5).sum()
        why = (
            f"{ties} verbs have as many men as women in training, and count as 0 here; if they "
            f"count as mostly women, it is {resolved:.4f}"
        )
        what = f"{NAMES[dataset]}, {WHEN[when]}: mean amplification"
        yield Row("Sec. 6", what, f"{published:.4f}", ours, why if ties else "")
        if ties:
            what += ", ties as mostly female"
            yield Row("Sec. 6", what, f"{published:.4f}", resolved)
