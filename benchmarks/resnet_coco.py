"""A ResNet-50 on COCO, alone and against an adversary: Tables 1, 3 and 4 of Wang et al. (2019).

    python benchmarks/resnet_coco.py ~/coco             # five seeds each, written to a CSV file
    python benchmarks/resnet_coco.py ~/coco --estimate  # time and memory on this machine
    python benchmarks/resnet_coco.py --estimate         # the same by arithmetic, without images
    python benchmarks/resnet_coco.py --short            # tiny generated images, on any machine

The folder holds COCO of 2014: train2014, val2014 and annotations. Needs torch, Pillow and, besides
--short, torchvision for the weights of ImageNet. The labels of validation and test rows are those
of `read_coco_labels`. The authors' training rows are not available: training images are those
whose captions say man or woman and not both, and the script prints how often this rule agrees with
the authors' genders of validation images.

Epochs, batches, layer, adversary and λ are those of the code that the authors released. Other than
there, the adversary takes turns with the network and learns from the middle of the images, labels
are not weighted, and the last epoch is kept, not that of the best F1. All images are in memory, and
take about 80 GB. The results were not measured: no images were at hand.
"""

import argparse
import csv
import json
import resource
import tempfile
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from papers.reference_data import read_coco_labels
from PIL import Image
from sklearn.metrics import average_precision_score, f1_score
from torch import nn

from skbiasamp import LeakageAuditor
from skbiasamp.attackers import MLPAttacker
from skbiasamp.mitigation import AdversarialClassifier

SIZE, CROP = 256, 224
WEIGHTS, SEEDS = (0.0, 2.0), range(5)
COLUMNS = ("weight", "seed", "F1", "mAP", "model leakage", "leakage at F1", "amplification")
# Of the original split, in percent; λ_D(F1) of the adversary follows from both others.
PAPER = {0.0: "F1 53.75, λ_M 70.46, Δ 9.93", 2.0: "F1 52.54, Δ 4.57"}
# Operations of a ResNet-50 for an image of 224 × 224 pixels, forward; backward takes twice as many.
FORWARD = 8.2e9


class Rows(NamedTuple):
    """Images by their files, with a 0/1 column for each object, and the gender of the person."""

    files: list[Path]
    objects: pd.DataFrame
    gender: pd.Series


class Cropped(nn.Module):
    """A network of images, cropped as the authors do; at random places in training."""

    def __init__(self, network, crop=CROP):
        super().__init__()
        self.network, self.crop = network, crop

    def forward(self, pixels):
        margin = pixels.shape[2] - self.crop
        top = left = margin // 2
        if self.training:
            top, left = (int(torch.randint(margin + 1, ())) for _ in range(2))
            flipped = torch.rand(len(pixels), 1, 1, 1, device=pixels.device) < 0.5
            pixels = torch.where(flipped, pixels.flip(3), pixels)
        pixels = pixels[:, :, top : top + self.crop, left : left + self.crop]
        mean, std = pixels.new_tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])[
            ..., None, None
        ]
        return self.network((pixels - mean) / std)


