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
there, the adversary takes turns with the network, labels are not weighted, the last layer keeps its
learning rate, and the best epoch is that of `AdversarialClassifier`, not that of the best F1. The
results were not measured: no images were at hand.
"""

import argparse
import csv
import json
import resource
import tempfile
import time
from collections import OrderedDict
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


class Images(torch.utils.data.Dataset):
    """Images, resized and cropped as the authors do; at random places for training."""

    def __init__(self, files, size=SIZE, crop=CROP, *, augmented=False):
        self.files, self.size, self.crop, self.augmented = files, size, crop, augmented

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with Image.open(self.files[i]) as file:
            image = file.convert("RGB")
        scale = self.size / min(image.size)
        image = image.resize([max(self.size, round(side * scale)) for side in image.size])
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
        margins = [side - self.crop for side in pixels.shape[1:]]
        if self.augmented:
            top, left = (int(torch.randint(margin + 1, ())) for margin in margins)
            pixels = pixels.flip(2) if torch.rand(()) < 0.5 else pixels
        else:
            top, left = (margin // 2 for margin in margins)
        pixels = pixels[:, top : top + self.crop, left : left + self.crop]
        mean, std = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])[:, :, None, None]
        return (pixels - mean) / std


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
    """Return a ResNet-50 with the weights of ImageNet."""
    try:
        from torchvision.models import resnet50
    except ImportError as error:
        raise SystemExit("A ResNet-50 needs torchvision: pip install torchvision") from error
    network = resnet50(weights="IMAGENET1K_V1")
    network.fc = nn.Linear(network.fc.in_features, n_outputs)
    return network


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
    return nn.Sequential(layers)


def adversary(n_inputs, n_groups, width=300):
    """Return the authors' adversary at conv5, without pooling."""
    layers = [nn.Flatten()]
    for size in (n_inputs, width, width):
        layers += [nn.Linear(size, width), nn.BatchNorm1d(width), nn.LeakyReLU()]
    return nn.Sequential(*layers, nn.Linear(width, n_groups))


SETTINGS = {
    "module": resnet50,
    "layer": "layer4",
    "adversary": adversary,
    "batch_size": 32,
    "learning_rate": 1e-4,
    # First the last layer alone, then all layers.
    "param_groups": [("fc.*", {}), ("*", {"lr": 5e-6, "frozen_epochs": 60})],
    "pretrain_epochs": 120,
    "adversary_epochs": 10,
    "max_epochs": 60,
    "adversary_steps": 1,
    "mixed_precision": True,
}


def loader(rows, workers, **options):
    """Return the images of rows, read by several processes."""
    pinned = torch.cuda.is_available()
    images = Images(rows.files, **options)
    return torch.utils.data.DataLoader(images, num_workers=workers, pin_memory=pinned)


def train(settings, rows, workers, weight, seed, sizes):
    """Return a trained model: the best epoch on validation rows."""
    known, chosen = rows
    model = AdversarialClassifier(weight, random_state=seed, **settings)
    return model.fit(
        loader(known, workers, augmented=True, **sizes),
        known.objects.to_numpy(),
        sensitive_features=known.gender.to_numpy(),
        validation=(
            loader(chosen, workers, **sizes),
            chosen.objects.to_numpy(),
            chosen.gender.to_numpy(),
        ),
    )


def measure(model, rows, workers, sizes, attacker):
    """Return F1, mAP, λ_M, λ_D(F1) and Δ of test rows, in percent."""
    truth, images = rows.objects.to_numpy(), loader(rows, workers, **sizes)
    logits = model.decision_function(images)
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


def operations(n_rows, n_chosen, settings):
    """Return the operations of one training, by arithmetic; the adversary's are few beside them."""
    frozen = settings["param_groups"][1][1]["frozen_epochs"]
    alone, turns = settings["pretrain_epochs"], settings["max_epochs"]
    passes = frozen + 3 * (alone - frozen) + settings["adversary_epochs"] + turns * (3 + 1)
    return FORWARD * (n_rows * passes + n_chosen * (alone + turns))


