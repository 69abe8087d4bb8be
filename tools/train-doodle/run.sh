#!/usr/bin/env bash
# usage: run.sh DATA WORK [arguments of train.py]
# Starts the training as a process of its own that outlives this shell, and returns at once; follow WORK/train.log.
# WORK/DONE or WORK/STOPPED appears at the end.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$1 work=$2
shift 2
mkdir -p "$work/source"
cp "$here"/*.py "$here/../../models/doodle/prompts.txt" "$work/source/"
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-4} TORCHINDUCTOR_CACHE_DIR="$work/inductor" TRITON_CACHE_DIR="$work/triton"
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
setsid nohup "${PYTHON:-python3}" "$work/source/train.py" --data "$data" --work "$work" "$@" >>"$work/console.log" 2>&1 </dev/null &
echo "training runs as process $!; log: $work/train.log"
