"""MLPAttacker: copies of a torch network, trained at once; `torch.func` stacks their weights.

Calling a network with four hidden units takes longer than computing it. One vectorised call
computes a step of all copies. Adam updates each number by itself, so a network without dropout
depends on its own rows and seed alone.

Equal rows are one row with a weight, so training needs the distinct rows only. Repeating, weighting
or sorting rows gives the same network, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from itertools import islice, pairwise, repeat
from math import ceil
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils import ClassifierTags, RegressorTags, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._input.checks import Array, check_call, check_count, is_one
from skbiasamp._input.containers import to_native
from skbiasamp._input.errors import InputError, InputTypeError
from skbiasamp._input.labels import as_bytes
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval, StrOptions, check_sample_weight
from skbiasamp._utils.progress import progress

_ACTIVATIONS = {"relu": "ReLU", "tanh": "Tanh", "sigmoid": "Sigmoid", "leaky_relu": "LeakyReLU"}
# Most weights of networks that are trained together. 64 MiB in float32.
_MOST_WEIGHTS = 1 << 24
# Rows that no epoch of training comes to the end of.
_MOST_ROWS = 1e10
# Rows that are predicted at once: of numbers, and of images.
_AT_ONCE = 16384, 256

# --------------------------------------------------------------------------- torch


def import_torch(who: str = "MLPAttacker") -> Any:
    """Return torch, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"{who} needs torch: pip install 'skbiasamp[torch]'") from error
    return torch


def find_device(name: str, *, needed: bool) -> Any:
    """Return the torch device; if no GPU is `needed`, the CPU replaces a missing one."""
    torch = import_torch()
    has_gpu = torch.cuda.is_available()
    if name == "cuda" and needed and not has_gpu:
        raise InputError(
            "{device='cuda'} needs a GPU that torch can use, and torch finds none. Pass "
            "{device='auto'} to use a GPU only if there is one."
        )
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch, and restore the caller's random state afterwards, on all devices."""
    torch = import_torch()
    gpus = range(torch.cuda.device_count())
    with torch.random.fork_rng(gpus):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed formats a traceback, too
        if gpus:
            torch.cuda.manual_seed_all(seed)
        yield


def make_module(name: str, given: Any, *sizes: Any) -> Any:
    """Return a copy of a module, or the module that a callable makes."""
    torch = import_torch()
    if isinstance(given, torch.nn.Module):
        return deepcopy(given)
    if not callable(given):
        text = "{name} must be a torch.nn.Module, or a callable that returns one; got {seen!r}."
        raise InputTypeError(text, name=name, seen=given)
    check_call(name, given, *sizes)
    made = given(*sizes)
    if not isinstance(made, torch.nn.Module):
        raise InputTypeError(
            "{name} was called as {name}({sizes}), and returned a {kind}: it must return a "
            "torch.nn.Module.",
            name=name,
            sizes=", ".join(map(str, sizes)),
            kind=type(made).__name__,
        )
    return made


def check_outputs(outputs: Any, n_rows: int, n_outputs: int) -> None:
    """Raise unless a module returned a row of numbers for each row."""
    shape = tuple(getattr(outputs, "shape", ()))
    if shape != (n_rows, n_outputs):
        raise InputError(
            "{module} returned {shape} for {n} rows. It must return logits of shape {expected}: "
            "one for each class, or for each task of a multilabel {y}.",
            shape=shape or type(outputs).__name__,
            n=n_rows,
            expected=(n_rows, n_outputs),
        )


# --------------------------------------------------------------------------- rows


class WeightedRows(NamedTuple):
    """Rows: inputs or their positions, classes or numbers, and weights.

    Distinct rows have positions, and weights with the sum 1.
    """

    inputs: Array
    target: Array
    weight: Array


def check_total(rows: float) -> None:
    """Raise if there are more rows, by their weights, than an epoch can go through."""
    if rows > _MOST_ROWS:
        text = "{sample_weight} adds up to {total:.3g} rows: divide it by its mean."
        raise InputError(text, total=float(rows))


