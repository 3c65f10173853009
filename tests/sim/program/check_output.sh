#!/bin/sh
# check_output.sh EXPECTED COMMAND...: runs the command and compares its standard output with the file EXPECTED.
# check_output.sh --folder COMMAND...: runs the command with an empty folder's name as its last argument.
# Exit 0: as expected, and the command's exit status was 0; 1: not.
set -u
expected=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/margay_program.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
if [ "$expected" = --folder ]; then
  "$@" "$work"
  exit
fi
"$@" >"$work/output"
status=$?
diff "$expected" "$work/output" || { echo "FAILED: the output differs from $expected" >&2; exit 1; }
[ "$status" = 0 ] || { echo "FAILED: exit status $status: $*" >&2; exit 1; }
