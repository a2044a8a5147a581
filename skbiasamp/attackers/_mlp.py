"""MLPAttacker: small networks as in the papers, trained many at once."""

from __future__ import annotations

from math import ceil
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skbiasamp._compat import Interval, StrOptions, check_sample_weight
from skbiasamp._labels import Array
from skbiasamp.attackers._networks import (
    ACTIVATIONS,
    Cells,
    Design,
    Lesson,
    Trained,
    average,
    count_cells,
    distinct,
    find_device,
    hold_out,
    outputs_of,
    train,
)

PRESETS: dict[str, dict[str, Any]] = {
    "dpa": {
        "hidden_layer_sizes": (4,),
        "activation": "sigmoid",
        "learning_rate": 1e-2,
        "batch_size": 64,
        "max_epochs": 100,
    },
    "leakage": {
        "hidden_layer_sizes": (300, 300, 300),
        "activation": "leaky_relu",
        "batch_norm": True,
        "learning_rate": 5e-5,
        "weight_decay": 1e-5,
        "batch_size": 128,
        "max_epochs": 100,
        "early_stopping": True,
    },
}


def _classifies(attacker: MLPAttacker) -> bool:
    return attacker.loss == "cross_entropy"


class MLPAttacker(BaseEstimator):
    """Predict a label from others with a small neural network, or hundreds of them at once.

    The attacker of the papers on leakage [1]_ and predictability amplification [2]_. An audit
    needs many: one for each fold, perturbation and target. `fit` trains one, as any estimator of
    scikit-learn does; `fit_many` trains all in one computation, on a GPU where there is one.

    .. versionadded:: 0.1

    Parameters
    ----------
    hidden_layer_sizes : tuple of int, default=(16,)
        Widths of the hidden layers; without any, this is a logistic or linear regression.
    activation : {"relu", "tanh", "sigmoid", "leaky_relu", "tanh_relu"}, default="relu"
        What follows each hidden layer; "tanh_relu" alternates.
    batch_norm : bool, default=False
        Whether each hidden layer is normalised over the batch before its activation.
    learning_rate : float, default=1e-2
        Of Adam.
    weight_decay : float, default=0.0
        What Adam adds of a weight to its gradient.
    batch_size : int, default=128
        Rows in a step. With at most so many distinct inputs, every step sees them all, weighted.
    max_epochs : int, default=100
        How often training goes through the rows.
    loss : {"cross_entropy", "squared_error"}, default="cross_entropy"
        The first makes a classifier, the second a regressor.
    early_stopping : bool, default=False
        Whether the weights with the least loss on held-out rows are kept, not the last ones.
        Training goes on to the last epoch either way.
    validation_fraction : float, default=0.1
        Share of the rows that is held out for `early_stopping`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" takes a GPU where there is one.
    random_state : int, RandomState or None, default=None
        Where initial weights and the order of rows come from. The numbers are the same on all
        devices, and torch's own random numbers stay untouched.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, of a classifier.
    networks_ : MLPBundle
        The network, a bundle of one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had them.
    n_iter_ : int
        Epochs behind the weights that were kept.
    loss_curve_ : ndarray of shape (max_epochs,)
        Mean loss over each epoch's steps.

    See Also
    --------
    ExactAttacker : The best table, no training.

    Notes
    -----
    Equal rows are one row with a weight, so training costs as much as there are distinct rows, and
    weighting rows, repeating them and sorting them differently give the same network, exactly. An
    epoch of N rows takes ⌈N / batch_size⌉ steps, as ordinary training does. With more distinct
    inputs than `batch_size`, an epoch is N rows, each as often as its weight says, shuffled and
    dealt into batches of equal size; with fewer, a step takes all of them, which is what its
    batches are on average. N is the sum of weights where these are whole numbers, else the number
    of rows that have any weight; `fit_many` can be told.

    A regressor standardises what it has to tell while it trains, so that its learning rate has no
    unit. Inputs are taken as they are: scale what is neither 0/1 nor a score near it.

    On a CPU, networks as small as `preset("dpa")` gain nothing from several threads, and wait for
    them where the cores are busy: `torch.set_num_threads(1)`, which is left to you. Wide ones gain.

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

    Two networks at once, the second on other labels:

    >>> both = MLPAttacker(random_state=0).fit_many(X, [y, y[::-1]], n_rows=400)
    >>> both.predict_proba(X).shape
    (2, 4, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hidden_layer_sizes": ["array-like"],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "batch_norm": ["boolean"],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions({"cross_entropy", "squared_error"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "device": [StrOptions({"auto", "cpu", "cuda"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (16,),
        *,
        activation: str = "relu",
        batch_norm: bool = False,
        learning_rate: float = 1e-2,
        weight_decay: float = 0.0,
        batch_size: int = 128,
        max_epochs: int = 100,
        loss: str = "cross_entropy",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        device: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.batch_norm = batch_norm
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.loss = loss
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Self:
        """Return the attacker of a paper.

        "dpa" (Tokas et al., 2024) has one hidden layer of 4 and sigmoids; the paper names no more,
        so 100 epochs of Adam at 0.01 in batches of 64 are ours. "leakage" (Wang et al., 2019) has
        four linear layers, 300 wide, with batch normalisation and leaky ReLU between them, and
        trains for 100 epochs at 5e-5 in batches of 128, keeping the epoch that is best on held-out
        rows (by loss); the paper does not name its weight decay, 1e-5.

        Parameters
        ----------
        name : {"dpa", "leakage"}
            Which.
        **overrides
            Parameters that shall differ.

        Returns
        -------
        attacker : MLPAttacker
        """
        if name not in PRESETS:
            raise ValueError(
                f"There is no preset {name!r}: pass one of {', '.join(map(repr, PRESETS))}."
            )
        return cls(**PRESETS[name] | overrides)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if _classifies(self):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Classes, or numbers with `loss="squared_error"`.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; rows of no weight are left out.

        Returns
        -------
        self : object
        """
        self._validate_params()
        classifies = _classifies(self)
        X, y = validate_data(self, X, y, dtype=np.float32, y_numeric=not classifies)
        if classifies:
            check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        _require_weight("sample_weight", weight[None])
        held = weight > 0
        X, y, weight = X[held], y[held], weight[held]
        self.networks_ = self.fit_many(
            X, y, weight[None], classes=np.unique(y) if classifies else None
        )
        if classifies:
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
        validation_weight: Any = None,
        classes: Any = None,
        n_rows: Any = None,
        random_state: Any = None,
    ) -> MLPBundle:
        """Train many networks at once, each as if it were trained alone.

        The attacker itself stays as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_networks, n_samples, n_features)
            Inputs, of all networks or of each.
        y : array-like of shape (n_samples,) or (n_networks, n_samples)
            Classes or numbers that the networks have to tell.
        sample_weight : array-like of shape (n_samples,) or (n_networks, n_samples), optional
            How often each row counts; a network never sees rows of no weight.
        validation_weight : array-like of the same shape, optional
            Weights of the rows on which each network's best epoch is chosen with
            `early_stopping`. By default each network holds out its own `validation_fraction`.
        classes : array-like of shape (n_classes,), optional
            The classes; by default those that occur.
        n_rows : int or array-like of shape (n_networks,), optional
            How many rows stand behind the weights, which says how many steps an epoch takes. By
            default their sum where they are whole numbers, else the number of rows that have any.
            Give it where the weights of counted rows were changed, to balance groups, say.
        random_state : int, RandomState, sequence of n_networks int, or None
            Seeds. From one number every network has its own, by its place; a sequence gives each
            network its own seed, wherever it stands. None takes the attacker's `random_state`.

        Returns
        -------
        networks : MLPBundle
        """
        self._validate_params()
        device = find_device(self.device, needed=True)
        X = check_array(X, dtype=np.float32, allow_nd=True, input_name="X")
        if X.ndim > 3:
            raise ValueError(
                f"X must be (n_samples, n_features) or (n_networks, n_samples, n_features), and "
                f"has {X.ndim} dimensions."
            )
        classifies = _classifies(self)
        y = check_array(
            y, dtype=None if classifies else np.float64, ensure_2d=False, input_name="y"
        )
        weight = np.ones(X.shape[-2]) if sample_weight is None else _weights(sample_weight)
        judged = None
        if self.early_stopping and validation_weight is not None:
            judged = _weights(validation_weight)
        seeds = self.random_state if random_state is None else random_state
        n = _n_networks(X, y, weight, judged, seeds)
        y, weight = (np.broadcast_to(one, (n, X.shape[-2])) for one in (y, weight))
        judged = None if judged is None else np.broadcast_to(judged, weight.shape)
        _require_weight("sample_weight", weight)
        if judged is not None:
            _require_weight("validation_weight", judged)
        held = weight > 0 if judged is None else (weight > 0) | (judged > 0)
        if classifies:
            classes = np.unique(y[held] if classes is None else classes)
            codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
            unknown = y[held & (classes[codes] != y)]
            if len(unknown):
                raise ValueError(f"y has {unknown[0]!r}, which is not among classes.")
        design = self._design(X.shape[-1], len(classes) if classifies else 1)
        pool, index = distinct(X.reshape(-1, X.shape[-1]))
        index = np.broadcast_to(index.reshape(X.shape[:-1]), weight.shape)
        centres = np.zeros((n, 2))
        lessons = []
        for i, (seed, n_behind) in enumerate(
            zip(_seed_sequences(seeds, n), _rows_behind(n_rows, weight), strict=True)
        ):
            if classifies:
                target = codes[i]
            else:
                centres[i] = _centre(y[i], weight[i])
                target = (y[i] - centres[i, 0]) / centres[i, 1]

            def counted(by: Array, i: int = i, target: Array = target) -> Cells:
                seen = by > 0
                return count_cells(index[i, seen], target[seen], by[seen])

            learnt, check = counted(weight[i]), None
            if judged is not None:
                check = counted(judged[i])
            elif self.early_stopping:
                # Numbers of its own: what is held out does not change the other draws.
                rng = np.random.default_rng(seed.spawn(1)[0])
                learnt, check, n_behind = hold_out(learnt, n_behind, self.validation_fraction, rng)
            if not classifies:
                learnt, check = average(learnt), None if check is None else average(check)
            lessons.append(Lesson(learnt, n_behind, seed, check))
        trained = train(design, pool, lessons, device=device, verbose=int(self.verbose))
        return MLPBundle(design, trained, classes if classifies else None, centres, self.device)

    def _design(self, n_inputs: int, n_outputs: int) -> Design:
        hidden = tuple(self.hidden_layer_sizes)
        if not all(isinstance(width, int | np.integer) and width >= 1 for width in hidden):
            raise ValueError(f"hidden_layer_sizes must be whole numbers from 1 on, got {hidden}.")
        return Design(
            n_inputs,
            tuple(map(int, hidden)),
            n_outputs,
            self.activation,
            bool(self.batch_norm),
            _classifies(self),
            float(self.learning_rate),
            float(self.weight_decay),
            int(self.batch_size),
            int(self.max_epochs),
        )

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, or the number a regressor tells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        told : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        return self.networks_.predict(X)[0]

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        return self.networks_.predict_proba(X)[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, R² of a regressor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            What is true.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        score : float
        """
        # Here, as scikit-learn's mixins do: the module is slow to import.
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if _classifies(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


class MLPBundle:
    """Networks that were trained at once by `MLPAttacker.fit_many`.

    .. versionadded:: 0.1

    Attributes
    ----------
    classes : ndarray of shape (n_classes,), or None
        The classes, of classifiers.
    loss_curve : ndarray of shape (n_networks, max_epochs)
        Mean loss over each epoch's steps.
    validation_curve : ndarray of shape (n_networks, max_epochs), or None
        Loss on the held-out rows after each epoch, with `early_stopping`.
    n_iter : ndarray of shape (n_networks,)
        Epochs behind the weights that were kept.
    tensors : dict of ndarray of shape (n_networks, ...)
        The weights: `weight0`, `bias0` of the first layer, and so on. They are arrays of NumPy,
        wherever the networks were trained.

    Examples
    --------
    >>> from skbiasamp.attackers import MLPAttacker
    >>> group = [[0], [0], [1], [1]]
    >>> tasks = [[0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]]
    >>> networks = MLPAttacker(random_state=0).fit_many(group, tasks, n_rows=400)
    >>> networks.predict([[0], [1]])
    array([[0, 1],
           [1, 0],
           [1, 1]])
    >>> networks.loss_curve.shape
    (3, 100)
    """

    def __init__(
        self,
        design: Design,
        trained: Trained,
        classes: Array | None,
        centres: Array,
        device: str,
    ) -> None:
        self.classes, self.tensors, self.n_iter = classes, trained.tensors, trained.n_epochs
        # Losses in the unit that numbers were given in.
        unit = 1.0 if classes is not None else centres[:, 1:] ** 2
        self.loss_curve = trained.loss * unit
        self.validation_curve = None if trained.judged is None else trained.judged * unit
        self._design, self._centres, self._device = design, centres, device

    def __len__(self) -> int:
        return len(self.n_iter)

    def _outputs(self, X: Any) -> Array:
        X = check_array(X, dtype=np.float32, allow_nd=True, input_name="X")
        if X.shape[-1] != self._design.n_inputs or (X.ndim == 3 and len(X) != len(self)):
            raise ValueError(
                f"X is {X.shape}, but {len(self)} networks with {self._design.n_inputs} features "
                f"need (n, {self._design.n_inputs}) or ({len(self)}, n, {self._design.n_inputs})."
            )
        # Networks that were trained on a GPU work without one, too.
        device = find_device(self._device, needed=False)
        outputs = np.empty((len(self), X.shape[-2], self._design.n_outputs))
        for networks, rows, given in outputs_of(self._design, self.tensors, X, device):
            outputs[networks, rows] = given
        return outputs

    def predict_proba(self, X: Any) -> Array:
        """Return the probability that each network gives each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_networks, n_samples, n_features)
            Inputs, of all networks or of each.

        Returns
        -------
        probabilities : ndarray of shape (n_networks, n_samples, n_classes)
        """
        if self.classes is None:
            raise AttributeError("Networks with loss='squared_error' give no probabilities.")
        outputs = self._outputs(X)
        shares = np.exp(outputs - outputs.max(axis=2, keepdims=True))
        return shares / shares.sum(axis=2, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Return what each network tells: the most probable class, or a number.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_networks, n_samples, n_features)
            Inputs, of all networks or of each.

        Returns
        -------
        told : ndarray of shape (n_networks, n_samples)
        """
        outputs = self._outputs(X)
        if self.classes is not None:
            return self.classes[outputs.argmax(axis=2)]
        mean, scale = self._centres.T[:, :, None]
        return outputs[:, :, 0] * scale + mean


