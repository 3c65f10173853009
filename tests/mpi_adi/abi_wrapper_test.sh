#!/bin/sh
# abi_wrapper_test.sh BUILD_DIR: tests how mpicc and mpicxx translate their arguments, with a compiler that only prints
# them. Needs no library. Exit 0: all as expected; 1: the first difference.
# shellcheck disable=SC2016  # the test is about dollars and backquotes that must not be expanded
set -u
bin=$1/bin
work=$(mktemp -d "${TMPDIR:-/tmp}/margay wrapper.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# One argument per line, in brackets.
# -cc= takes a command line, so that "ccache gcc" works; therefore the printer must lie in a folder without a space.
printer=$(mktemp /tmp/margay_printer.XXXXXX) || exit 1
cat >"$printer" <<'PRINTER'
#!/bin/sh
for word do printf "[%s]\n" "$word"; done
PRINTER
chmod +x "$printer"
trap 'rm -rf "$work" "$printer"' EXIT
unset MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX

expect() {
  if ! printf '%s\n' "$2" | grep -qxF -- "$3"; then
    printf 'FAILED: %s: no line %s in\n%s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
}
refuse() {
  if printf '%s\n' "$2" | grep -qF -- "$3"; then
    printf 'FAILED: %s: unexpected %s in\n%s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
}

for wrapper in mpicc mpicxx; do
  case $wrapper in
    mpicc) option=-cc variable=CC ;;
    *) option=-cxx variable=CXX ;;
  esac
  output=$("$bin/$wrapper" "$option=$printer" 'a b.c' -DX='"q $HOME `x` \"y\""' '*' '' -o out) || exit 1
  expect "$wrapper keeps a space" "$output" '[a b.c]'
  expect "$wrapper keeps quotes" "$output" '[-DX="q $HOME `x` \"y\""]'
  expect "$wrapper keeps a star" "$output" '[*]'
  expect "$wrapper keeps an empty word" "$output" '[]'
  expect "$wrapper links" "$output" '[-lmpi]'
  expect "$wrapper finds its headers" "$output" "[-I$(cd "$1" && pwd -P)/include]"
  refuse "$wrapper eats its own option" "$output" "$option="

  for only in -c -S -E -M -MM -fsyntax-only; do
    output=$("$bin/$wrapper" "$option=$printer" "$only" x.c) || exit 1
    expect "$wrapper $only passes the option" "$output" "[$only]"
    refuse "$wrapper $only does not link" "$output" -lmpi
  done
  refuse "$wrapper -v alone" "$("$bin/$wrapper" "$option=$printer" -v)" -lmpi
  expect "$wrapper -v with a file" "$("$bin/$wrapper" "$option=$printer" -v x.c)" '[-lmpi]'

  expect "MPICH_$variable" "$(env "MPICH_$variable=$printer" "$bin/$wrapper" x.c)" '[x.c]'
  expect "OMPI_$variable with an option" "$(env "OMPI_$variable=$printer -m64" "$bin/$wrapper" x.c)" '[-m64]'
  expect "option before variable" "$(env "MPICH_$variable=/nonexistent" "$bin/$wrapper" "$option=$printer" x.c)" '[x.c]'

  shown=$("$bin/$wrapper" "$option=$printer" -show 'a b.c' "it's")
  direct=$("$bin/$wrapper" "$option=$printer" 'a b.c' "it's")
  if [ "$(eval "$shown")" != "$direct" ]; then
    printf 'FAILED: %s -show is not the command that runs: %s\n' "$wrapper" "$shown" >&2
    exit 1
  fi
  refuse "$wrapper -compile_info" "$("$bin/$wrapper" -compile_info)" -lmpi
  case "$("$bin/$wrapper" -link_info)" in *-lmpi*) ;; *) echo "FAILED: $wrapper -link_info has no -lmpi" >&2; exit 1 ;; esac
  case "$("$bin/$wrapper" -showme:link)" in -L*) ;; *) echo "FAILED: $wrapper -showme:link" >&2; exit 1 ;; esac
done
mkdir "$work/bin"
cp "$bin/mpicc" "$work/bin/mpicc"
if message=$("$work/bin/mpicc" x.c 2>&1); then
  echo "FAILED: mpicc outside of an installation should say so" >&2
  exit 1
fi
case $message in *"no mpi.h in"*) ;; *) echo "FAILED: unclear message: $message" >&2; exit 1 ;; esac
echo "wrappers as expected"
