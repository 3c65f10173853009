#!/bin/sh
# abi_link_test.sh BUILD_DIR: tests that the linker warns of each unimplemented function that an object calls, and of no
# other, and links all the same. Exit 0: as expected; 1: not; 77: the linker has no such warnings.
set -u
bin=$1/bin
work=$(mktemp -d "${TMPDIR:-/tmp}/margay_link.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/calls.c" <<'PROGRAM'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 9) MPIX_Comm_revoke(MPI_COMM_WORLD);
  if (argc > 9) PMPI_File_close(&file);
  return MPI_Finalize();
}
PROGRAM
case $("$bin/mpicc" -Wl,--version 2>/dev/null) in *"GNU ld"*) ;; *) echo "not GNU ld"; exit 77 ;; esac
said=$("$bin/mpicc" -o "$work/calls" "$work/calls.c" 2>&1) || { echo "FAILED: it does not link: $said" >&2; exit 1; }
for name in MPIX_Comm_revoke PMPI_File_close; do
  case $said in *"warning: $name is not supported"*) ;; *) echo "FAILED: no word of $name: $said" >&2; exit 1 ;; esac
done
if [ "$(printf '%s\n' "$said" | grep -c warning)" -ne 2 ]; then
  echo "FAILED: more warnings than calls: $said" >&2
  exit 1
fi
"$bin/margay" run -n 1 "$work/calls" || exit 1
echo "warnings as expected"