def read_image(file, size=SIZE):
    """Return the middle of an image whose shorter side is `size` pixels long."""
    with Image.open(file) as opened:
        image = opened.convert("RGB")
    scale = size / min(image.size)
    image = image.resize([max(size, round(side * scale)) for side in image.size])
    pixels = np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 255
    top, left = ((side - size) // 2 for side in pixels.shape[1:])
    return pixels[:, top : top + size, left : left + size]


def images_of(rows, workers, size=SIZE):
    """Return the images of rows, read side by side."""
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        return np.stack([*pool.map(partial(read_image, size=size), rows.files)])


def training_rows(folder, objects):
    """Return training images whose captions say man or woman, and not both."""
    return from_annotations(folder, "train2014", objects)


def from_annotations(folder, part, objects):
    """Return the images of a part of COCO of which captions tell the gender."""
    notes = Path(folder) / "annotations"
    captions = json.loads((notes / f"captions_{part}.json").read_text(encoding="utf-8"))
    instances = json.loads((notes / f"instances_{part}.json").read_text(encoding="utf-8"))
    words: dict[int, set[str]] = {}
    for note in captions["annotations"]:
        words.setdefault(note["image_id"], set()).update(note["caption"].lower().split())
    gender = {}
    for image, own in words.items():
        found = {"man", "woman"} & {word.strip(".,'\"") for word in own}
        if len(found) == 1:
            gender[image] = found.pop()
    names = {
        category["id"]: category["name"].replace(" ", "_") for category in instances["categories"]
    }
    table = pd.DataFrame(0, index=sorted(gender), columns=list(objects))
    for note in instances["annotations"]:
        if note["image_id"] in gender and names[note["category_id"]] in table:
            table.loc[note["image_id"], names[note["category_id"]]] = 1
    files = [file_of(folder, part, image) for image in table.index]
    return Rows(files, table, pd.Series(gender).loc[table.index])


def file_of(folder, part, image):
    """Return where an image of COCO is."""
    return Path(folder) / part / f"COCO_{part}_{image:012d}.jpg"


def labelled_rows(folder, data):
    """Return the authors' validation or test rows, all of which are images of val2014."""
    files = [file_of(folder, "val2014", image) for image in data.frame["image"]]
    return Rows(files, data.target, data.sensitive_features)


def agreement(folder, data):
    """Return how often captions tell the gender that the authors have, where they tell any."""
    captioned = from_annotations(folder, "val2014", data.target.columns).gender
    known = data.frame.set_index("image")["gender"]
    both = captioned.index.intersection(known.index)
    return len(both), float((captioned[both] == known[both]).mean())


# --------------------------------------------------------------------------- the networks


def resnet50(n_channels, n_outputs):
    """Return a ResNet-50 with the weights of ImageNet, all frozen but the last layer."""
    try:
        from torchvision.models import resnet50
    except ImportError as error:
        raise SystemExit("A ResNet-50 needs torchvision: pip install torchvision") from error
    network = resnet50(weights="IMAGENET1K_V1").requires_grad_(False)
    network.fc = nn.Linear(network.fc.in_features, n_outputs)
    return Cropped(network)


def small(n_channels, n_outputs):
    """Return a network of the same layers' names, for tiny images."""
    layers = OrderedDict(
        conv1=nn.Conv2d(n_channels, 8, 3, stride=2, padding=1),
        bn1=nn.BatchNorm2d(8),
        relu=nn.ReLU(),
        layer4=nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()),
        avgpool=nn.AdaptiveAvgPool2d(1),
        flat=nn.Flatten(),
        fc=nn.Linear(16, n_outputs),
    )
    network = nn.Sequential(layers).requires_grad_(False)
    network.fc.requires_grad_(True)
    return Cropped(network, crop=32)


def adversary(n_inputs, n_groups, width=300):
    """Return the authors' adversary at conv5, without pooling."""
    layers = [nn.Flatten()]
    for size in (n_inputs, width, width):
        layers += [nn.Linear(size, width), nn.BatchNorm1d(width), nn.LeakyReLU()]
    return nn.Sequential(*layers, nn.Linear(width, n_groups))


SETTINGS = {
    "module": resnet50,
    "layer": "network.layer4",
    "adversary": adversary,
    "batch_size": 32,
    "learning_rate": 5e-6,
    "adversary_learning_rate": 1e-4,
    "pretrain_epochs": 60,
    "adversary_epochs": 10,
    "max_epochs": 60,
    "adversary_steps": 1,
}
# Before this, the last layer learns alone.
LAST = {"learning_rate": 1e-4, "pretrain_epochs": 60, "adversary_epochs": 0, "max_epochs": 0}


def train(settings, last, images, rows, weight, seed):
    """Return a trained model."""
    objects = rows.objects.to_numpy()
    head = AdversarialClassifier(0, random_state=seed, **settings | last).fit(images, objects)
    network = head.module_.requires_grad_(True)
    model = AdversarialClassifier(weight, random_state=seed, **settings | {"module": network})
    return model.fit(images, objects, sensitive_features=rows.gender.to_numpy())