def estimate(rows, settings, workers, sizes, n_rows, n_chosen, batches=10):
    """Return the hours of one training and the memory, from a few batches of each phase."""
    few = Rows(*(part[: batches * settings["batch_size"]] for part in rows))
    none = {"pretrain_epochs": 0, "adversary_epochs": 0, "max_epochs": 0}
    frozen = settings["param_groups"][1][1]["frozen_epochs"]
    phases = {
        "frozen": ({"pretrain_epochs": 1}, frozen),
        "all layers": (
            {"pretrain_epochs": 1, "param_groups": [("fc.*", {}), ("*", {"lr": 5e-6})]},
            settings["pretrain_epochs"] - frozen,
        ),
        "adversary": ({"adversary_epochs": 1}, settings["adversary_epochs"]),
        "turns": ({"max_epochs": 1, "param_groups": []}, settings["max_epochs"]),
    }
    images = loader(few, workers, augmented=True, **sizes)
    labels = few.objects.to_numpy(), few.gender.to_numpy()
    seconds, lines = 0.0, []
    for name, (changed, n_epochs) in phases.items():
        spent = []
        for epochs in (none, none, none | changed):  # the first one warms up
            start = time.perf_counter()
            model = AdversarialClassifier(1.0, random_state=0, **settings | none | changed | epochs)
            model.fit(images, labels[0], sensitive_features=labels[1])
            spent.append(time.perf_counter() - start)
        each = max(spent[2] - spent[1], 0) / len(few.files)
        seconds += each * n_rows * n_epochs
        lines.append(f"{name}: {1000 * each:.2f} ms an image, {n_epochs} epochs")
    start = time.perf_counter()
    model.predict(loader(few, workers, **sizes))
    each = (time.perf_counter() - start) / len(few.files)
    seconds += each * n_chosen * (settings["pretrain_epochs"] + settings["max_epochs"])
    lines.append(f"validation: {1000 * each:.2f} ms an image")
    memory = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB of main memory"
    if torch.cuda.is_available():
        memory += f", {torch.cuda.max_memory_allocated() / 2**30:.2f} GB of the GPU"
    lines.append(f"one training: {seconds / 3600:.2f} hours; {memory}")
    return "\n".join(lines)


def arithmetic(settings, n_rows=22_826, n_chosen=5_367):
    """Return what one training of the paper's size takes, if nothing waits for the disk."""
    total = operations(n_rows, n_chosen, settings)
    times = ", ".join(
        f"{total / rate / 3.6e15:.1f} hours at {rate} Tflop/s" for rate in (10, 50, 100)
    )
    return (
        f"By arithmetic, one training takes {total:.1e} operations: {times}. The network and Adam "
        "take 0.4 GB, the adversary 0.5 GB, and 32 images 2 to 3 GB in bfloat16. Not measured."
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
    "param_groups": [("fc.*", {}), ("*", {"lr": 1e-3, "frozen_epochs": 1})],
    **{"pretrain_epochs": 2, "adversary_epochs": 1, "max_epochs": 2, "batch_size": 16},
}


def short():
    """Return a table of one seed on tiny images."""
    settings, sizes = SETTINGS | SHORT, {"size": 34, "crop": 32}
    attacker = MLPAttacker.preset("leakage", max_epochs=2)
    with tempfile.TemporaryDirectory() as folder:
        known, chosen, judged = generated(Path(folder))
        rows = [
            (weight, 0, *measure(model, judged, 0, sizes, attacker))
            for weight in WEIGHTS
            for model in [train(settings, (known, chosen), 0, weight, 0, sizes)]
        ]
        print(estimate(known, settings, 0, sizes, len(known.files), len(chosen.files), batches=2))
    return pd.DataFrame(rows, columns=COLUMNS).round(2).to_string(index=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", type=Path, nargs="?", help="folder of COCO 2014")
    parser.add_argument("--workers", type=int, default=8, help="processes that read images")
    parser.add_argument("--write", type=Path, default=Path("resnet_coco.csv"))
    parser.add_argument("--estimate", action="store_true", help="only what it would take")
    parser.add_argument("--short", action="store_true", help="tiny generated images")
    options = parser.parse_args()
    if options.short:
        print(short())
        return
    print(arithmetic(SETTINGS))
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
        args = known, SETTINGS, options.workers, {}, len(known.files), len(val.frame)
        print(estimate(*args))
        return
    chosen, judged = (labelled_rows(options.images, data) for data in (val, test))
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
            model = train(SETTINGS, (known, chosen), options.workers, weight, seed, {})
            row = measure(model, judged, options.workers, {}, MLPAttacker.preset("leakage"))
            with options.write.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow((weight, seed, *np.round(row, 4)))
            print(dict(zip(COLUMNS[2:], np.round(row, 2), strict=True)), "paper:", PAPER[weight])


if __name__ == "__main__":
    main()
