"""Leakage in captions (LIC): what a model's texts reveal about the group."""

from __future__ import annotations

from skbiasamp._input.checks import Array
from skbiasamp.metrics._text_auditor import TextAuditor
from skbiasamp.metrics.functions import function_of


class LICAuditor(TextAuditor):
    r"""Audit leakage in captions (LIC): what a model's texts reveal about the group.

    An attacker reads texts in which words that name the group are masked, and predicts the group.
    It learns from texts that people wrote and from texts of the model [1]_. Use it for captions,
    summaries or answers that have a human counterpart for the same rows.

    .. versionadded:: 0.1

    Parameters
    ----------
    attacker : "auto" or estimator, default="auto"
        Pipeline that reads texts and predicts the group. "auto": `TfidfVectorizer` of one and two
        words (``min_df=2``) and `LogisticRegression`. An estimator: any pipeline of scikit-learn
        whose first step takes texts, cloned for every draw and fold.
    quality : str or callable, default="confidence"
        %(quality)s
        The paper uses "confidence".
    equalize : {"vocabulary", None}, default="vocabulary"
        "vocabulary": words of the human texts that the model never uses become one unknown token,
        as in the paper. None: human texts stay as they are.
    masker : "gender", transformer or None, default="gender"
        What hides the group. "gender": `WordMasker` with English words that name a gender. A
        transformer: a `WordMasker` with words of your own, or anything that returns a text for
        each text. None: texts are masked already.
    cv : int, default=5
        Number of folds of the audited rows: attackers are scored on rows that they did not learn
        from.
    holdout : bool, default=False
        False scores all folds. True scores one fold of each draw: ``cv=10, holdout=True`` are the
        paper's ten splits into 90 %% training and 10 %% test rows.
    %(shared)s

    Attributes
    ----------
    %(fitted)s

    See Also
    --------
    LeakageAuditor : The same for labels.
    skbiasamp.text.WordMasker : Masks words of lists of your own.
    skbiasamp.metrics.lic_amplification : The value as a function.

    Notes
    -----
    .. math:: LIC = LIC_M - LIC_D, \quad
        LIC = \frac{1}{n} \sum_i \hat s_i(a_i) \, 1[f(x_i) = a_i]

    f is the attacker, and :math:`\hat s_i(a_i)` the probability that it gives to the group of
    row i. A guess that ignores the text reaches 1 / (number of groups)². ``quality_data`` of the
    table is LIC_D, and ``quality_model`` LIC_M.

    **The sign of LIC can depend on the attacker.** For the captioner NIC the paper's table has
    +0.037 with an LSTM, −0.008 with a fine-tuned BERT and +0.019 with a BERT as it was. Compare
    models by the same attacker, and report which one it was.

    ``result.words`` holds the words by which the attacker recognises each group, in human and in
    model texts: their weight in an attacker of all rows, and the share of texts that have them,
    in this group (`share`) and in the others (`share_others`). It is None if the attacker is not
    linear in words.

    Intervals resample rows, and are wider than these resamples, since attackers would differ
    if they had learned from other rows.

    ``statistics`` of a result holds `chance_data` and `chance_model`, the quality of a guess that
    ignores the text; `unknown_words`, the share of human words that the model never uses; and
    `empty_data` and `empty_model`, the number of rows whose text has no word. Training texts are
    not used.

    References
    ----------
    .. [1] Hirota, Nakashima, Garcia. Quantifying societal bias amplification in image captioning.
       CVPR 2022.

    Examples
    --------
    >>> from skbiasamp import LICAuditor
    >>> group = ["f", "m"] * 100
    >>> people = ["a woman with a bike", "a man with a bike"] * 50 + [
    ...     "a woman in a kitchen",
    ...     "a man in a kitchen",
    ... ] * 50
    >>> model = ["a woman in a kitchen", "a man with a bike"] * 100
    >>> auditor = LICAuditor(n_draws=2, random_state=0)
    >>> result = auditor.audit(people, model, sensitive_features=group)
    >>> result.verdict
    'reveals more'
    >>> result.words.query("source == 'model texts'").groupby("target")["word"].first()
    target
    f    <group> in
    m    <group> with
    Name: word, dtype: object
    """

    metric = "LIC"
    definition = (
        "Leakage in captions (LIC; Hirota et al., 2022): how much surer an attacker is of the "
        "right group from the model's texts than from human texts for the same rows, with words "
        "that name the group masked."
    )
    rank = 1

    def _amplification(self, data: Array, model: Array) -> Array:
        """Return LIC_M − LIC_D."""
        return model - data


lic_amplification = function_of(
    LICAuditor, without=("sensitive_pred", "y_train", "sensitive_train")
)