def measure(model, images, rows, attacker):
    """Return F1, mAP, λ_M, λ_D(F1) and Δ of test rows, in percent."""
    truth, logits = rows.objects.to_numpy(), model.decision_function(images)
    auditor = LeakageAuditor(
        attacker=attacker, equalize="f1", n_draws=5, interval=None, random_state=0
    )
    result = auditor.audit(
        truth, (logits > 0).astype(int), y_score=logits, sensitive_features=rows.gender.to_numpy()
    )
    occurs = truth.any(axis=0)
    values = (
        f1_score(truth, logits > 0, average="macro", zero_division=0),
        average_precision_score(truth[:, occurs], logits[:, occurs], average="macro"),
        *(float(result.table[name].mean()) for name in ("quality_model", "quality_data")),
        result.value,
    )
    return [100 * value for value in values]


# --------------------------------------------------------------------------- what it takes


def operations(n_rows, settings, last):
    """Return the operations of one training, by arithmetic; the adversary's are few beside them."""
    passes = last["pretrain_epochs"] + 3 * settings["pretrain_epochs"]
    passes += settings["adversary_epochs"] + settings["max_epochs"] * (3 + 1)
    return FORWARD * n_rows * passes


def estimate(images, rows, settings, last, n_rows):
    """Return the hours of one training and the memory, from a few batches of each phase."""
    labels, gender = (part.to_numpy()[: len(images)] for part in rows[1:])
    none = {"pretrain_epochs": 0, "adversary_epochs": 0, "max_epochs": 0}
    whole = {"module": lambda *sizes: settings["module"](*sizes).requires_grad_(True)}
    phases = {
        "last layer": ({"pretrain_epochs": 1}, last["pretrain_epochs"]),
        "all layers": (whole | {"pretrain_epochs": 1}, settings["pretrain_epochs"]),
        "adversary": ({"adversary_epochs": 1}, settings["adversary_epochs"]),
        "turns": (whole | {"max_epochs": 1}, settings["max_epochs"]),
    }
    seconds, lines = 0.0, []
    for name, (changed, n_epochs) in phases.items():
        spent = []
        for epochs in (none, none, none | changed):  # the first one warms up
            start = time.perf_counter()
            model = AdversarialClassifier(1.0, random_state=0, **settings | none | changed | epochs)
            model.fit(images, labels, sensitive_features=gender)
            spent.append(time.perf_counter() - start)
        each = max(spent[2] - spent[1], 0) / len(images)
        seconds += each * n_rows * n_epochs
        lines.append(f"{name}: {1000 * each:.2f} ms an image, {n_epochs} epochs")
    memory = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB of main memory"
    if torch.cuda.is_available():
        memory += f", {torch.cuda.max_memory_allocated() / 2**30:.2f} GB of the GPU"
    lines.append(f"one training: {seconds / 3600:.2f} hours; {memory} for {len(images)} images")
    return "\n".join(lines)


def arithmetic(settings, last, n_rows=22_826):
    """Return what one training of the paper's size takes, if nothing waits for the disk."""
    total = operations(n_rows, settings, last)
    times = ", ".join(
        f"{total / rate / 3.6e15:.1f} hours at {rate} Tflop/s" for rate in (10, 50, 100)
    )
    return (
        f"By arithmetic, one training takes {total:.1e} operations: {times}. The network and Adam "
        "take 0.4 GB, the adversary 0.5 GB, 32 images 4 to 6 GB, and all images "
        f"{n_rows * 12 * SIZE**2 / 1e9:.0f} GB. Not measured."
    )


# --------------------------------------------------------------------------- tiny images


