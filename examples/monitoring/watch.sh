#!/bin/sh
# Add the predictions of yesterday to the store, and fail if the model changed.
# crontab: 30 2 * * * STORE=/srv/watch DATA=/srv/predictions /srv/watch.sh
set -eu
day=${DAY:-$(date -d yesterday +%F)}
store=${STORE:?the folder of the store}
data=${DATA:?the folder of the predictions}

skbiasamp watch add "$store" "$data/$day.csv" --period "$day" \
    --target hired --prediction predicted --sensitive sex --min-cell 5
skbiasamp watch show "$store" --reference "${REFERENCE:-30}" \
    --html "${PAGE:-watch.html}" --fail-on-alarm
