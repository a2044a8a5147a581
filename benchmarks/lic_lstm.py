"""Measure LIC_M of seven captioners by an LSTM, beside the published values.

    python benchmarks/lic_lstm.py                 # three minutes on one core; needs torch
    python benchmarks/lic_lstm.py --keep trials.json --minutes 5

The published values are those of an LSTM. This one is small: 64 units in each direction, trained
for three epochs. `benchmarks/papers/lic_captioners.py` has those of TF-IDF and logistic regression.
"""

import argparse
import re
from collections import Counter

import numpy as np
import torch
from papers.reference_data import read_captions
from parts import Trials, add_arguments
from scipy.stats import spearmanr
from torch import nn

from skbiasamp.text import WordMasker

PUBLISHED = {
    "nic": 43.2,
    "sat": 44.4,
    "fc": 46.4,
    "att2in": 45.9,
    "updn": 48.0,
    "nic_plus": 46.7,
    "nic_equalizer": 51.3,
}
EPOCHS, UNITS, LENGTH, BATCH = 3, 64, 16, 128


class Reader(nn.Module):
    """An LSTM in both directions, its largest output over the words, and a linear layer."""

    def __init__(self, n_words):
        super().__init__()
        self.embedding = nn.Embedding(n_words, UNITS, padding_idx=0)
        self.lstm = nn.LSTM(UNITS, UNITS, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * UNITS, 2)
        self.dropout = nn.Dropout(0.5)

    def forward(self, words):
        states, _ = self.lstm(self.dropout(self.embedding(words)))
        states = states.masked_fill((words == 0).unsqueeze(-1), -1e9)
        return self.out(self.dropout(states.max(dim=1).values))


def numbered(texts):
    """Return the words of masked texts as numbers, 0 behind the last; rare words are one."""
    split = [
        re.findall(r"[a-z'<>]+", text.lower())[:LENGTH] for text in WordMasker().transform(texts)
    ]
    counts = Counter(word for words in split for word in words)
    known = {word: i for i, word in enumerate((w for w, n in counts.items() if n > 1), 1)}
    codes = np.zeros((len(split), LENGTH), dtype=np.int64)
    for row, words in zip(codes, split, strict=True):
        row[: len(words)] = [known.get(word, len(known) + 1) for word in words]
    return torch.from_numpy(codes), len(known) + 2


def lic_m(words, n_words, female, seeds):
    """Return LIC_M × 100 after each epoch, for each seed: one tenth of balanced rows is judged."""
    results = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        women, men = np.flatnonzero(female), np.flatnonzero(~female)
        rows = rng.permutation([*women, *rng.choice(men, len(women), replace=False)])
        test, train = np.split(rows, [len(rows) // 10])
        target = torch.from_numpy(female.astype(np.int64))
        reader = Reader(n_words)
        steps = torch.optim.Adam(reader.parameters(), lr=2e-3)
        values = []
        for _ in range(EPOCHS):
            reader.train()
            for part in np.array_split(rng.permutation(train), len(train) // BATCH):
                steps.zero_grad()
                nn.functional.cross_entropy(reader(words[part]), target[part]).backward()
                steps.step()
            reader.eval()
            with torch.no_grad():
                sure = reader(words[test]).softmax(dim=1)
            right = sure.argmax(dim=1) == target[test]
            own = sure[torch.arange(len(test)), target[test]]
            values.append(100 * float((own * right).mean()))
        results.append(values)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    add_arguments(parser)
    options = parser.parse_args()
    torch.set_num_threads(1)
    models = read_captions(subset="models")
    female = (models.sensitive_features == "female").to_numpy()
    done = Trials(options.keep, options.minutes, part=1)
    print("| model | published | " + " | ".join(f"epoch {i + 1}" for i in range(EPOCHS)) + " |")
    print("|---" * (EPOCHS + 2) + "|")
    last = []
    for name, published in PUBLISHED.items():
        words, n_words = numbered(models.captions[name])
        results = done.run(lic_m, (name, EPOCHS), words, n_words, female, trials=options.trials)
        shown = " | ".join(f"{value:.1f}" for value in results.mean(axis=0))
        print(f"| {name} | {published} | {shown} |", flush=True)
        last.append(results.mean(axis=0)[-1])
    rank = spearmanr(list(PUBLISHED.values()), last).statistic
    print(f"\nRank correlation with the published values: {rank:.2f}")


if __name__ == "__main__":
    main()
