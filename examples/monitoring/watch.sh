#!/bin/sh
# Count the predictions of yesterday, and fail if the model changed.
# crontab: 30 2 * * * COUNTS=/srv/counts DATA=/srv/predictions /srv/watch.sh
set -eu
day=${DAY:-$(date -d yesterday +%F)}
data=${DATA:?the folder of the predictions}
counts=${COUNTS:?the folder of the counts}

python -c '
import sys
import pandas as pd
from skbiasamp import Contingency
columns = {"target": "hired", "prediction": "predicted", "sensitive": "sex"}
Contingency.from_frame(pd.read_csv(sys.argv[1]), **columns).to_json(sys.argv[2])
' "$data/$day.csv" "$counts/$day.json"
skbiasamp over "$counts/*.json" --reference "${REFERENCE:-30}" --html "${PAGE:-watch.html}"
