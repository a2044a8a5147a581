"""AdversarialClassifier: a network trained against an adversary that predicts the group.

The adversary learns to predict the group from what a layer of the network gives. The network
learns its task, and to make it fail. Its random numbers do not depend on the adversary: with an
adversary weight of 0 it is the network trained alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import islice, pairwise, repeat
from math import prod
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from skbiasamp._input.checks import Array, Names, check_count
from skbiasamp._input.coding import as_numbers
from skbiasamp._input.containers import check_lengths, to_native
from skbiasamp._input.errors import InputError, InputTypeError, quote
from skbiasamp._input.options import Option, PositionalOption, WithOptions
from skbiasamp._utils.compat import Interval, StrOptions, check_sample_weight, take_rows
from skbiasamp._utils.docstrings import filling
from skbiasamp._utils.progress import progress
from skbiasamp._utils.warnings import warn
from skbiasamp.attackers import networks as mlp
from skbiasamp.attackers.networks import import_torch, make_module, seeded
from skbiasamp.compose.sensitive import SENSITIVE, SensitiveColumns
from skbiasamp.metrics import LeakageAuditor
from skbiasamp.metrics.base import BaseAuditor
from skbiasamp.mitigation._pairs import checked_data, input_errors, read_pairs

_ADVERSARY_WIDTH = 64
_AT_ONCE = 4096  # rows of features whose outputs are computed together


@filling
class AdversarialClassifier(
    SensitiveColumns,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
    WithOptions,
):
    """Adversarial training: a network that learns to hide the sensitive feature from an adversary.

    The adversary learns to predict the sensitive feature from a layer of the network. The network
    learns its task and learns to make it fail, so that it reveals less about the group [1]_. The
    sensitive feature is needed in training only.

    .. versionadded:: 0.1

    Parameters
    ----------
    adversary_weight : float, default=1.0
        λ, the weight of the adversary's loss. A larger value hides more and costs more accuracy.
        0 trains the network alone, without a sensitive feature.
    module : torch.nn.Module or callable, default=None
        The network. A module is copied with its weights. A callable, such as a class, is called
        as ``module(n_features, n_outputs)`` and returns a module. It takes float32 rows of `X`,
        which may have more than two dimensions. It returns logits: one for each class (also of
        two), or for each task of a multilabel `y`. None: an MLP of ``encoder`` and ``head``.
    layer : str, default=None
        The submodule whose output is the adversary's input, such as "encoder" or "layers.3". None:
        "encoder", or the masked inputs if there is a `mask`.
    adversary : torch.nn.Module or callable, default=None
        A module, or a callable that is called as ``adversary(n_inputs, n_groups)``. It takes the
        layer's output and returns logits of the groups. None: an MLP with 64 hidden units that
        standardises its inputs, except masked ones.
    mask : bool, torch.nn.Module or callable, default=False
        A network whose output is multiplied with the inputs, for adversarial training on images.
        True: an autoencoder. A callable is called as ``mask(shape)`` with the shape of a row.
        False: no mask.
    reconstruction_weight : float, default=1.0
        β, the weight of the mean absolute difference between inputs and masked inputs.
    hidden_layer_sizes : tuple of int, default=(64,)
        Hidden layers of the default network.
    learning_rate : float, default=1e-2
        Learning rate of Adam, for network and adversary.
    batch_size : int, default=128
        Minimum number of rows in a step. If there are no more distinct rows than this, every step
        uses all of them, weighted.
    pretrain_epochs, adversary_epochs : int, default=30, 10
        Epochs of the network alone, and then of the adversary alone.
    max_epochs : int, default=50
        Epochs of the network in turns with the adversary.
    adversary_steps : int, default=2
        Steps of the adversary for each step of the network.
    balance : {"group", "class"}, default="group"
        How the adversary weights the groups. "group": equally, as in the paper; the network must
        then also hide a label that is associated with the group. "class": equally within each
        class; the network then hides only what reveals more than the label does.
    %(sensitive)s
    drop_sensitive : bool, default=False
        True hides these columns from the network; data frames to predict may then lack them.
        False uses them as features.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Device that trains. "auto": a GPU if there is one, else the CPU.
    random_state : int, RandomState instance or None, default=None
        Seed of initial weights, the order of rows and dropout. The state of torch's own random
        numbers does not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; the tasks' positions, of a multilabel `y`.
    groups_ : tuple
        The groups.
    module_, mask_ : torch.nn.Module
        The trained networks, on the CPU; `mask_` is None without a mask.
    adversary_ : torch.nn.Module or None
        The trained adversary.
    layer_ : str or None
        Its layer; None for masked inputs.
    history_ : DataFrame
        One row for each epoch: ``phase`` ("predictor", "adversary" or "alternating"), the mean
        ``loss`` of the task and the mean ``adversary_loss``. An adversary that ignores its input
        has a loss of ``log(len(groups_))``.
    n_iter_ : int
        Epochs of the network.
    n_features_in_, feature_names_in_
        Those of the network's columns.

    See Also
    --------
    NoiseRandomizer : Noise on features, the baseline for comparison.
    skbiasamp.LeakageProbe : Measure how much the representation reveals about the group.

    Notes
    -----
    The adversary minimises the cross-entropy ``L_c(c(h), g)``. The network minimises
    ``L(p(x), y) − λ L_c``. The adversary's batches have equally many rows of each group, and the
    groups have equal weight in the network's batches. With a mask M, ``x̂ = M(x) · x`` replaces x
    and ``β |x − x̂|`` is added. A mask can only darken an image: the rest may still reveal the
    group.

    An adversary of masked inputs soon makes no error, and the gradient of ``−L_c`` is then 0: a
    mask trained with it hides nothing. The mask is therefore trained with the cross-entropy between
    the adversary's probabilities and equal ones, whose gradient is largest where the adversary is
    sure. The default adversary does not standardise here, since it would read dark pixels as well
    as bright ones. If a `layer` is named, the formula above is used.

    The cost is accuracy. It grows with λ and with the association of label and group. Stronger
    attackers may still predict the group. Measure with a new attacker: `transform` returns the
    representation, `decision_function` the logits. Results vary between seeds, because training in
    turns may not converge. An adversary whose loss in `history_` stays near 0 gives the network no
    gradient: try a greater λ or `learning_rate`, another layer or another network.

    Scale features that are not near 0 and 1. Equal rows become one row with a weight, so repeating
    and weighting rows have the same effect. Small networks are faster with
    ``torch.set_num_threads(1)``.

    References
    ----------
    .. [1] Wang, Zhao, Yatskar, Chang, Ordonez. Balanced datasets are not enough: estimating and
       mitigating gender bias in deep image representations. ICCV 2019. Sec. 5.

    Examples
    --------
    >>> from skbiasamp import LeakageProbe
    >>> from skbiasamp.datasets import make_biased_classification
    >>> from skbiasamp.mitigation import AdversarialClassifier
    >>> data = make_biased_classification(500, random_state=0)
    >>> settings = {"hidden_layer_sizes": (8,), "batch_size": 125, "max_epochs": 100}
    >>> for weight in (0, 1):
    ...     model = AdversarialClassifier(weight, **settings, random_state=0)
    ...     model = model.fit(data.data, data.target, sensitive_features=data.sensitive)
    ...     probe = LeakageProbe(random_state=0)
    ...     probe = probe.fit(model.transform(data.data), sensitive_features=data.sensitive)
    ...     revealed = "revealed" if probe.leakage_ > 0.75 else "hidden"
    ...     print(f"{model.score(data.data, data.target):.1f} {revealed}")
    0.7 revealed
    0.7 hidden

    Over 20 seeds, the probe predicts the group for 91 to 93 % of rows without the adversary, and
    for 52 to 62 % with it.
    """

    __metadata_request__fit: ClassVar = {"sensitive_features": True}
    groups_: Names

    adversary_weight: float = PositionalOption(
        Interval(Real, 0, None, closed="left"), default=1.0, kw_only=False
    )
    module: Any = Option(None, callable, None)
    layer: str | None = Option(None, str, None)
    adversary: Any = Option(None, callable, None)
    mask: Any = Option(False, "boolean", callable)
    reconstruction_weight: float = Option(1.0, Interval(Real, 0, None, closed="left"))
    hidden_layer_sizes: Any = Option((64,), "array-like")
    learning_rate: float = Option(1e-2, Interval(Real, 0, None, closed="neither"))
    batch_size: int = Option(128, Interval(Integral, 2, None, closed="left"))
    pretrain_epochs: int = Option(30, Interval(Integral, 0, None, closed="left"))
    adversary_epochs: int = Option(10, Interval(Integral, 0, None, closed="left"))
    max_epochs: int = Option(50, Interval(Integral, 0, None, closed="left"))
    adversary_steps: int = Option(2, Interval(Integral, 1, None, closed="left"))
    balance: str = Option("group", StrOptions({"group", "class"}))
    sensitive: Any = Option(None, *SENSITIVE)
    drop_sensitive: bool = Option(False, "boolean")
    device: str = Option("auto", StrOptions({"auto", "cpu", "cuda"}))
    random_state: Any = Option(None, "random_state")

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> Self:
        """Train the network and its adversary.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data; of more dimensions if `module` takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: classes, or 0/1 indicator columns.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, for network and adversary; rows of weight 0 are left out.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_features)
            The sensitive feature, if `sensitive` does not name it.

        Returns
        -------
        self : object
        """
        self._validate_params()
        torch = import_torch("AdversarialClassifier")
        device = mlp.find_device(self.device, needed=True)
        seed = int(check_random_state(self.random_state).randint(2**31))
        *seeds, order = np.random.SeedSequence(seed).spawn(3)
        start, adversary_start = (int(seed.generate_state(1)[0]) for seed in seeds)
        # The caller may have switched gradients off.
        with torch.inference_mode(False), torch.enable_grad(), seeded(start):
            rows = self._training_rows(X, y, sample_weight, sensitive_features, device)
            networks, n_seen = build(rows, len(self.classes_), self, adversary_start)
            training = Training(networks, rows, self, order)
            with progress("epochs", len(training.phases)) as step:
                epochs = []
                for phase in training.phases:
                    epochs.append(training.epoch(phase))
                    step.advance()
        self.history_ = pd.DataFrame(epochs, columns=["phase", "loss", "adversary_loss"])
        self.n_iter_ = int((self.history_["phase"] != "adversary").sum())
        every = torch.nn.ModuleList(networks.every).cpu().eval()
        if not all(torch.isfinite(tensor).all() for tensor in every.state_dict().values()):
            raise InputError(
                "Training diverged: the networks have weights that are not finite. Lower "
                "{learning_rate} or {adversary_weight}, or scale {X} (StandardScaler)."
            )
        self.module_, self.mask_ = networks.predictor, networks.mask
        self.adversary_, self.layer_ = networks.adversary, networks.layer
        self._n_features_out = n_seen
        return self

    @filling
    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, or the tasks that are more likely than not.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        logits = self._outputs(X)
        return self.classes_[logits.argmax(axis=1)] if self._one_label else (logits > 0).astype(int)

    @filling
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, or of each task.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_tasks)
            The probability of each class, or of each task if there are several.
        """
        logits = self._outputs(X)
        return softmax(logits, axis=1) if self._one_label else expit(logits)

    def decision_function(self, X: Any) -> Array:
        """Return logits; for two classes, the second minus the first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_tasks)
        """
        logits = self._outputs(X)
        binary = self._one_label and len(self.classes_) == 2
        return logits[:, 1] - logits[:, 0] if binary else logits

    def transform(self, X: Any) -> Array:
        """Return the representation, which is the adversary's input.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        representation : ndarray of shape (n_samples, n_outputs)
            The outputs of the layer, flat; or the masked inputs.
        """
        return self._outputs(X, representation=True)

    def path(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        weights: Sequence[float] = (0, 0.1, 0.3, 1, 3),
        seeds: int = 5,
        test_size: float = 0.25,
        auditor: Any = None,
    ) -> pd.DataFrame:
        """Train with several weights of the adversary, and measure accuracy and leakage.

        More weight need not mean less leakage: training in turns may not converge.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sensitive_features : array-like of shape (n_samples,), optional
            The sensitive feature, if `sensitive` does not name it.
        weights : sequence of float, default=(0, 0.1, 0.3, 1, 3)
            Values of ``adversary_weight``.
        seeds : int, default=5
            Number of seeds, of the network and of the split into training and held-out rows.
        test_size : float, default=0.25
            Share of rows that are held out.
        auditor : auditor, default=None
            What measures the leakage of the held-out logits. None: ``LeakageAuditor``.

        Returns
        -------
        path : DataFrame
            One row for each ``weight`` and ``measure`` ("accuracy" and "leakage"): ``value`` (mean
            over seeds), ``std`` over seeds, and ``seeds``.
        """
        check_count("seeds", seeds)
        leakage = LeakageAuditor(equalize="f1", n_draws=3) if auditor is None else auditor
        if not isinstance(leakage, BaseAuditor):
            text = "{auditor} must be one auditor, such as LeakageAuditor(); got {kind}."
            raise InputTypeError(text, kind=type(leakage).__name__)
        attribute = self._sensitive(X, sensitive_features, "path")
        values, rows = np.ravel(as_numbers(weights, "weights")).tolist(), []
        with progress("adversarial training", seeds * len(values)) as step:
            for seed in range(seeds):
                X_train, X_test, y_train, y_test, train, test = train_test_split(
                    X, y, attribute, test_size=test_size, random_state=seed
                )
                measure = clone(leakage).set_params(interval=None, random_state=seed)
                for weight in values:
                    trained = clone(self).set_params(adversary_weight=weight, random_state=seed)
                    passed = train if self.sensitive is None else None
                    trained.fit(X_train, y_train, sensitive_features=passed)
                    logits = trained.decision_function(X_test)
                    leaks = measure.score(y_test, logits, sensitive_features=test)
                    accuracy = trained.score(X_test, y_test)
                    rows += [(weight, "accuracy", accuracy), (weight, "leakage", leaks)]
                    step.advance()
        frame = pd.DataFrame(rows, columns=["weight", "measure", "value"])
        values_of = frame.groupby(["weight", "measure"], sort=False)["value"]
        return values_of.agg(value="mean", std="std").reset_index().assign(seeds=seeds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # ------------------------------------------------------------------ inside

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any, attribute: Any, device: Any
    ) -> TrainingRows:
        """Return the rows to learn from; keep their shape, classes and groups."""
        hides = self.sensitive is not None or attribute is not None or self.adversary_weight > 0
        features = self._hide(X)
        with self._noting(X):
            least = 1 + hides  # a row of each group
            inputs, y = self._numbers(features, y, multi_output=True, ensure_min_samples=least)
        if hides:
            attribute = to_native(self._sensitive(X, attribute, "fit"), "sensitive_features")
            check_lengths({"X": inputs, "sensitive_features": attribute})
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        weight = check_sample_weight(sample_weight, inputs, dtype=float, ensure_non_negative=True)
        with np.errstate(over="ignore"):
            mlp.check_total(float(weight.sum()))
        rows = np.flatnonzero(weight)
        self.classes_, target, self._one_label = read_classes(y[rows])
        group, self.groups_ = None, ()
        if hides:
            labels = self.classes_[target] if self._one_label else target
            group, self.groups_ = read_members(labels, take_rows(attribute, rows), self.balance)
        self._shape = inputs.shape[1:]
        return TrainingRows(inputs[rows], target, group, weight[rows], device)

    def _numbers(self, features: Any, *y: Any, **how: Any) -> Any:
        """Return what scikit-learn reads; images need a network that takes them."""
        allow_nd = self.module is not None
        return checked_data(self, features, *y, dtype=np.float32, allow_nd=allow_nd, **how)

    def _outputs(self, X: Any, *, representation: bool = False) -> Array:
        check_is_fitted(self)
        torch = import_torch("AdversarialClassifier")
        # Networks that were trained on a GPU work without one.
        device = mlp.find_device(self.device, needed=False)
        # In float64 a row gets the same number whatever rows it comes with; networks of users
        # may not be made for it.
        own = self.module is None and isinstance(self.mask, bool)
        dtype = torch.float64 if own else torch.float32
        inputs = self._numbers(self._features(X), reset=False)
        if inputs.shape[1:] != self._shape:
            text = (
                "{X} has rows of shape {shape}, and fit saw rows of {known}. Pass rows like those "
                "of the training data."
            )
            raise InputError(text, shape=inputs.shape[1:], known=self._shape)
        networks = Networks(
            deepcopy(self.module_).to(device, dtype),
            None if self.mask_ is None else deepcopy(self.mask_).to(device, dtype),
            self.layer_,
        )
        networks.train(False)
        # Features are small: with more at once they are done sooner.
        size = self.batch_size if inputs.ndim > 2 else max(self.batch_size, _AT_ONCE)
        outputs: list[Array] = []
        with torch.inference_mode():
            for part in np.array_split(inputs, -(-len(inputs) // size)):
                logits, _, features = networks(torch.as_tensor(part).to(device, dtype))
                shown = features if representation else logits
                outputs.append(shown.flatten(1).double().cpu().numpy())
        return np.concatenate(outputs)


def read_classes(y: Any) -> tuple[Array, Array, bool]:
    """Return classes or positions of tasks, codes or an indicator matrix, and if it is codes."""
    with input_errors():
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
    if kind == "multilabel-indicator":
        target = (y.toarray() if hasattr(y, "toarray") else y).astype(np.float32)
        return np.arange(target.shape[1]), target, False
    if kind not in ("binary", "multiclass"):
        raise InputError(
            "{y} is {kind}: pass one column of classes, or 0/1 columns, one a task.", kind=kind
        )
    classes, target = np.unique(y, return_inverse=True)
    return classes, target.reshape(-1), True


def read_members(y: Array, attribute: Any, balance: str) -> tuple[Array, Names]:
    """Return codes and names of groups; warn or raise if a class reveals them."""
    pairs = read_pairs(y, attribute)
    pairs.require_classes()
    if balance == "class":
        if not pairs.one_label:
            raise InputError(
                "{balance='class'} balances groups within classes, and {y} is multilabel: pass "
                "{balance='group'}."
            )
        pairs.require_all(
            why="balance='class' weighs groups the same in each class. Leave that class out, "
            "merge groups or classes, or pass balance='group'."
        )
    elif pairs.one_label and (pairs.counts == 0).any():
        a, t = np.argwhere(pairs.counts == 0)[0]
        warn(
            f"There are no rows of group {pairs.groups[a]!r} with class {pairs.tasks[t]!r}: "
            "the class reveals the group, so no network can predict one and hide the other."
        )
    return pairs.group, pairs.groups


# --------------------------------------------------------------------------- networks


class Networks(NamedTuple):
    """The predictor, the mask before it or None, and the adversary of a layer, or None.

    Without a layer, the adversary sees the masked inputs.
    """

    predictor: Any
    mask: Any
    layer: str | None
    adversary: Any = None

    @property
    def learners(self) -> list[Any]:
        """The networks that learn the task."""
        return [self.predictor] if self.mask is None else [self.mask, self.predictor]

    @property
    def every(self) -> list[Any]:
        """All networks."""
        return self.learners if self.adversary is None else [*self.learners, self.adversary]

    def __call__(self, inputs: Any) -> tuple[Any, Any, Any]:
        """Return logits, masked inputs and what the adversary sees."""
        masked = inputs if self.mask is None else self.mask(inputs) * inputs
        if self.layer is None:
            return self.predictor(masked), masked, masked
        features: list[Any] = []
        layer = self.predictor.get_submodule(self.layer)
        hook = layer.register_forward_hook(lambda *called: features.append(called[2]))
        try:
            logits = self.predictor(masked)
        finally:
            hook.remove()
        return logits, masked, features[-1] if features else None

    def train(self, learning: bool) -> None:
        """Set the predictor to training and the adversary to evaluation, or the other way round."""
        for network in self.every:
            network.train(learning != (network is self.adversary))


def build(rows: TrainingRows, n_outputs: int, settings: Any, seed: int) -> tuple[Networks, int]:
    """Return networks for rows, and how many numbers the adversary sees of each.

    The settings are those of an `AdversarialClassifier`, and the seed is for the adversary.
    """
    first = rows.inputs[:2]
    shape, device = tuple(first.shape[1:]), first.device
    module, mask = settings.module, None
    if module is None:
        hidden = mlp.hidden_widths(settings)
        if not hidden:
            # Without a hidden layer there is no representation.
            raise InputError("{hidden_layer_sizes} is empty. Pass a width for each hidden layer.")
        module = partial(default_predictor, hidden=hidden)
    predictor = make_module("module", module, shape[0], n_outputs).to(device)
    if settings.mask is not False:
        mask = default_mask if settings.mask is True else settings.mask
        mask = make_module("mask", mask, shape).to(device)
    layer = settings.layer or ("encoder" if mask is None else None)
    names = [name for name, _ in predictor.named_modules() if name]
    if layer is not None and layer not in names:
        raise InputError(
            "{layer}={setting}, and module has no submodule {wanted!r}. It has {names}.",
            setting="None means 'encoder'" if settings.layer is None else repr(layer),
            wanted=layer,
            names=quote(names, most=20) if names else "none with a name",
        )
    networks = Networks(predictor, mask, layer)
    networks.train(False)
    with import_torch().no_grad():
        logits, _, features = networks(first)
    n, of_layer = len(first), tuple(getattr(features, "shape", ()))
    if len(of_layer) < 2 or of_layer[0] != n:
        gave = "was never called" if features is None else f"returned a {type(features).__name__}"
        raise InputError(
            "{layer} {called!r} {gave}. It must be a submodule that forward() calls and that "
            "returns one tensor with a row for each row of {X}.",
            called=layer,
            gave=f"{gave} of shape {of_layer}" if of_layer else gave,
        )
    mlp.check_outputs(logits, n, n_outputs)
    n_seen = prod(of_layer[1:])
    if rows.group is not None:
        adversary = settings.adversary
        if adversary is None:
            adversary = partial(default_adversary, standardised=layer is not None)
        with seeded(seed):
            adversary = make_module("adversary", adversary, n_seen, rows.n_groups)
        networks = networks._replace(adversary=adversary.to(device))
    return networks, n_seen


# --------------------------------------------------------------------------- by default


def linear_layers(*widths: int) -> list[Any]:
    """Return linear layers with ReLU between them."""
    nn = import_torch().nn
    return [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), nn.ReLU())][:-1]


