"""The script that trains a ResNet-50 on COCO, on tiny images in its place."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
nn = torch.nn
Image = pytest.importorskip("PIL.Image")
pytestmark = [pytest.mark.torch, pytest.mark.benchmarks, pytest.mark.usefixtures("one_thread")]
BENCHMARKS = str(Path(__file__).resolve().parents[1] / "benchmarks")


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, BENCHMARKS)
    try:
        import resnet_coco
    finally:
        sys.path.remove(BENCHMARKS)
    return resnet_coco


def test_captions_tell_the_gender_and_instances_the_objects(script, tmp_path):
    notes = tmp_path / "annotations"
    notes.mkdir()
    said = {1: ["A man.", "a person"], 2: ["Woman and man"], 3: ["the woman's kite"], 4: ["a cat"]}
    said[5] = ['A "woman", alone']
    captions = [
        {"image_id": image, "caption": text} for image, texts in said.items() for text in texts
    ]
    instances = [
        {"image_id": image, "category_id": kind} for image, kind in ((1, 7), (1, 7), (5, 9), (2, 9))
    ]
    kinds = [
        {"id": 7, "name": "hair drier"},
        {"id": 9, "name": "kite"},
        {"id": 1, "name": "person"},
    ]
    for name, entries in (("captions", captions), ("instances", instances)):
        text = json.dumps({"annotations": entries, "categories": kinds})
        (notes / f"{name}_train2014.json").write_text(text)
    rows = script.training_rows(tmp_path, ["hair_drier", "kite"])
    assert [file.name for file in rows.files] == [
        "COCO_train2014_000000000001.jpg",
        "COCO_train2014_000000000005.jpg",
    ]
    assert rows.gender.tolist() == ["man", "woman"]
    assert rows.objects.to_numpy().tolist() == [[1, 0], [0, 1]]


def test_images_are_cropped_in_the_middle_or_at_random(script, tmp_path):
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:, 30:] = 255
    file = tmp_path / "image.png"
    Image.fromarray(pixels).save(file)
    pixels = script.read_image(file, size=24)
    assert pixels.shape == (3, 24, 24)
    wide = torch.tensor(pixels)[None]
    cropped = script.Cropped(nn.Identity(), crop=20)
    middle = cropped.eval()(wide)[0].numpy()
    assert middle.shape == (3, 20, 20)
    white = (1 - np.array([0.485, 0.456, 0.406])) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(middle[:, 0, -1], white, rtol=1e-5)
    assert (middle[0, :, 10] > middle[0, :, 9]).all()
    torch.manual_seed(0)
    cropped.train()
    assert len({cropped(wide).numpy().tobytes() for _ in range(20)}) > 2


def test_a_training_of_the_papers_size_by_hand(script):
    """60 epochs forward; 60 of three passes; 10 of adversaries; 60 in turns of four passes."""
    passes = 60 + 3 * 60 + 10 + 4 * 60
    expected = 8.2e9 * 22_826 * passes
    assert script.operations(22_826, script.SETTINGS, script.LAST) == expected
    assert f"{expected:.1e}" in script.arithmetic(script.SETTINGS, script.LAST)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_short_run_trains_and_measures_both(script, capsys):
    table = script.short().splitlines()
    assert table[0].split()[:4] == ["weight", "seed", "F1", "mAP"]
    rows = np.array([row.split() for row in table[1:]], float)
    assert rows[:, 0].tolist() == [0, 2]
    f1, precision, model, labels, amplification = rows[:, 2:].T
    assert ((f1 >= 0) & (f1 <= 100) & (precision > 40) & (precision <= 100)).all()
    np.testing.assert_allclose(amplification, model - labels, atol=0.02)
    assert "one training:" in capsys.readouterr().out


def test_what_is_missing_is_said(script, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    monkeypatch.setitem(sys.modules, "torchvision.models", None)
    with pytest.raises(SystemExit, match="pip install torchvision"):
        script.resnet50(3, 2)
    monkeypatch.setattr(sys, "argv", ["resnet_coco.py"])
    with pytest.raises(SystemExit):
        script.main()