# --------------------------------------------------------------------------- what fit_many is given


def _weights(weight: Any) -> Array:
    weight = check_array(weight, dtype=np.float64, ensure_2d=False, input_name="weights")
    if weight.min() < 0:
        raise ValueError(f"Weights must not be negative; the least is {weight.min()}.")
    return weight


def _require_weight(name: str, weight: Array) -> None:
    empty = np.flatnonzero(weight.sum(axis=1) == 0)
    if len(empty):
        raise ValueError(f"{name} of network {empty[0]} is zero everywhere: it has no rows.")


def _n_networks(X: Array, y: Array, weight: Array, judged: Array | None, seeds: Any) -> int:
    """Return how many networks there are: as many as whatever is given for each says."""
    n_samples = X.shape[-2]
    sizes = {"X": len(X)} if X.ndim == 3 else {}
    every = {"y": y, "sample_weight": weight, "validation_weight": judged}
    for name, one in every.items():
        if one is None:
            continue
        if one.ndim not in (1, 2) or one.shape[-1] != n_samples:
            raise ValueError(
                f"{name} is {one.shape}, but X has {n_samples} rows: it must be ({n_samples},), or "
                f"(n_networks, {n_samples})."
            )
        if one.ndim == 2:
            sizes[name] = len(one)
    if _is_sequence(seeds):
        sizes["random_state"] = len(seeds)
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{name} for {size}" for name, size in sizes.items())
        raise ValueError(f"It is not clear how many networks to train: {said}.")
    return next(iter(sizes.values()), 1)