def distinct_inputs(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows of float32 numbers, and the position of each row among them."""
    rows = rows + np.float32(0)  # which makes −0 and 0 the same bytes
    flat = as_bytes(rows.reshape(len(rows), -1))
    _, first, code = np.unique(flat, return_index=True, return_inverse=True)
    return rows[first], code.reshape(-1)


def join_equal_rows(inputs: Array, target: Array, weight: Array) -> WeightedRows:
    """Return the distinct rows with the sum of their weights."""
    values, code = np.unique(target, return_inverse=True)
    row, position = np.unique(inputs * len(values) + code, return_inverse=True)
    # Weights are added before they are divided: repeated rows stay exactly weighted rows.
    total = np.bincount(position, weight)
    return WeightedRows(row // len(values), values[row % len(values)], total / total.sum())


def standardise(parts: Sequence[WeightedRows]) -> tuple[float, float]:
    """Standardise targets in place by those of the first rows; return mean and scale."""
    first = parts[0]
    mean = float(first.weight @ first.target)
    scale = float(np.sqrt(first.weight @ (first.target - mean) ** 2)) or 1.0
    for part in parts:
        part.target[:] = (part.target - mean) / scale
    return mean, scale


def draw_rows(weight: Array, n: float, rng: np.random.Generator) -> Array:
    """Return the positions of n rows in random order, each as often as its weight (sum 1) says.

    A row comes n times its weight, rounded up or down: with n rows of equal weight each comes
    once, as in an ordinary epoch.
    """
    # One random offset for all rows (systematic sampling) varies less than independent draws.
    offset = rng.random()
    ends = np.floor(np.cumsum(weight) * n + offset).astype(np.intp)
    # A whole n gives exactly n rows, whatever the rounding of the sum.
    ends[-1:] = int(n) + (n % 1 + offset >= 1)
    drawn = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    rng.shuffle(drawn)
    return drawn


def hold_out(
    rows: WeightedRows, n_rows: int, n_out: int, rng: np.random.Generator
) -> list[WeightedRows]:
    """Split rows at random into training and validation rows, of which there are `n_out`.

    Rows are drawn one by one: of several equal rows some can be held out.
    """
    drawn = draw_rows(rows.weight, n_rows, rng)
    out = np.bincount(drawn[:n_out], minlength=len(rows.weight))
    parts = []
    for weight in ((rows.weight * n_rows - out).round(9), out):
        kept = weight > 0
        total = weight[kept].sum()
        parts.append(WeightedRows(rows.inputs[kept], rows.target[kept], weight[kept] / total))
    return parts


# --------------------------------------------------------------------------- the attacker

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
    module : torch.nn.Module or callable, default=None
        A network of your own, in place of these layers. A callable, such as a class, is called as
        ``module(n_features, n_outputs)`` and returns a module; `n_features` is ``X.shape[1]``. Of
        a module, a copy is trained whose layers get new initial weights. It takes float32 rows of
        `X`, which may have more than two dimensions, and returns a logit for each class, or one
        number with `loss="squared_error"`. None: a multilayer perceptron.
    learning_rate : float, default=1e-2
        Learning rate of Adam. A smaller one trains more slowly and more steadily.
    weight_decay : float, default=0.0
        L2 penalty of Adam: this share of each weight is added to its gradient. 0 is no penalty.
    batch_size : int, default=128
        Rows in a step. If there are no more distinct inputs than this (for numbers, distinct rows),
        every step uses all of them, weighted, unless there is batch normalisation.
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
    module_ : torch.nn.Module
        The trained network, on the CPU.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has names.
    n_iter_ : int
        Number of epochs that led to the weights.
    loss_curve_ : ndarray of shape (max_epochs,)
        Mean loss of each epoch's steps.
    validation_curve_ : ndarray of shape (max_epochs,)
        Loss on the validation rows after each epoch, or accuracy with `early_stopping="accuracy"`;
        only with `early_stopping`.

    See Also
    --------
    ExactAttacker : Table of the most frequent class of each input, without training.

    Notes
    -----
    Equal rows become one row with a weight. Training therefore costs as much as there are distinct
    rows, and weighting, repeating or sorting rows gives exactly the same network. An epoch of N
    rows takes ⌈N / batch_size⌉ steps. If there are more distinct inputs than `batch_size`, or batch
    normalisation, the N rows (each as often as its weight says) are shuffled and split into batches
    of equal size. If not, each step uses all rows, which is the average of such batches. N is the
    sum of the weights if all are whole numbers, else the number of rows with a weight; `n_rows` of
    `fit_many` sets it.

    Networks are copies of one torch module, which `torch.func` trains at once. Each has its own
    weights, order of rows and best epoch. Dropout differs between them, and its random numbers
    depend on how many there are.

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

    >>> other = ["other", "same", "same", "other"]
    >>> both = MLPAttacker(random_state=0).fit_many(X, [y, other], n_rows=400)
    >>> [attacker.predict(X).tolist() for attacker in both]
    [['same', 'other', 'other', 'same'], ['other', 'same', 'same', 'other']]
    """

    hidden_layer_sizes: Any = PositionalOption("array-like", default=(16,), kw_only=False)
    activation: str = Option("relu", StrOptions({*_ACTIVATIONS, "tanh_relu"}))
    batch_norm: bool = Option(False, "boolean")
    module: Any = Option(None, callable, None)
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
            Inputs; of more dimensions, such as images, if `module` takes them.
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
        how: Any = {"dtype": np.float32, "allow_nd": self.module is not None}
        with np.errstate(over="ignore"):  # as in fit_many
            X, y = validate_data(self, X, y, y_numeric=not _classifies(self), **how)
        if _classifies(self):
            check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        # A row of weights, so that the seed is that of the first of many networks.
        fitted: Any = self.fit_many(X, y, weight[None], validation=validation)[0]
        # The parameters stay the caller's own.
        vars(self).update(vars(fitted) | self.get_params(deep=False))
        return self

    def fit_many(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        n_rows: int | None = None,
        validation: Any = None,
        random_state: Any = None,
    ) -> list[Self]:
        """Train many networks at once; without dropout each is the one that it would be alone.

        The attacker itself does not change. There are as many networks as `y`, `sample_weight` or
        `random_state` has entries. All take the same number of steps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of all networks; of more dimensions, such as images, if `module` takes them.
        y : array-like of shape (n_samples,) or (n_networks, n_samples)
            Target of all networks, or of each.
        sample_weight : array-like of shape (n_samples,) or (n_networks, n_samples), optional
            Weight of each row, for all networks or for each; 0 leaves a row out.
        classes : array-like of shape (n_classes,), optional
            All classes, in sorted order. By default those in `y`.
        n_rows : int, optional
            Number of rows before equal rows became one. It sets the number of steps in an epoch.
            The default is the largest sum of weights if all are whole numbers, else the number of
            rows with a weight. Pass it if counts were changed, for example to balance groups.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Validation rows of all networks, for `early_stopping`. By default each network holds
            out a share of its rows.
        random_state : int, RandomState, sequence of n_networks int, or None
            One seed gives each network a seed by its position. A sequence gives each network its
            own seed, whatever its position. None takes the attacker's `random_state`.

        Returns
        -------
        fitted : list of MLPAttacker
            A fitted attacker for each network.
        """
        self._validate_params()
        classifies = _classifies(self)
        if self.early_stopping == "accuracy" and not classifies:
            raise InputError(
                "early_stopping='accuracy' needs classes, and loss='squared_error' predicts "
                "numbers: use early_stopping=True."
            )
        hidden_widths(self)
        torch, device = import_torch(), find_device(self.device, needed=True)
        with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
            X = check_array(X, dtype=np.float32, input_name="X", allow_nd=self.module is not None)
        kind = None if classifies else np.float64
        y = check_array(y, dtype=kind, ensure_2d=False, input_name="y")
        seeds = self.random_state if random_state is None else random_state
        y, weight, sequences = _of_each(len(X), y, sample_weight, seeds)
        n_rows = _count_rows(weight) if n_rows is None else n_rows
        check_count("n_rows", n_rows)
        check_total(n_rows)
        used = weight > 0
        if classifies:
            if classes is not None:
                classes = check_array(classes, dtype=None, ensure_2d=False, input_name="classes")
            # unique_labels refuses classes of several types, which cannot be sorted.
            classes = unique_labels(y[used] if classes is None else np.ravel(classes))
            y = codes_in(classes, y, used, "y")
        inputs, outside, n_out = X, None, 0
        if validation is not None:
            known = classes if classifies else None
            outside = read_validation(validation, X, known, used=self.early_stopping)
            inputs = np.concatenate([X, outside.inputs])
        elif self.early_stopping:
            n_out = min(ceil(self.validation_fraction * n_rows), n_rows - 1)
            if not n_out:
                raise InputError("early_stopping=True holds out rows, and there is only one.")
        inputs, index = distinct_inputs(inputs)
        rows, judges = [], []
        fitted: list[Any] = [clone(self) for _ in sequences]
        for i, (attacker, seed) in enumerate(zip(fitted, sequences, strict=True)):
            kept = used[i]
            own = join_equal_rows(index[: len(X)][kept], y[i][kept], weight[i][kept])
            if outside is not None:
                judges.append(join_equal_rows(index[len(X) :], outside.target, outside.weight))
            elif n_out:
                # A generator of its own: holding out rows does not change the other draws.
                rng = np.random.default_rng(seed.spawn(1)[0])
                own, judge = hold_out(own, n_rows, n_out, rng)
                judges.append(judge)
            rows.append(own)
            attacker._unit = (0.0, 1.0) if classifies else standardise([own, *judges[i:]])
        n_outputs, n_rows = len(classes) if classifies else 1, n_rows - n_out
        # The caller may have switched gradients off.
        with torch.inference_mode(False), torch.enable_grad(), seeded(0):
            pool, copies = torch.tensor(inputs, device=device), []
            for seed in sequences:
                torch.default_generator.manual_seed(int(seed.generate_state(1)[0]))
                copies.append(make_network(self, pool[:2].cpu(), n_outputs))
            at_once = max(1, _MOST_WEIGHTS // sum(p.numel() for p in copies[0].parameters()))
            for start in range(0, len(rows), at_once):
                part = slice(start, start + at_once)
                of_part = copies[part], rows[part], judges[part], sequences[part]
                train_networks(self, fitted[part], pool, *of_part, n_rows)
        for attacker in fitted:
            attacker.n_features_in_ = X.shape[1]
            if classifies:
                attacker.classes_ = classes
        return fitted

    def _outputs(self, X: Any) -> Array:
        fitted: Any = self
        check_is_fitted(fitted)
        how: Any = {"dtype": np.float32, "allow_nd": self.module is not None}
        X = validate_data(self, X, reset=False, **how)
        torch, outputs = import_torch(), []
        # An attacker that was trained on a GPU also predicts without one.
        device = find_device(self.device, needed=False)
        network = deepcopy(fitted.module_).to(device)
        number = next(network.parameters()).dtype
        with torch.no_grad():
            for part in np.array_split(X, ceil(len(X) / _AT_ONCE[X.ndim > 2])):
                # A copy (not from_numpy): torch warns about read-only arrays.
                outputs.append(network(torch.tensor(part, dtype=number, device=device)).cpu())
        return np.asarray(torch.cat(outputs).double().numpy())

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row of X, or the number of a regressor."""
        outputs, fitted = self._outputs(X), vars(self)
        if _classifies(self):
            return np.asarray(fitted["classes_"][outputs.argmax(axis=1)])
        mean, scale = fitted["_unit"]
        return outputs[:, 0] * scale + mean

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row of X: (n_samples, n_classes)."""
        return np.asarray(softmax(self._outputs(X), axis=1))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier or R² of a regressor, over rows and true targets."""
        mixin = ClassifierMixin if _classifies(self) else RegressorMixin
        y = np.asarray(to_native(y, "y"))  # NumPy ends the process over lists that hold themselves
        return float(mixin.score(self, X, y, sample_weight))


# --------------------------------------------------------------------------- input of fit_many


def _of_each(
    n_samples: int, y: Array, weight: Any, seeds: Any
) -> tuple[Array, Array, list[np.random.SeedSequence]]:
    """Return the target, the weights and the seed of each network."""
    how: Any = {"ensure_2d": False, "ensure_non_negative": True, "input_name": "sample_weight"}
    weight = np.ones(n_samples) if weight is None else check_array(weight, dtype=np.float64, **how)
    listed = np.shape(seeds)
    try:
        n = np.broadcast_shapes(y.shape[:-1], weight.shape[:-1], listed, (1,))
        y, weight = (np.broadcast_to(values, (*n, n_samples)) for values in (y, weight))
    except ValueError:
        raise InputError(
            "{X} has {rows} rows. {y} and {sample_weight} must have as many columns, and with "
            "{random_state} as many entries as there are networks; got {shapes}.",
            rows=n_samples,
            shapes=f"{y.shape}, {weight.shape} and {listed}",
        ) from None
    if not listed and not isinstance(seeds, Integral):
        seeds = check_random_state(seeds).randint(2**31)
    for seed in seeds if listed else [seeds]:
        check_count("random_state", seed, least=0)
    # The first network of one seed is that of `fit`.
    each = [int(seed) for seed in seeds] if listed else [(int(seeds), i) for i in range(*n)]
    return y, weight, [np.random.SeedSequence(seed) for seed in each]


def _count_rows(weight: Array) -> Any:
    """Return how many rows the largest network has, counting equal rows."""
    with np.errstate(over="ignore"):
        total = weight.sum(axis=1)
    if not total.all():
        text = "{sample_weight} of network {empty} is zero everywhere: leave it out."
        raise InputError(text, empty=total.argmin())
    check_total(total.max() if np.isinf(total).any() else 0)
    # Weights beyond whole floats are no counts.
    whole = (weight == np.rint(weight)).all(axis=1) & (total < 2**53)
    return int(np.where(whole, total, (weight > 0).sum(axis=1)).max())


def read_validation(given: Any, X: Array, classes: Array | None, *, used: Any) -> WeightedRows:
    """Return the validation rows of a network that learns from X; `used` is its early_stopping."""
    if not used:
        raise InputError(
            "{validation} chooses the epoch, and early_stopping=False keeps the last one: set "
            "early_stopping=True or early_stopping='accuracy'."
        )
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        raise InputError(
            "{validation} must be a tuple (X, y) or (X, y, sample_weight); got {kind}.",
            kind=type(given).__name__,
        )
    with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
        inputs = check_array(
            given[0], dtype=np.float32, input_name="X of validation", allow_nd=X.ndim > 2
        )
    dtype = np.float64 if classes is None else None
    y = check_array(given[1], dtype=dtype, ensure_2d=False, input_name="y of validation")
    if inputs.shape[1:] != X.shape[1:] or y.shape != (len(inputs),):
        raise InputError(
            "{validation} must hold X of shape (n, {width}) and y of shape (n,); got {shapes}.",
            width=", ".join(map(str, X.shape[1:])),
            shapes=f"{inputs.shape} and {y.shape}",
        )
    weight = given[2] if len(given) == 3 else None
    if weight is not None and not np.any(weight):
        raise InputError("{validation} has weights that are zero everywhere: leave them out.")
    weight = check_sample_weight(weight, inputs, dtype=np.float64, ensure_non_negative=True)
    kept = weight > 0
    if classes is not None:
        y = codes_in(classes, y, kept, "validation")
    return WeightedRows(inputs[kept], y[kept], weight[kept])


def codes_in(classes: Array, y: Array, used: Array, role: str) -> Array:
    """Return the position of each label among the sorted classes; raise if a used one has none."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = y[used & (classes[codes] != y)]
    if len(unknown):
        raise InputError(
            f"{{{role}}} has {{label!r}}, which is not in {{classes}}.",
            label=unknown[:1].tolist()[0],
        )
    return codes


# --------------------------------------------------------------------------- training


def hidden_widths(settings: Any) -> list[int]:
    """Return the widths of an estimator's hidden layers, or raise."""
    widths: list[int] = np.ravel(settings.hidden_layer_sizes).tolist()
    for width in widths:
        check_count("each of hidden_layer_sizes", width)
    return widths


def make_network(attacker: MLPAttacker, rows: Any, n_outputs: int) -> Any:
    """Return a network for such rows, with new weights: a perceptron, or `module` of the user."""
    torch = import_torch()
    nn = torch.nn
    if attacker.module is None:
        layers: list[Any] = []
        widths = (rows.shape[1], *hidden_widths(attacker))
        for i, pair in enumerate(pairwise(widths)):
            # Normalisation removes a bias: it would have a gradient of rounding errors.
            layers.append(nn.Linear(*pair, bias=not attacker.batch_norm))
            if attacker.batch_norm:
                layers.append(nn.BatchNorm1d(pair[1]))
            name = _ACTIVATIONS.get(attacker.activation, ("Tanh", "ReLU")[i % 2])
            layers.append(getattr(nn, name)())
        return nn.Sequential(*layers, nn.Linear(widths[-1], n_outputs))
    # A copy, since a function may return the same module again.
    network = deepcopy(make_module("module", attacker.module, rows.shape[1], n_outputs))
    for layer in network.modules() if isinstance(attacker.module, nn.Module) else ():
        if hasattr(layer, "reset_parameters"):
            layer.reset_parameters()
    with torch.no_grad():
        check_outputs(network.eval()(rows), len(rows), n_outputs)
    return network


def _losses(outputs: Any, target: Any, weight: Any) -> Any:
    """Return each network's loss: a mean over rows, since weights sum to 1."""
    if target.is_floating_point():
        each = (outputs[..., 0] - target).square()
    else:
        cross_entropy = import_torch().nn.functional.cross_entropy
        each = cross_entropy(outputs.flatten(0, 1), target.flatten(), reduction="none")
    return (weight * each.view(target.shape)).sum(dim=1)


def train_networks(
    attacker: MLPAttacker,
    fitted: Sequence[Any],
    pool: Any,
    copies: Sequence[Any],
    rows: Sequence[WeightedRows],
    judges: Sequence[WeightedRows],
    seeds: Sequence[np.random.SeedSequence],
    n_rows: int,
) -> None:
    """Train each copy of a network on its rows, whose inputs are in `pool`.

    With validation rows (`judges`) the best epoch is kept, of equally good ones the first.
    """
    torch, device = import_torch(), pool.device
    network = deepcopy(copies[0]).to(device)
    weights, buffers = torch.func.stack_module_state([copy.to(device) for copy in copies])
    tensors = weights | buffers

    # Looking for tied weights takes a tenth of a step.
    tied = len(weights) < len(list(network.named_parameters(remove_duplicate=False)))

    def outputs_of(tensors: dict[str, Any], inputs: Any) -> Any:
        return torch.func.functional_call(network, tensors, (inputs,), tie_weights=tied)

    forward = torch.func.vmap(outputs_of, randomness="different")
    learned = [tensor for tensor in weights.values() if tensor.requires_grad]
    how = {"lr": float(attacker.learning_rate), "weight_decay": float(attacker.weight_decay)}
    adam = torch.optim.Adam(learned, **how, fused=True)
    by_accuracy = attacker.early_stopping == "accuracy"
    ones = torch.ones(len(rows), device=device)
    inputs, target, weight = _stacked(rows, device)
    n_steps = ceil(n_rows / attacker.batch_size)
    steps: Iterator[Any] = repeat((pool[inputs], target, weight))
    # Batch normalisation does not know weights.
    normalised = any(hasattr(layer, "running_mean") for layer in network.modules())
    distinct = [its.inputs if target.is_floating_point() else np.unique(its.inputs) for its in rows]
    if max(map(len, distinct)) > attacker.batch_size or normalised:
        steps = _drawn_steps(pool, rows, seeds, n_steps, ceil(n_rows / n_steps))
    batches: list[Any] = []
    if judges:
        size = ceil(_AT_ONCE[pool.ndim > 2] / len(rows))
        batches = [
            *zip(*(values.split(size, 1) for values in _stacked(judges, device)), strict=True)
        ]
    kept = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    curves = np.zeros((2, len(rows), attacker.max_epochs))
    best = torch.full((len(rows),), -torch.inf, dtype=torch.float64, device=device)
    with progress("epochs", attacker.max_epochs, verbose=attacker.verbose) as step:
        for epoch in range(attacker.max_epochs):
            network.train()
            total = torch.zeros(len(rows), device=device)
            for batch, target, weight in islice(steps, n_steps):
                losses = _losses(forward(tensors, batch), target, weight)
                for tensor in learned:  # faster than zero_grad
                    tensor.grad = None
                # Networks share no weight: the gradient of the sum holds the gradient of each.
                losses.backward(ones)
                adam.step()
                total += losses.detach()
            curves[0, :, epoch] = (total / n_steps).cpu().numpy()
            better = torch.full_like(best, epoch + 1 == attacker.max_epochs, dtype=torch.bool)
            if judges:
                network.eval()
                values = torch.zeros_like(best)
                with torch.no_grad():
                    for inputs, target, weight in batches:
                        outputs = forward(tensors, pool[inputs])
                        if by_accuracy:
                            right = (outputs.argmax(dim=2) == target) & outputs.isfinite().all(
                                dim=2
                            )
                            values += (right * weight.double()).sum(dim=1)
                        else:
                            values -= _losses(outputs, target, weight)
                # Accuracies of as many correct rows are equal. No number is not the best.
                values = values.round(decimals=9).nan_to_num(-torch.inf, neginf=-torch.inf)
                better, best = values > best, torch.maximum(values, best)
                curves[1, :, epoch] = values.cpu().numpy()
            for name, tensor in tensors.items() if better.any() else ():
                kept[name][better] = tensor.detach()[better]
            step.advance()
    finite = np.isfinite(best.cpu().numpy() if judges else curves[0].sum(axis=1))
    for tensor in kept.values():
        finite &= tensor.reshape(len(rows), -1).isfinite().all(dim=1).cpu().numpy()
    if not finite.all():
        text = (
            "Training diverged: {n} of {m} networks have weights that are not finite. Lower "
            "learning_rate, or scale X (StandardScaler)."
        )
        raise InputError(text, n=np.sum(~finite), m=len(rows))
    for i, (trained, copy) in enumerate(zip(fitted, copies, strict=True)):
        copy.load_state_dict({name: tensor[i] for name, tensor in kept.items()})
        # In float32 a row's output depends on the rows that it is computed with.
        trained.module_ = (copy if attacker.module is not None else copy.double()).cpu().eval()
        # Regressors learn standardised numbers; squared errors have the target's unit squared.
        unit = trained._unit[1] ** 2
        trained.loss_curve_, trained.n_iter_ = curves[0, i] * unit, attacker.max_epochs
        if judges:
            trained.n_iter_ = int(curves[1, i].argmax()) + 1
            trained.validation_curve_ = curves[1, i] * (1 if by_accuracy else -unit)


def _stacked(rows: Sequence[WeightedRows], device: Any) -> list[Any]:
    """Return inputs, targets and weights of networks as tensors: (networks, rows).

    Networks with fewer rows are filled up with rows of weight 0.
    """
    torch, stacks = import_torch(), []
    for parts in zip(*rows, strict=True):
        tensors = [torch.tensor(part, device=device) for part in parts]
        stack = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)
        stacks.append(stack.float() if stack.is_floating_point() else stack)
    return stacks


def _drawn_steps(
    pool: Any, rows: Sequence[WeightedRows], seeds: Sequence[Any], n_steps: int, size: int
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield inputs, targets and weight of `size` rows of each network, step after step."""
    inputs, target, _ = _stacked(rows, pool.device)
    # A generator for each network: its draws do not depend on the networks beside it.
    rngs = [np.random.default_rng(seed) for seed in seeds]
    while True:
        # An epoch at a time: in it every row comes as often as its weight says.
        each = zip(rows, rngs, strict=True)
        drawn = np.stack([draw_rows(its.weight, n_steps * size, rng) for its, rng in each])
        drawn = import_torch().tensor(drawn, device=pool.device)
        for at in drawn.split(size, dim=1):
            yield pool[inputs.gather(1, at)], target.gather(1, at), 1 / size