def default_predictor(n_inputs: int, n_outputs: int, *, hidden: Sequence[int]) -> Any:
    """Return hidden layers, named encoder, and a linear head."""
    nn = import_torch().nn
    encoder = nn.Sequential(*linear_layers(n_inputs, *hidden), nn.ReLU())
    return nn.Sequential(OrderedDict(encoder=encoder, head=nn.Linear(hidden[-1], n_outputs)))


def default_adversary(n_inputs: int, n_groups: int, *, standardised: bool = True) -> Any:
    """Return an MLP that standardises its inputs, or takes them as they are."""
    nn = import_torch().nn
    layers = [nn.Flatten()]
    if standardised:
        # Over the batch: else the network could hide the group by small numbers. A mask has to do
        # just that, and learns nothing from an adversary to which dark and bright are the same.
        layers.append(nn.BatchNorm1d(n_inputs, affine=False, track_running_stats=False))
    return nn.Sequential(*layers, *linear_layers(n_inputs, _ADVERSARY_WIDTH, n_groups))


def default_mask(shape: tuple[int, ...]) -> Any:
    """Return an autoencoder whose mask starts nearly open."""
    nn = import_torch().nn
    n_inputs = prod(shape)
    layers = linear_layers(n_inputs, max(1, n_inputs // 4), n_inputs)
    nn.init.constant_(layers[-1].bias, 3.0)
    return nn.Sequential(nn.Flatten(), *layers, nn.Sigmoid(), nn.Unflatten(1, shape))


# --------------------------------------------------------------------------- training


class TrainingRows:
    """Distinct rows, in an order of their own, and what share of all rows each stands for.

    `group` holds codes of `n_groups` groups, or is None.
    """

    def __init__(
        self, inputs: Array, target: Array, codes: Array | None, weight: Array, device: Any
    ) -> None:
        torch, n = import_torch(), len(inputs)
        groups = np.zeros(n, int) if codes is None else codes
        columns = [inputs.reshape(n, -1), target.reshape(n, -1), groups.reshape(n, 1)]
        code = mlp.distinct_inputs(np.hstack(columns).astype(np.float32))[1]
        first, total = np.unique(code, return_index=True)[1], np.bincount(code, weight)
        self.inputs = torch.tensor(inputs[first] + np.float32(0), device=device)
        self.target = torch.as_tensor(target[first], device=device)
        self.codes = groups[first]
        self.group: Any = None if codes is None else torch.as_tensor(self.codes, device=device)
        self.n_groups, self.weight = int(self.codes.max()) + 1, total / total.sum()
        whole = bool((weight == np.rint(weight)).all())
        self.n_rows = int(total.sum()) if whole else n

    def balanced(self, *, within_classes: bool) -> Array:
        """Return factors of the weights with which all groups weigh the same."""
        stratum = self.target.cpu().numpy() if within_classes else np.zeros_like(self.codes)
        cell = stratum * self.n_groups + self.codes
        share = np.bincount(cell, self.weight)[cell]
        return np.bincount(stratum, self.weight)[stratum] / (self.n_groups * share)


class Training:
    """Training of epochs in three phases, with the settings of an `AdversarialClassifier`."""

    def __init__(
        self, networks: Networks, rows: TrainingRows, settings: Any, seed: np.random.SeedSequence
    ) -> None:
        # What is drawn for the adversaries does not change what is drawn for the predictor.
        self.rng, self.adversary_rng = map(np.random.default_rng, seed.spawn(2))
        self.networks, self.rows, self.settings = networks, rows, settings
        self.batch_size = int(settings.batch_size)  # small integers of NumPy overflow
        self.steps = max(1, rows.n_rows // self.batch_size)
        adam, rate = import_torch().optim.Adam, settings.learning_rate
        learned = import_torch().nn.ModuleList(networks.learners).parameters()
        self.weights = [weights for weights in learned if weights.requires_grad]
        if not self.weights:
            raise InputError("All parameters of {module} are frozen, so that it learns nothing.")
        self.optimizer = adam(self.weights, rate)
        if networks.adversary is not None:
            self.adversary_optimizer = adam(networks.adversary.parameters(), rate)
            self.balance = rows.balanced(within_classes=settings.balance == "class")
        # Alone, too: only an adversary that has learned something is worth hiding from.
        alone = 0 if networks.adversary is None else settings.adversary_epochs
        epochs = (settings.pretrain_epochs, alone, settings.max_epochs)
        self.phases = np.repeat(["predictor", "adversary", "alternating"], epochs).tolist()

    def epoch(self, phase: str) -> tuple[str, float, float]:
        """Train for an epoch; return its phase, loss and the adversary's loss."""
        rows, settings, alone = self.rows, self.settings, phase == "adversary"
        turns = {"predictor": 0, "adversary": 1}.get(phase, settings.adversary_steps)
        turns = 0 if self.networks.adversary is None else turns
        # The network's random numbers do not depend on the adversary.
        whole = (np.zeros_like(rows.weight), rows.n_rows, self.steps, self.rng)
        batches = repeat(None, self.steps) if alone else self._drawn(rows.weight, *whole)
        balanced: Any = iter(())
        if turns:
            weight, n = rows.weight * self.balance, -(-self.batch_size // rows.n_groups)
            steps = turns * self.steps
            balanced = self._drawn(weight, rows.codes, steps * n, steps, self.adversary_rng)
        losses: list[Any] = []
        adversary_losses: list[Any] = []
        for batch in batches:
            for adversary_batch in islice(balanced, turns):
                adversary_losses.append(self._step_adversary(*adversary_batch))
            if batch is not None:
                losses.append(self._step(*batch, settings.adversary_weight if turns else 0))
        return phase, _mean(losses), _mean(adversary_losses)

    def _drawn(
        self, weight: Array, codes: Any, n: int, steps: int, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Array]]:
        """Return rows and weights of steps, with n rows of each code in all of them together.

        Few distinct rows are in all steps.
        """
        if len(weight) <= self.batch_size:
            return repeat((np.arange(len(weight)), weight), steps)
        drawn = []
        for code in np.unique(codes):
            members = np.flatnonzero(codes == code)
            share = weight[members] / weight[members].sum()
            drawn.append(np.array_split(members[mlp.draw_rows(share, n, rng)], steps))
        batches = map(np.concatenate, zip(*drawn, strict=True))
        return ((rows, np.full(len(rows), 1 / len(rows))) for rows in batches)

    def _tensor(self, numbers: Array) -> Any:
        torch, device = import_torch(), self.rows.target.device
        return torch.as_tensor(numbers, dtype=torch.float32, device=device)

    def _step(self, index: Array, share: Array, adversary_weight: float) -> Any:
        """Take a step of the predictor, and return the loss of its task."""
        networks, rows, weight = self.networks, self.rows, self._tensor(share)
        inputs = rows.inputs[index]
        networks.train(True)
        logits, masked, features = networks(inputs)
        loss = task = _loss(logits, rows.target[index], weight)
        if networks.mask is not None:
            lost = (inputs - masked).abs().flatten(1).mean(dim=1)
            loss = loss + self.settings.reconstruction_weight * (weight * lost).sum()
        if adversary_weight:
            balanced = weight * self._tensor(self.balance[index])
            group = None if networks.layer is None else rows.group[index]
            loss = loss - adversary_weight * self._hidden(features, group, balanced)
        self.optimizer.zero_grad()
        loss.backward(inputs=self.weights)
        self.optimizer.step()
        return task.detach()

    def _step_adversary(self, index: Array, share: Array) -> Any:
        """Take a step of the adversary, and return its loss."""
        with seeded(int(self.adversary_rng.integers(2**63))):
            self.networks.train(False)
            with import_torch().no_grad():
                features = self.networks(self.rows.inputs[index])[2]
            loss = self._hidden(features, self.rows.group[index], self._tensor(share))
            self.adversary_optimizer.zero_grad()
            loss.backward()
            self.adversary_optimizer.step()
        return loss.detach()

    def _hidden(self, features: Any, group: Any, weight: Any) -> Any:
        """Return how well the group is hidden: the adversary's loss.

        Without groups it is minus its cross-entropy to equal probabilities. Unlike the loss of an
        adversary that is always right, it has a gradient.
        """
        logits = self.networks.adversary(features)
        if group is None:
            return (weight * logits.log_softmax(dim=1).mean(dim=1)).sum()
        return _loss(logits, group, weight)


def _loss(logits: Any, target: Any, weight: Any) -> Any:
    """Return cross-entropy, of several tasks their mean; weights sum to 1."""
    functional = import_torch().nn.functional
    if target.ndim == 1:
        each = functional.cross_entropy(logits, target, reduction="none")
    else:
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        each = each.mean(dim=1)
    return (weight * each).sum()


def _mean(losses: Sequence[Any]) -> float:
    """Return the mean of an epoch's losses, which leave their device only here."""
    return float(import_torch().stack(losses).double().mean()) if losses else float("nan")