def _is_sequence(seeds: Any) -> bool:
    return isinstance(seeds, list | tuple | np.ndarray)


def _seed_sequences(seeds: Any, n: int) -> list[np.random.SeedSequence]:
    if _is_sequence(seeds):
        return [np.random.SeedSequence(int(seed)) for seed in seeds]
    if not isinstance(seeds, Integral):
        seeds = check_random_state(seeds).randint(2**31)
    return [np.random.SeedSequence((int(seeds), i)) for i in range(n)]


def _rows_behind(n_rows: Any, weight: Array) -> list[int]:
    if n_rows is not None:
        given = np.broadcast_to(n_rows, len(weight))
        if given.min() < 1:
            raise ValueError(f"n_rows must be at least 1, got {given.min()}.")
        return [ceil(one) for one in given]
    whole = (weight == np.rint(weight)).all(axis=1)
    return np.where(whole, weight.sum(axis=1), (weight > 0).sum(axis=1)).astype(int).tolist()


def _centre(y: Array, weight: Array) -> tuple[float, float]:
    """Return mean and standard deviation, 1 where nothing varies."""
    seen = weight > 0
    # Equal numbers are added up first: repeated rows stay exactly weighted rows.
    values, code = np.unique(y[seen], return_inverse=True)
    share = np.bincount(code, weight[seen])
    share = share / share.sum()
    mean = float(share @ values)
    return mean, float(np.sqrt(share @ (values - mean) ** 2)) or 1.0
