"""Measure LIC_M of NIC in several set-ups, on the rows that have a human caption.

    python benchmarks/lic_setups.py             # a minute on one core
    python benchmarks/lic_setups.py --seeds 1

Gender words are masked by the list of this package or by that of Hirota et al. (2022), or left out;
words are read in three ways; a tenth of the rows is judged, drawn at random or as in the files of
the reproduction by Türk et al. (2023). Each value is a mean over the seeds.
"""

import argparse
import re
from itertools import product

import numpy as np
from papers.reference_data import read_captions
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skbiasamp.text import WordMasker

THEIR_WORDS = """
    man men male father gentleman gentlemen boy boys uncle husband actor prince waiter son he his
    him himself brother brothers guy guys emperor emperors dude dudes cowboy woman women female
    lady ladies mother girl girls aunt wife actress princess waitress daughter she her hers herself
    sister sisters queen queens pregnant
"""
TOKENS = {
    "letters": r"[a-z']+",
    "two characters": r"(?u)\b\w\w+\b",
    "one character": r"(?u)\b\w+\b",
}


def masked(texts):
    """Return the texts by how gender words are masked."""
    texts = [text.lower() for text in texts]
    theirs = WordMasker(THEIR_WORDS.split(), plurals=False).transform(texts)
    return {
        "our list": WordMasker().transform(texts),
        "their list": theirs,
        "their list, left out": [re.sub("<[a-z]+>", "", text) for text in theirs],
    }


def lic_m(texts, female, tokens, splits):
    """Return the mean of LIC_M × 100 over splits into rows to learn from and rows to judge."""
    texts, scores = np.array(texts, dtype=object), []
    for learned, judged in splits:
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, token_pattern=tokens)
        attacker = make_pipeline(words, LogisticRegression(max_iter=300))
        attacker.fit(texts[learned], female[learned])
        sure = attacker.predict_proba(texts[judged])[np.arange(len(judged)), female[judged]]
        scores.append(np.mean(sure * (sure > 0.5)))
    return 100 * np.mean(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    human = read_captions(subset="human").frame
    models = read_captions(subset="models").frame.set_index("image").loc[human["image"]]
    female = (human["gender"] == "female").to_numpy().astype(int)
    mixed = [np.random.default_rng(seed).permutation(len(human)) for seed in range(options.seeds)]
    splits = {
        "at random": [np.split(rows, [len(rows) // 10])[::-1] for rows in mixed],
        "as in the files": [[np.flatnonzero(human["part"] == part) for part in ("train", "test")]],
    }
    names = "masked by", "tokens", *splits
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for (mask, texts), (name, tokens) in product(masked(models["nic"]).items(), TOKENS.items()):
        values = [f"{lic_m(texts, female, tokens, split):.1f}" for split in splits.values()]
        print(f"| {mask} | {name} | {' | '.join(values)} |", flush=True)


if __name__ == "__main__":
    main()
