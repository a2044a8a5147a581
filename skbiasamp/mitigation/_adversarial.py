"""AdversarialClassifier: a network whose representation does not tell of the group."""

from __future__ import annotations

import warnings
from copy import deepcopy
from math import prod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.special import expit, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from skbiasamp._compat import Interval, StrOptions, check_sample_weight, take_rows
from skbiasamp._input import Array, check_lengths, to_native
from skbiasamp.attackers._networks import distinct, find_device, import_torch
from skbiasamp.compose._columns import names_of, noting_text, without_sensitive
from skbiasamp.mitigation._adversarial_training import (
    Networks,
    Plan,
    Rows,
    default_critic,
    default_mask,
    default_predictor,
    find_layers,
    listen_once,
    outputs_of,
    seeded,
    train,
)
from skbiasamp.mitigation._pairs import find_attribute, read_pairs


class AdversarialClassifier(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator
):
    """Train a network whose inner representation tells little of the protected attribute.

    A critic learns to tell the group from what a layer of the network makes of X, and the network
    learns its task and to be hard to tell from, in turns [1]_. The attribute is needed in
    training only.

    .. versionadded:: 0.1

    Parameters
    ----------
    adversary_weight : float, default=1.0
        λ, how much hiding the group counts beside the task. With 0 this is the network trained
        alone, and needs no attribute.
    module : torch.nn.Module or callable, default=None
        The network. A module is copied, with the weights it has; a callable, such as a class, is
        called as ``module(n_features, n_outputs)`` and returns one. It takes float32 rows of
        `X`, which may have more than two dimensions, and returns logits: one a class, also of
        two, or one a task of a multilabel `y`. None is an MLP of ``encoder`` and ``head``.
    layer : str or list of str, default=None
        Where the critic listens: the name of a submodule, such as "encoder" or "layers.3", or
        several, each with a critic of its own. None is "encoder"; with a `mask`, the masked
        inputs.
    critic : torch.nn.Module, callable or list of these, default=None
        The critics, one a layer: modules, or called as ``critic(n_inputs, n_groups)``. They take
        what the layer gives and return logits of the groups. None is an MLP that standardises
        what it hears.
    mask : bool, torch.nn.Module or callable, default=False
        A network in front of the other, whose output the inputs are multiplied with: adversarial
        training in the space of images. True is an autoencoder; a callable is called as
        ``mask(shape)`` with the shape of a row.
    reconstruction_weight : float, default=1.0
        β, how much it counts that masked inputs stay like the inputs, as the mean absolute
        difference of a row's elements.
    hidden_layer_sizes : tuple of int, default=(64,)
        Widths of the hidden layers of the network by default.
    critic_hidden_layer_sizes : tuple of int, default=(64,)
        Widths of the hidden layers of critics by default.
    learning_rate : float, default=1e-2
        Of Adam, for the network.
    critic_learning_rate : float, default=1e-2
        Of Adam, for the critics.
    weight_decay : float, default=0.0
        What Adam adds of a weight of the network to its gradient.
    batch_size : int, default=128
        Rows in a step, at least. With at most so many distinct rows, every step sees them all,
        weighted.
    predictor_epochs : int, default=30
        How often the network goes through the rows alone, at first.
    critic_epochs : int, default=10
        How often critics then do, alone too: only one that knows something is worth hiding from.
    max_epochs : int, default=50
        How often the network goes through the rows in turns with the critics.
    critic_steps : int, default=2
        How many steps critics take for one of the network.
    balance : {"group", "class"}, default="group"
        What critics' rows are balanced by. "group": every group counts the same, and a label that
        goes with the group counts as telling of it. "class": every group counts the same within
        each class, so that only what tells more than the label does has to be hidden.
    early_stopping : bool, default=False
        Whether the first phase ends where the loss on held-out rows no longer falls, with the
        weights that were best. The turns go on to the last: no loss says when they are over.
    validation_fraction : float, default=0.1
        Share of the rows that is held out for `early_stopping`.
    n_iter_no_change : int, default=10
        How many epochs without a lower loss `early_stopping` waits.
    sensitive : str, int, list or callable, default=None
        Where the protected attribute is: the name of a column of `X`, its position, a list of
        several, or a function of `X`. None: it is passed as ``sensitive_features``, also through
        metadata routing.
    drop_sensitive : bool, default=False
        Hide these columns from the network. Data frames to predict may then lack them.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" takes a GPU where there is one. Nothing here was measured on one.
    random_state : int, RandomState instance or None, default=None
        Where initial weights, the order of rows and dropout come from. torch's own random numbers
        stay untouched.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; the tasks' positions, of a multilabel `y`.
    groups_ : tuple
        The groups that critics told apart.
    module_, mask_ : torch.nn.Module
        The trained networks, on the CPU; `mask_` is None where there is none.
    critics_ : list of torch.nn.Module
        The trained critics.
    layers_ : tuple of str
        Where they listened; empty where it was the masked inputs.
    history_ : DataFrame
        An epoch a row: its ``phase`` ("predictor", "critic" or "turns"), the task's mean ``loss``
        and the critics' mean ``critic_loss``, of which ``log(len(groups_))`` is chance.
    n_iter_ : int
        Epochs of the network.
    n_features_in_, feature_names_in_
        Those of the columns that the network sees.

    See Also
    --------
    NoiseRandomizer : The baseline to beat.
    skbiasamp.LeakageProbe : Tells what is left in the representation.

    Notes
    -----
    Critics minimise their cross-entropy ``L_c(c(h), g)``, the network ``L(p(x), y) − λ Σ L_c``,
    with the sum over critics. Critics' batches have equally many rows of each group, and every
    group counts the same in the network's. With a mask M, ``x̂ = M(x) · x`` takes the place of x
    and ``β |x − x̂|`` is added. A `mask` without `layer` makes critics listen to x̂. A mask can
    only darken: what is left may still be told by who looks closely.

    What it costs: accuracy, where the attribute or what goes with it helped; the more, the
    greater λ and the more label and attribute go together, since a representation that tells
    nothing of the group cannot tell everything of the label. What it does not promise: that no
    one can tell. Stronger attackers than the critic may; measure with a fresh one (`transform`
    gives the representation, `decision_function` the logits). Training in turns does not
    converge as training alone does, so results vary more between seeds. A critic that is never
    wrong gives the network nothing to go by: where `history_` has its loss near 0 to the end, a
    greater λ or `learning_rate`, another layer or another network may help.

    Inputs are taken as they are: scale what is neither 0/1 nor a score near it. Equal rows are
    one row with a weight, so that repeating rows and weighting them are the same. Networks as small
    as the default gain nothing from several threads: ``torch.set_num_threads(1)``, which is left
    to you, helps where cores are busy.

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
    >>> settings = {"hidden_layer_sizes": (8,), "batch_size": 500, "max_epochs": 200}
    >>> for weight in (0, 1):
    ...     model = AdversarialClassifier(weight, **settings, random_state=0)
    ...     model = model.fit(data.data, data.target, sensitive_features=data.sensitive)
    ...     heard = LeakageProbe(random_state=0)
    ...     heard = heard.fit(model.transform(data.data), sensitive_features=data.sensitive)
    ...     print(f"{model.score(data.data, data.target):.1f} {heard.leakage_:.1f}")
    0.7 0.9
    0.7 0.6
    """

    __metadata_request__fit: ClassVar = {"sensitive_features": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "adversary_weight": [Interval(Real, 0, None, closed="left")],
        "module": [callable, None],
        "layer": [str, list, tuple, None],
        "critic": [callable, list, tuple, None],
        "mask": ["boolean", callable],
        "reconstruction_weight": [Interval(Real, 0, None, closed="left")],
        "hidden_layer_sizes": ["array-like"],
        "critic_hidden_layer_sizes": ["array-like"],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "critic_learning_rate": [Interval(Real, 0, None, closed="neither")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "predictor_epochs": [Interval(Integral, 0, None, closed="left")],
        "critic_epochs": [Interval(Integral, 0, None, closed="left")],
        "max_epochs": [Interval(Integral, 0, None, closed="left")],
        "critic_steps": [Interval(Integral, 1, None, closed="left")],
        "balance": [StrOptions({"group", "class"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "sensitive": [str, Integral, list, tuple, callable, None],
        "drop_sensitive": ["boolean"],
        "device": [StrOptions({"auto", "cpu", "cuda"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        adversary_weight: float = 1.0,
        *,
        module: Any = None,
        layer: Any = None,
        critic: Any = None,
        mask: Any = False,
        reconstruction_weight: float = 1.0,
        hidden_layer_sizes: Any = (64,),
        critic_hidden_layer_sizes: Any = (64,),
        learning_rate: float = 1e-2,
        critic_learning_rate: float = 1e-2,
        weight_decay: float = 0.0,
        batch_size: int = 128,
        predictor_epochs: int = 30,
        critic_epochs: int = 10,
        max_epochs: int = 50,
        critic_steps: int = 2,
        balance: str = "group",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        sensitive: Any = None,
        drop_sensitive: bool = False,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.adversary_weight = adversary_weight
        self.module = module
        self.layer = layer
        self.critic = critic
        self.mask = mask
        self.reconstruction_weight = reconstruction_weight
        self.hidden_layer_sizes = hidden_layer_sizes
        self.critic_hidden_layer_sizes = critic_hidden_layer_sizes
        self.learning_rate = learning_rate
        self.critic_learning_rate = critic_learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.predictor_epochs = predictor_epochs
        self.critic_epochs = critic_epochs
        self.max_epochs = max_epochs
        self.critic_steps = critic_steps
        self.balance = balance
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.sensitive = sensitive
        self.drop_sensitive = drop_sensitive
        self.device = device
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> Self:
        """Train the network and its critics.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training data; of more dimensions where `module` takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels: classes, or 0/1 indicator columns.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, for network and critics; rows of no weight are left out.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The protected attribute, where it is no column of `X`.

        Returns
        -------
        self : object
        """
        self._validate_params()
        torch = import_torch("AdversarialClassifier")
        device = find_device(self.device, needed=True)
        if self.drop_sensitive and (self.sensitive is None or callable(self.sensitive)):
            raise ValueError(
                "drop_sensitive=True hides the columns that sensitive= names, and sensitive="
                f"{self.sensitive!r} names none. Name the columns, or leave drop_sensitive=False "
                "if the attribute is not among the features."
            )
        given = self.sensitive is not None or sensitive_features is not None
        hides = given or self.adversary_weight > 0
        if self.drop_sensitive:
            self._hidden = names_of(X, self.sensitive)
        with noting_text(self, X):
            inputs, y = validate_data(
                self,
                self._features(X),
                y,
                dtype=np.float32,
                multi_output=True,
                allow_nd=self.module is not None,
                ensure_min_samples=2 if hides else 1,  # a row of each group
            )
        attribute = find_attribute(self, X, sensitive_features, "fit") if hides else None
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        weight = check_sample_weight(
            sample_weight, inputs, dtype=np.float64, ensure_non_negative=True
        )
        held = np.flatnonzero(weight)
        target, group = self._read_labels(y[held]), None
        if attribute is not None:
            check_lengths(
                {"X": inputs, "sensitive_features": to_native(attribute, "sensitive_features")}
            )
            group = self._read_groups(target, take_rows(attribute, held))
        self._shape = inputs.shape[1:]
        start, critics_start, order = np.random.SeedSequence(
            int(check_random_state(self.random_state).randint(2**31))
        ).spawn(3)
        # Whoever calls may have switched gradients off.
        with torch.inference_mode(False), torch.enable_grad(), seeded(_number(start), device):
            rows = _distinct(inputs[held], target, group, weight[held], device)
            networks, n_heard = self._build(rows, device)
            if group is not None:
                with seeded(_number(critics_start), device):
                    networks.critics = self._build_critics(networks, n_heard, rows.n_groups, device)
            told = train(networks, rows, self._plan(), order)
        self.history_ = pd.DataFrame(told, columns=["phase", "loss", "critic_loss"])
        self.n_iter_ = int((self.history_["phase"] != "critic").sum())
        learnt = [*networks.learners, *networks.critics]
        if not all(
            torch.isfinite(one).all() for net in learnt for one in net.state_dict().values()
        ):
            raise ValueError(
                "Training diverged: the networks have weights that are not finite. Lower "
                "learning_rate, critic_learning_rate or adversary_weight, or scale X "
                "(StandardScaler)."
            )
        for one in learnt:
            one.cpu().eval()
        self.module_, self.mask_ = networks.predictor, networks.mask
        self.critics_, self.layers_ = networks.critics, networks.layers
        self._n_features_out = sum(n_heard)
        return self

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, or the tasks that are more likely than not.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_tasks)
        """
        logits = self._outputs(X)[0]
        return self.classes_[logits.argmax(axis=1)] if self._one_label else (logits > 0).astype(int)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, or of each task.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_tasks)
        """
        logits = self._outputs(X)[0]
        return softmax(logits, axis=1) if self._one_label else expit(logits)

    def decision_function(self, X: Any) -> Array:
        """Return logits; of two classes, how much greater that of the second is.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_tasks)
        """
        logits = self._outputs(X)[0]
        binary = self._one_label and len(self.classes_) == 2
        return logits[:, 1] - logits[:, 0] if binary else logits

    def transform(self, X: Any) -> Array:
        """Return the representation that critics listen to.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        heard : ndarray of shape (n_samples, n_outputs)
            What the layers give, flat and side by side; masked inputs where critics heard these.
        """
        return self._outputs(X)[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # ------------------------------------------------------------------ inside

    def _features(self, X: Any) -> Any:
        return without_sensitive(X, self._hidden, may_lack=True) if self.drop_sensitive else X

    def _outputs(self, X: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        torch = import_torch("AdversarialClassifier")
        # Networks that were trained on a GPU work without one, too.
        device = find_device(self.device, needed=False)
        inputs = validate_data(
            self,
            self._features(X),
            dtype=np.float32,
            allow_nd=self.module is not None,
            reset=False,
        )
        if inputs.shape[1:] != self._shape:
            raise ValueError(
                f"X has rows of shape {inputs.shape[1:]}, and fit saw rows of {self._shape}."
            )
        # In float64 a row gets the same number whatever rows it comes with; networks of users
        # may not be made for it.
        own = self.module is None and isinstance(self.mask, bool)
        dtype = torch.float64 if own else torch.float32
        networks = Networks(
            deepcopy(self.module_).to(device, dtype),
            None if self.mask_ is None else deepcopy(self.mask_).to(device, dtype),
            self.layers_,
        )
        return outputs_of(networks, torch.tensor(inputs, dtype=dtype, device=device))

    def _read_labels(self, y: Any) -> Array:
        """Return codes of classes, or an indicator matrix."""
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind == "multilabel-indicator":
            self._one_label = False
            target = (y.toarray() if hasattr(y, "toarray") else y).astype(np.float32)
            self.classes_ = np.arange(target.shape[1])
            return target
        if kind not in ("binary", "multiclass"):
            raise ValueError(
                f"y is {kind}: pass one column of classes, or 0/1 columns, one a task."
            )
        self._one_label = True
        self.classes_, target = np.unique(y, return_inverse=True)
        return target.reshape(-1)

    def _read_groups(self, target: Array, attribute: Any) -> Array:
        """Return codes of groups, and say what cannot be hidden."""
        pairs = read_pairs(self.classes_[target] if self._one_label else target, attribute)
        self.groups_ = pairs.groups
        if self.balance == "class":
            if not pairs.one_label:
                raise ValueError(
                    "balance='class' balances groups within classes, and y is multilabel: pass "
                    "balance='group'."
                )
            pairs.require_all(
                why="balance='class' weighs groups the same in each class. Leave that class out, "
                "merge groups or classes, or pass balance='group'."
            )
        elif pairs.one_label and (pairs.counts == 0).any():
            a, t = np.argwhere(pairs.counts == 0)[0]
            warnings.warn(
                f"There are no rows of group {pairs.groups[a]!r} with class {pairs.tasks[t]!r}: "
                "who knows the class knows of the group, and no network can tell the one and hide "
                "the other.",
                UserWarning,
                stacklevel=3,
            )
        return pairs.group

    def _plan(self) -> Plan:
        return Plan(
            float(self.adversary_weight),
            float(self.reconstruction_weight),
            float(self.learning_rate),
            float(self.critic_learning_rate),
            float(self.weight_decay),
            int(self.batch_size),
            int(self.predictor_epochs),
            int(self.critic_epochs),
            int(self.max_epochs),
            int(self.critic_steps),
            self.balance == "class",
            int(self.n_iter_no_change) if self.early_stopping else 0,
            float(self.validation_fraction),
        )

    def _build(self, rows: Rows, device: Any) -> tuple[Networks, list[int]]:
        """Return the networks without critics, and how many numbers each layer gives."""
        n_outputs = len(self.classes_)
        if self.module is None:
            hidden = _widths("hidden_layer_sizes", self.hidden_layer_sizes)
            if not hidden:
                raise ValueError(
                    "hidden_layer_sizes is empty: without a hidden layer there is no "
                    "representation to listen to. Name one width or more."
                )
            predictor = default_predictor(self._shape[0], hidden, n_outputs)
        else:
            predictor = _made("module", self.module, self._shape[0], n_outputs)
        mask = None
        if self.mask is True:
            mask = default_mask(self._shape)
        elif self.mask is not False:
            mask = _made("mask", self.mask, self._shape)
        layers = find_layers(predictor, self.layer, masked=mask is not None)
        networks = Networks(predictor.to(device), None if mask is None else mask.to(device), layers)
        heard = listen_once(networks, rows.inputs[:2], n_outputs)
        return networks, [prod(one.shape[1:]) for one in heard]

    def _build_critics(
        self, networks: Networks, n_heard: list[int], n_groups: int, device: Any
    ) -> list[Any]:
        given = self.critic if isinstance(self.critic, list | tuple) else [self.critic]
        if len(given) != len(n_heard) and self.critic is not None:
            raise ValueError(
                f"There are {len(given)} critics and {len(n_heard)} layers to listen to: pass a "
                "list with a critic for each."
            )
        hidden = _widths("critic_hidden_layer_sizes", self.critic_hidden_layer_sizes)
        if self.critic is None:
            return [default_critic(n, hidden, n_groups).to(device) for n in n_heard]
        return [
            _made("critic", one, n, n_groups).to(device)
            for one, n in zip(given, n_heard, strict=True)
        ]


def _made(name: str, given: Any, *sizes: Any) -> Any:
    """Return a copy of a module, or what a callable makes."""
    torch = import_torch()
    if isinstance(given, torch.nn.Module):
        return deepcopy(given)
    made = given(*sizes)
    if not isinstance(made, torch.nn.Module):
        raise TypeError(
            f"{name} was called as {name}({', '.join(map(str, sizes))}), and returned a "
            f"{type(made).__name__}: it must return a torch.nn.Module."
        )
    return made


def _widths(name: str, given: Any) -> tuple[int, ...]:
    widths = tuple(given)
    if not all(isinstance(width, int | np.integer) and width >= 1 for width in widths):
        raise ValueError(f"{name} must be whole numbers from 1 on, got {widths}.")
    return tuple(map(int, widths))


def _number(seed: np.random.SeedSequence) -> int:
    return int(seed.generate_state(1)[0])


def _distinct(
    inputs: Array, target: Array, group: Array | None, weight: Array, device: Any
) -> Rows:
    """Return the distinct rows of inputs, labels and group, and how much each weighs."""
    torch = import_torch()
    n = len(inputs)
    columns = [inputs.reshape(n, -1), target.reshape(n, -1)]
    columns += [] if group is None else [group.reshape(n, 1)]
    table, code = distinct(np.hstack(columns).astype(np.float32))
    first = np.unique(code, return_index=True)[1]
    total = np.bincount(code, weight)
    whole = bool((weight == np.rint(weight)).all())
    return Rows(
        torch.tensor(table[:, : columns[0].shape[1]].reshape(-1, *inputs.shape[1:]), device=device),
        torch.as_tensor(target[first], device=device),
        None if group is None else group[first],
        0 if group is None else int(group.max()) + 1,
        total / total.sum(),
        int(total.sum()) if whole else n,
    )
