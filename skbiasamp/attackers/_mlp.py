"""MLPAttacker: small networks as in the papers, trained many at once."""

from __future__ import annotations

from math import ceil
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import ClassifierTags, RegressorTags, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._input.checks import Array, is_one
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval, StrOptions, check_sample_weight
from skbiasamp.attackers._bundle import MLPBundle
from skbiasamp.attackers._validation import codes_in, read_validation
from skbiasamp.attackers.networks import (
    ACTIVATIONS,
    TrainingData,
    average_targets,
    check_total,
    distinct_inputs,
    hold_out,
    join_equal_rows,
    train_networks,
)
from skbiasamp.attackers.optional_torch import find_device

PRESETS: dict[str, dict[str, Any]] = {
    "dpa": {"hidden_layer_sizes": (4,), "activation": "sigmoid", "batch_size": 64},
    "leakage": {
        "hidden_layer_sizes": (300, 300, 300),
        "activation": "leaky_relu",
        "batch_norm": True,
        "learning_rate": 5e-5,
        "weight_decay": 1e-5,
        "early_stopping": True,
    },
}


def _classifies(attacker: MLPAttacker) -> bool:
    return attacker.loss == "cross_entropy"


class MLPAttacker(WithOptions):
    """Neural network (multilayer perceptron) as attacker; hundreds are trained at once.

    The attacker of the papers on leakage [1]_ and predictability amplification [2]_. An audit
    needs many networks: one for each fold, perturbation and target. `fit` trains one network, as
    any scikit-learn estimator does. `fit_many` trains all in one computation, on a GPU if there
    is one.

    .. versionadded:: 0.1

    Parameters
    ----------
    hidden_layer_sizes : tuple of int, default=(16,)
        Width of each hidden layer. The empty tuple gives a logistic or linear regression.
    activation : {"relu", "tanh", "sigmoid", "leaky_relu", "tanh_relu"}, default="relu"
        Function after each hidden layer. "tanh_relu" alternates: tanh after the first layer, ReLU
        after the second, and so on.
    batch_norm : bool, default=False
        True normalises each hidden layer over the batch, before the activation.
    learning_rate : float, default=1e-2
        Learning rate of Adam. A smaller one trains more slowly and more steadily.
    weight_decay : float, default=0.0
        L2 penalty of Adam: this share of each weight is added to its gradient. 0 is no penalty.
    batch_size : int, default=128
        Rows in a step. If there are no more distinct inputs than this, every step uses all of
        them, weighted.
    max_epochs : int, default=100
        Number of passes through the rows.
    loss : {"cross_entropy", "squared_error"}, default="cross_entropy"
        "cross_entropy" makes a classifier, "squared_error" a regressor.
    early_stopping : bool or "accuracy", default=False
        Which weights are kept. True: those of the epoch with the smallest loss on validation rows.
        "accuracy": those of the epoch with the highest accuracy on them. False: the last weights.
        All train for `max_epochs`.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out, unless `fit` gets validation rows.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Device that trains and predicts. "auto" uses a GPU if there is one, else the CPU. "cuda"
        raises an error without a GPU.
    random_state : int, RandomState or None, default=None
        Seed of the initial weights and of the order of rows. An int gives the same numbers in each
        call and on each device. None gives other numbers in each call. The state of torch's own
        random numbers does not change.
    verbose : int, default=0
        1 shows progress from the start, also in a log. 0 shows it after two seconds, and only on
        a terminal or in a notebook.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes (classifiers only).
    networks_ : MLPBundle
        The network, as a bundle of one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has names.
    n_iter_ : int
        Number of epochs that led to the weights.
    loss_curve_ : ndarray of shape (max_epochs,)
        Mean loss of each epoch's steps.

    See Also
    --------
    ExactAttacker : Table of the most frequent class of each input, without training.

    Notes
    -----
    Equal rows become one row with a weight. Training therefore costs as much as there are distinct
    rows, and weighting, repeating or sorting rows gives exactly the same network. An epoch of N
    rows takes ⌈N / batch_size⌉ steps. If there are more distinct inputs than `batch_size`, the N
    rows (each as often as its weight says) are shuffled and split into batches of equal size. If
    not, each step uses all rows, which is the average of such batches. N is the sum of the weights
    if all are whole numbers, else the number of rows with a weight; `n_rows` of `fit_many` sets it.

    A regressor standardises its target during training, so the learning rate has no unit. Inputs
    are not scaled: scale them first unless they are 0/1 or of similar size.

    On a CPU, networks as small as `preset("dpa")` run fastest in one thread:
    `torch.set_num_threads(1)`. Wide networks gain from several.

    References
    ----------
    .. [1] Wang et al., Balanced Datasets Are Not Enough: Estimating and Mitigating Gender Bias in
       Deep Image Representations, ICCV 2019.
    .. [2] Tokas et al., Making Bias Amplification in Balanced Datasets Directional and
       Interpretable, 2024.

    Examples
    --------
    >>> from skbiasamp.attackers import MLPAttacker
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> MLPAttacker(random_state=0).fit(X, y, sample_weight=[100] * 4).predict(X)
    array(['same', 'other', 'other', 'same'], dtype='<U5')

    Two networks at once, the second with other labels:

    >>> both = MLPAttacker(random_state=0).fit_many(X, [y, y[::-1]], n_rows=400)
    >>> both.predict_proba(X).shape
    (2, 4, 2)
    """

    hidden_layer_sizes: Any = PositionalOption("array-like", default=(16,), kw_only=False)
    activation: str = Option("relu", StrOptions(set(ACTIVATIONS)))
    batch_norm: bool = Option(False, "boolean")
    learning_rate: float = Option(1e-2, Interval(Real, 0, None, closed="neither"))
    weight_decay: float = Option(0.0, Interval(Real, 0, None, closed="left"))
    batch_size: int = Option(128, Interval(Integral, 1, None, closed="left"))
    max_epochs: int = Option(100, Interval(Integral, 1, None, closed="left"))
    loss: str = Option("cross_entropy", StrOptions({"cross_entropy", "squared_error"}))
    early_stopping: bool | str = Option(False, "boolean", StrOptions({"accuracy"}))
    validation_fraction: float = Option(0.1, Interval(Real, 0, 1, closed="neither"))
    device: str = Option("auto", StrOptions({"auto", "cpu", "cuda"}))
    random_state: Any = Option(None, "random_state")
    verbose: int = Option(0, "verbose")

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Self:
        """Return the attacker of a paper.

        Parameters
        ----------
        name : {"dpa", "leakage"}
            "dpa" (Tokas et al., 2025) has one hidden layer of 4 sigmoids. The paper names no other
            setting: 100 epochs of Adam at 0.01 in batches of 64 are the choice made here.
            "leakage" (Wang et al., 2019) has three hidden layers of 300 with batch normalisation
            and leaky ReLU. It trains for 100 epochs at 5e-5 in batches of 128 and keeps the epoch
            with the smallest loss on held-out rows. The paper keeps the best epoch on its
            validation rows: pass ``early_stopping="accuracy"`` here and `validation` to
            `skbiasamp.metrics.dataset_leakage`. The weight decay of 1e-5 is that of the authors'
            code, which also normalises the inputs and has a fourth hidden layer.
        **overrides
            Parameters of `MLPAttacker` that replace those of the preset.

        Returns
        -------
        attacker : MLPAttacker
        """
        if not is_one(name, PRESETS):
            known = ", ".join(map(repr, PRESETS))
            text = "There is no preset {seen!r}: pass one of {known}."
            raise InputError(text, seen=name, known=known)
        return cls(**PRESETS[name] | overrides)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if _classifies(self):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Self:
        """Train one network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Target: classes, or numbers with `loss="squared_error"`.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; 0 leaves a row out. By default every row weighs 1.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Validation rows for `early_stopping`. By default a share of the rows is held out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        with np.errstate(over="ignore"):  # as in fit_many
            X, y = validate_data(self, X, y, dtype=np.float32, y_numeric=not _classifies(self))
        if _classifies(self):
            check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        # A row of weights, so that the seed is that of the first of many networks.
        self.networks_ = self.fit_many(X, y, weight[None], validation=validation)
        if _classifies(self):
            self.classes_ = self.networks_.classes
        self.loss_curve_ = self.networks_.loss_curve[0]
        self.n_iter_ = int(self.networks_.n_iter[0])
        return self

    def fit_many(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        n_rows: Any = None,
        validation: Any = None,
        random_state: Any = None,
    ) -> MLPBundle:
        """Train many networks at once; each is the network that it would be alone.

        The attacker itself does not change. There are as many networks as `y`, `sample_weight` or
        `random_state` has entries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of all networks.
        y : array-like of shape (n_samples,) or (n_networks, n_samples)
            Target of all networks, or of each.
        sample_weight : array-like of shape (n_samples,) or (n_networks, n_samples), optional
            Weight of each row, for all networks or for each; 0 leaves a row out.
        classes : array-like of shape (n_classes,), optional
            The classes in sorted order. By default those in `y`.
        n_rows : int or array-like of shape (n_networks,), optional
            Number of rows before equal rows became one. It sets the number of steps in an epoch.
            The default is the sum of the weights if all are whole numbers, else the number of rows
            with a weight. Pass it if counts were changed, for example to balance groups.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Validation rows of all networks, for `early_stopping`. By default each network holds
            out a share of its rows.
        random_state : int, RandomState, sequence of n_networks int, or None
            One seed gives each network a seed by its position. A sequence gives each network its
            own seed, whatever its position. None takes the attacker's `random_state`.

        Returns
        -------
        networks : MLPBundle
        """
        self._validate_params()
        by_accuracy = self.early_stopping == "accuracy"
        if by_accuracy and not _classifies(self):
            raise InputError(
                "early_stopping='accuracy' needs classes, and loss='squared_error' predicts "
                "numbers: use early_stopping=True."
            )
        hidden = _widths(self.hidden_layer_sizes)
        device = find_device(self.device, needed=True)
        classifies = _classifies(self)
        with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
            X = check_array(X, dtype=np.float32, input_name="X")
        y = check_array(
            y, dtype=None if classifies else np.float64, ensure_2d=False, input_name="y"
        )
        weight = _weights(sample_weight, len(X))
        seeds = self.random_state if random_state is None else random_state
        n = _n_networks(len(X), y, weight, seeds)
        y, weight = (np.broadcast_to(values, (n, len(X))) for values in (y, weight))
        used = weight > 0
        if not used.any(axis=1).all():
            empty = used.any(axis=1).argmin()
            raise InputError(
                "{sample_weight} of network {empty} is zero everywhere: leave it out.", empty=empty
            )
        centres = np.array([[0.0, 1.0]] * n)
        if classifies:
            if classes is not None:
                classes = check_array(classes, dtype=None, ensure_2d=False, input_name="classes")
            # unique_labels refuses classes of several types, which cannot be sorted.
            classes = unique_labels(y[used] if classes is None else np.ravel(classes))
            target = codes_in(classes, y, used, "y")
        else:
            classes = None
            centres = np.array([_centre(*pair) for pair in zip(y, weight, strict=True)])
            target = (y - centres[:, :1]) / centres[:, 1:]
        outside = None
        if validation is not None:
            outside = read_validation(validation, X, classes, used=self.early_stopping)
        inputs, index = distinct_inputs(
            X if outside is None else np.concatenate([X, outside.inputs])
        )
        index, index_outside = index[: len(X)], index[len(X) :]
        data = []
        each = used, target, weight, _seed_sequences(seeds, n), _rows_before(n_rows, weight)
        for mask, its_target, its_weight, seed, n_before, centre in zip(
            *each, centres, strict=True
        ):
            rows, held_out = join_equal_rows(index[mask], its_target[mask], its_weight[mask]), None
            if outside is not None:
                aim = outside.target if classifies else (outside.target - centre[0]) / centre[1]
                held_out = join_equal_rows(index_outside, aim, outside.weight)
            elif self.early_stopping:
                # A generator of its own: holding out rows does not change the other draws.
                rng = np.random.default_rng(seed.spawn(1)[0])
                rows, held_out, n_before = hold_out(rows, n_before, self.validation_fraction, rng)
            if not classifies:
                rows, held_out = average_targets(rows), held_out and average_targets(held_out)
            data.append(TrainingData(rows, n_before, seed, held_out))
        widths = (X.shape[1], *hidden, 1 if classes is None else len(classes))
        tensors, loss, judged = train_networks(self, widths, inputs, data, device)
        n_iter = np.full(n, self.max_epochs) if judged is None else judged.argmin(axis=1) + 1
        # Networks learn standardised numbers; squared errors have the target's unit squared.
        unit = centres[:, 1:] ** 2
        loss *= unit
        if judged is not None:
            judged *= -unit if by_accuracy else unit
        how = self.activation, self.device
        return MLPBundle(tensors, loss, judged, n_iter, classes, centres, *how)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row of X, or the number of a regressor."""
        check_is_fitted(self)
        return self.networks_.predict(validate_data(self, X, dtype=np.float32, reset=False))[0]

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row of X: (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        return self.networks_.predict_proba(X)[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier or R² of a regressor, over rows and true targets."""
        mixin = ClassifierMixin if _classifies(self) else RegressorMixin
        y = np.asarray(to_native(y, "y"))  # NumPy ends the process over lists that hold themselves
        return float(mixin.score(self, X, y, sample_weight))


# --------------------------------------------------------------------------- input of fit_many


def _widths(sizes: Any) -> tuple[int, ...]:
    """Return the widths of hidden layers."""
    hidden = tuple(sizes) if np.ndim(sizes) else (None,)
    if not all(isinstance(width, int | np.integer) and width >= 1 for width in hidden):
        raise InputError(
            "{hidden_layer_sizes} must be whole numbers from 1 on; got {sizes!r}.", sizes=sizes
        )
    return hidden


def _weights(given: Any, n_samples: int) -> Array:
    """Return the weights of rows, of all networks or of each."""
    weight = np.ones(n_samples) if given is None else given
    options = {"ensure_2d": False, "ensure_non_negative": True, "input_name": "sample_weight"}
    weight = check_array(weight, dtype=np.float64, **options)
    with np.errstate(over="ignore"):
        if np.isinf(weight.sum(axis=-1)).any():
            raise InputError(
                "{sample_weight} adds up to more than a float can hold: divide it by its mean."
            )
    return np.asarray(weight)


def _n_networks(n_samples: int, y: Array, weight: Array, seeds: Any) -> int:
    """Return the number of networks that y, weights and seeds agree on."""
    sizes = {}
    for name, values in {"y": y, "sample_weight": weight}.items():
        if values.ndim > 2 or values.shape[-1] != n_samples:
            raise InputError(
                "{name} must have shape ({n},) or (n_networks, {n}), since {X} has {n} rows; got "
                "{shape}.",
                name=name,
                n=n_samples,
                shape=values.shape,
            )
        if values.ndim == 2:
            sizes[name] = len(values)
    if np.ndim(seeds):
        sizes["random_state"] = len(seeds)
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} for {size}" for name, size in sizes.items())
        raise InputError("It is not clear how many networks to train: {found}.", found=counts)
    return next(iter(sizes.values()), 1)


def _seed_sequences(seeds: Any, n: int) -> list[np.random.SeedSequence]:
    if not np.ndim(seeds) and not isinstance(seeds, Integral):
        seeds = check_random_state(seeds).randint(2**31)
    each = _one_each("random_state", seeds, n, kinds="iu", least=0)
    if np.ndim(seeds):
        return [np.random.SeedSequence(int(seed)) for seed in each]
    # Seed and position together: networks differ, and the first is that of `fit`.
    return [np.random.SeedSequence((int(seed), i)) for i, seed in enumerate(each)]


def _one_each(name: str, values: Any, n: int, *, kinds: str, least: int) -> Array:
    """Return a number for each network, of one for all or one for each."""
    array = np.asarray(values)
    numbers = array.shape in ((), (n,)) and array.dtype.kind in kinds
    if not numbers or not (np.isfinite(array) & (array >= least)).all():
        raise InputError(
            "{name} must be a number from {least} on, or one for each of {n} networks; got "
            "{values!r}.",
            name=name,
            least=least,
            n=n,
            values=values,
        )
    return np.broadcast_to(array, n)


def _rows_before(n_rows: Any, weight: Array) -> list[int]:
    """Return how many rows each network has, counting equal rows."""
    if n_rows is not None:
        each = _one_each("n_rows", n_rows, len(weight), kinds="iuf", least=1)
        check_total(each)
        return [ceil(n_rows) for n_rows in each]
    # Weights beyond whole floats are no counts.
    whole = (weight == np.rint(weight)).all(axis=1) & (weight.sum(axis=1) < 2**53)
    rows = np.where(whole, weight.sum(axis=1), (weight > 0).sum(axis=1))
    check_total(rows)
    return rows.astype(int).tolist()


def _centre(y: Array, weight: Array) -> tuple[float, float]:
    """Return the weighted mean and standard deviation, 1 if all numbers are equal."""
    used = weight > 0
    # Equal numbers are added up first: repeated rows stay exactly weighted rows.
    values, code = np.unique(y[used], return_inverse=True)
    share = np.bincount(code, weight[used])
    share = share / share.sum()
    mean = float(share @ values)
    return mean, float(np.sqrt(share @ (values - mean) ** 2)) or 1.0
