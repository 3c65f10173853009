#!/bin/sh
# method_cma.sh: runs programs of the MPI suite with long messages that are read from the sender's memory:
#   tests/sim/method_cma.sh BUILD_FOLDER
set -eu
build=$1
source=$(cd "$(dirname "$0")/../mpi" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in large send_modes truncate; do
  "$build/bin/mpicc" -O1 -o "$work/$name" "$source/$name.c"
  ranks=$(sed -n 's|^// ranks: *||p' "$source/$name.c")
  for count in ${ranks:-2}; do
    timeout 100 "$build/bin/margay" run -n "$count" --method long=cma "$work/$name" >"$work/out" 2>&1 || {
      echo "$name with $count ranks failed:"
      cat "$work/out"
      exit 1
    }
    echo "$name, $count ranks: ok"
  done
done
if "$build/bin/margay" run -n 2 --method long=rdma "$work/truncate" >"$work/out" 2>&1; then
  echo "--method long=rdma was taken"
  exit 1
fi
grep -q 'long=rdma' "$work/out" || { cat "$work/out"; exit 1; }