def generated(folder, n=60, seed=0):
    """Write tiny images in the manner of COCO; return the rows of the three parts."""
    rng, objects = np.random.default_rng(seed), ["hair_drier", "kite"]
    parts = []
    for first, part in enumerate(("train2014", "val2014", "val2014")):
        (folder / part).mkdir(exist_ok=True)
        (folder / "annotations").mkdir(exist_ok=True)
        woman, has = rng.integers(0, 2, n), rng.integers(0, 2, (n, 2))
        images = np.arange(n) + 1000 * first
        for image, own, row in zip(images, woman, has, strict=True):
            pixels = rng.integers(0, 60, (40, 48, 3))
            pixels[:, :, 0] += 120 * own
            pixels[:20, :, 1] += 120 * row[0]
            pixels[20:, :, 2] += 120 * row[1]
            Image.fromarray(pixels.astype(np.uint8)).save(file_of(folder, part, int(image)))
        words = [f"A {('man', 'woman')[own]}, alone." for own in woman]
        notes = {
            "captions": [
                {"image_id": int(image), "caption": text}
                for image, text in zip(images, words, strict=True)
            ],
            "instances": [
                {"image_id": int(images[i]), "category_id": int(j)} for i, j in np.argwhere(has)
            ],
        }
        names = [{"id": i, "name": name.replace("_", " ")} for i, name in enumerate(objects)]
        for name, entries in notes.items():
            file = folder / "annotations" / f"{name}_{part}.json"
            file.write_text(json.dumps({"annotations": entries, "categories": names}))
        parts.append(from_annotations(folder, part, objects))
    return parts


SHORT = {
    "module": small,
    **{"pretrain_epochs": 1, "adversary_epochs": 1, "max_epochs": 2, "batch_size": 16},
    "learning_rate": 1e-3,
}


def short():
    """Return a table of one seed on tiny images."""
    settings, last = SETTINGS | SHORT, LAST | {"pretrain_epochs": 1}
    attacker = MLPAttacker.preset("leakage", max_epochs=2)
    with tempfile.TemporaryDirectory() as folder:
        known, _, judged = generated(Path(folder))
        seen, unseen = (images_of(part, 0, 34) for part in (known, judged))
    rows = [
        (weight, 0, *measure(model, unseen, judged, attacker))
        for weight in WEIGHTS
        for model in [train(settings, last, seen, known, weight, 0)]
    ]
    print(estimate(seen[:32], known, settings, last, len(seen)))
    return pd.DataFrame(rows, columns=COLUMNS).round(2).to_string(index=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", type=Path, nargs="?", help="folder of COCO 2014")
    parser.add_argument("--workers", type=int, default=8, help="threads that read images")
    parser.add_argument("--write", type=Path, default=Path("resnet_coco.csv"))
    parser.add_argument("--estimate", action="store_true", help="only what it would take")
    parser.add_argument("--short", action="store_true", help="tiny generated images")
    options = parser.parse_args()
    if options.short:
        print(short())
        return
    print(arithmetic(SETTINGS, LAST))
    if options.images is None:
        if not options.estimate:
            parser.error("name the folder of COCO 2014, or pass --estimate or --short")
        return
    val, test = (read_coco_labels(subset=subset) for subset in ("val", "test"))
    known = training_rows(options.images, val.target.columns)
    n, same = agreement(options.images, val)
    print(f"{len(known.files):,} training images; of {n:,} validation images, captions tell the")
    print(f"authors' gender in {same:.1%}.")
    if options.estimate:
        few = known._replace(files=known.files[: 10 * SETTINGS["batch_size"]])
        images = images_of(few, options.workers)
        print(estimate(images, known, SETTINGS, LAST, len(known.files)))
        return
    judged = labelled_rows(options.images, test)
    seen, unseen = (images_of(rows, options.workers) for rows in (known, judged))
    done = set()
    if options.write.exists():
        frame = pd.read_csv(options.write)
        done = set(zip(frame["weight"], frame["seed"], strict=True))
    else:
        options.write.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for seed in SEEDS:
        for weight in WEIGHTS:
            if (weight, seed) in done:
                continue
            model = train(SETTINGS, LAST, seen, known, weight, seed)
            row = measure(model, unseen, judged, MLPAttacker.preset("leakage"))
            with options.write.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow((weight, seed, *np.round(row, 4)))
            print(dict(zip(COLUMNS[2:], np.round(row, 2), strict=True)), "paper:", PAPER[weight])


if __name__ == "__main__":
    main()
