#!/bin/sh
# abi_install_test.sh BUILD_DIR SOURCE_DIR: installs the build into a fresh folder, moves it, and builds and runs programs
# against it in every way that users do: mpicc, mpicxx, pkg-config, CMake; each with two ranks under mpiexec. The folder's
# name has a space and quotes are put in arguments, since both happen.
#
# Exit 0: all steps succeed; 1: the first one that fails, with its output.
set -u
build=$1
source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/margay install.XXXXXX") || exit 1
plain=$(mktemp -u "/tmp/margay_plain.XXXXXX")
trap 'rm -rf "$work" "$plain"' EXIT
prefix=$work/moved
log=$work/log

fail() {
  echo "FAILED: $1" >&2
  [ -f "$log" ] && cat "$log" >&2
  exit 1
}

# step TEXT COMMAND...: runs the command quietly; its output is printed only if it fails.
step() {
  text=$1
  shift
  timeout 120 "$@" >"$log" 2>&1 || fail "$text (exit $?): $*"
  echo "ok: $text"
}

# ranks TEXT PROGRAM: two ranks, each of which must print its neighbour's number.
ranks() {
  step "$1" "$prefix/bin/mpiexec" -n 2 "$2"
  [ "$(grep -c 'of 2 got' "$log")" = 2 ] || fail "$1: expected a line from each of two ranks"
}

# An installation takes only products of the target `installed` from the build, and scripts/demo builds this target,
# because the README runs the demo before the installation. (For a link its destination is tested. Wrappers are made when
# the build is configured.)
ninja -C "$build" -t commands installed > "$work/commands" || fail "the target \`installed\` is missing"
grep -oE "$build/(bin|lib)/[^\"]+" "$build/cmake_install.cmake" | xargs -d '\n' readlink -f | sort -u > "$work/taken"
# The library of lab 11, unless the build was configured without (-DMARGAY_LABS=OFF).
racy=
grep -q '^MARGAY_LABS:BOOL=ON' "$build/CMakeCache.txt" && racy=margay/labs/libmpi.so.12
for name in bin/margay lib/libmpi.so.12 ${racy:+"lib/$racy"} lib/libmargay_portals.so lib/libmargay_rmi.so lib/libmargay_zipcode.so; do
  grep -qF "$build/$name" "$work/taken" || fail "cmake_install.cmake does not take $name from the build"
done
while read -r file; do
  [ "$(head -c 2 "$file")" = "#!" ] && continue
  grep -qE -e "(-o|ar qc) ($build/)?${file#"$build"/}( |\$)" "$work/commands" ||
    fail "$file is installed, and the target \`installed\` does not build it"
done < "$work/taken"
grep -q -e '--target installed' "$source/scripts/demo" || fail "scripts/demo does not build the target \`installed\`"
echo "ok: the demo builds what an installation takes"

step "install" cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$prefix"

for file in bin/margay bin/mpicc bin/mpicxx bin/mpifort bin/mpif90 bin/mpif77 bin/mpiexec bin/mpirun include/mpi.h lib*/libmpi.so.12 lib*/libmpich.so.12 \
  ${racy:+"lib*/$racy" lib*/margay/labs/libmpich.so.12} \
  share/margay/labs/lab share/margay/examples/heat2d.c share/margay/wireshark/margay.lua share/doc/margay/docs/first_trace.md; do
  # shellcheck disable=SC2086  # lib* is meant as a pattern
  (cd "$prefix" && ls $file) >/dev/null 2>&1 || fail "not installed: $file"
done
step "links of the installed documents" "$source/scripts/check_docs" --links "$prefix/share"
step "margay lab start" "$prefix/bin/margay" lab start protocols "$work/lab"
step "margay lab answer" "$prefix/bin/margay" lab answer "$work/lab"
mv "$work/lab/answers.txt" "$work/lab/predict.txt"; mv "$work/lab/answer.c" "$work/lab/program.c"
step "margay lab check" "$prefix/bin/margay" lab check "$work/lab"
if [ -n "$racy" ]; then
  # The library's lab; and the ordinary library contains nothing of it.
  step "margay lab start posting" "$prefix/bin/margay" lab start posting "$work/racy"
  step "margay lab answer, with the racy library" "$prefix/bin/margay" lab answer "$work/racy"
  mv "$work/racy/answers.txt" "$work/racy/predict.txt"; mv "$work/racy/answer.cpp" "$work/racy/program.cpp"
  step "margay lab check, with the racy library" "$prefix/bin/margay" lab check "$work/racy"
  nm -C "$prefix"/lib*/$racy | grep -q 'posting_gap' || fail "the racy library has no gap in its posting"
  nm -C "$prefix"/lib*/libmpi.so.12 | grep -q 'posting_gap' && fail "the ordinary library has the racy one's gap"
fi
if grep -rlF "$work/first" "$prefix/bin" "$prefix"/lib*/pkgconfig "$prefix"/lib*/cmake 2>/dev/null | grep -q .; then
  fail "an installed text file names the folder of the installation: it would break when moved"
fi

cp "$source/tests/mpi_adi/abi_ring.c" "$work/ring.c"
cp "$work/ring.c" "$work/ring.cpp"

step "mpicc, compile only" "$prefix/bin/mpicc" -c -DWORD='"two words"' -o "$work/ring.o" "$work/ring.c"
step "mpicc, link" "$prefix/bin/mpicc" -o "$work/ring_c" "$work/ring.o"
ranks "C program by mpicc" "$work/ring_c"
grep -q 'two words' "$log" || fail "mpicc lost the quotes of -DWORD"

# A trace of this program: as a page, and as packets, which the installed dissector reads (if tshark is installed).
step "run with a trace" "$prefix/bin/margay" run -n 2 --trace "$work/trace" "$work/ring_c"
step "margay trace check" "$prefix/bin/margay" trace check "$work/trace"
grep -q 'the accounts are right' "$log" || fail "margay trace check does not say that the accounts are right"
step "margay trace view" "$prefix/bin/margay" trace view "$work/trace"
for words in '<!doctype html>' 'id="margay-head"' '"rank":1,"size":2' '</html>'; do
  grep -q "$words" "$work/trace.html" || fail "the page has no $words"
done
step "margay trace export" "$prefix/bin/margay" trace export "$work/trace" --format pcapng -o "$work/run.pcapng"
if command -v tshark >/dev/null; then
  step "margay.lua" tshark -X "lua_script:$prefix/share/margay/wireshark/margay.lua" -r "$work/run.pcapng" -Y margay \
    -T fields -e margay.source -e margay.destination -e margay.sequence
  sent=$("$prefix/bin/margay" trace print "$work/trace" --all --raw --kind kernel_send,kernel_ack_sent,kernel_reply_sent |
    grep -cE ' kernel_(send|ack_sent|reply_sent) ')
  dissected=$(grep -cE '^[0-9]+[[:space:]][0-9]+[[:space:]][0-9]+$' "$log")
  [ "$sent" -gt 0 ] || fail "the trace has no header"
  [ "$dissected" = "$sent" ] || fail "margay.lua reads $dissected headers, the trace has $sent"
elif [ -n "${MARGAY_EXPECT_TOOLS:-}" ]; then
  fail "tshark is not there, and scripts/setup installs it"
else
  echo "left out: margay.lua is not tried, because tshark is not installed (scripts/setup)"
fi

step "mpicxx" "$prefix/bin/mpicxx" -o "$work/ring_cxx" "$work/ring.cpp"
ranks "C++ program by mpicxx" "$work/ring_cxx"

PATH=$prefix/bin:$PATH step "mpicc found through PATH" mpicc -o "$work/ring_path" "$work/ring.c"
ln -s "$prefix/bin/mpicc" "$work/linked_mpicc"
step "mpicc through a link" "$work/linked_mpicc" -o "$work/ring_link" "$work/ring.c"

# The shell reads what -show prints back as the same words.
eval "set -- $("$prefix/bin/mpicc" -show -o "$work/ring_shown" "$work/ring.c")"
step "the command that -show prints" "$@"
ranks "program built by it" "$work/ring_shown"

# pkg-config cannot quote a space in a linker option, so it is called through a link without one.
ln -s "$prefix" "$plain"
pc=$(dirname "$(find "$plain/" -name margay.pc)")
# shellcheck disable=SC2046  # word splitting is intended
set -- $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs margay)
[ $# -gt 0 ] || fail "pkg-config does not find margay"
step "compile by pkg-config" cc -o "$work/ring_pc" "$work/ring.c" "$@"
ranks "program by pkg-config" "$work/ring_pc"

# Programs on the host and on RMI, without an option of their own.
# library_flags NAME: the words of pkg-config, each in a line.
library_flags() {
  PKG_CONFIG_PATH=$pc pkg-config --cflags --libs "$1" | tr ' ' '\n' | grep .
}
# nodes TEXT PROGRAM: two nodes of RMI, which print the sum of their two numbers.
nodes() {
  step "$1" env -u LD_LIBRARY_PATH "$prefix/bin/margay" run -n 2 "$2"
  grep -qx 'sum 3' "$log" || fail "$1: expected the sum of both nodes"
}
cat >"$work/rmi_user.cpp" <<'PROGRAM'
#include <margay/rmi.hpp>
#include <cstdio>
#include <functional>
struct Number {
  int value = margay::rmi::get_node_id() + 1;
  int get() const { return value; }
  void part(const int& /*nothing*/, int& sum) { sum = value; }
};
int program(int, char**) {
  Number number;
  const margay::rmi::rmi_object<Number> handle(number);
  int sum = 0;
  margay::rmi::collect_rmi(&number, &Number::part, 0, sum);
  const int next = (margay::rmi::get_node_id() + 1) % margay::rmi::get_num_nodes();
  if (margay::rmi::sync_rmi(next, handle, &Number::get) != next + 1) return 1;
  margay::rmi::rmi_fence();
  if (next == 1) std::printf("sum %d\n", sum);
  return 0;
}
int main(int argc, char** argv) { return margay::rmi::run(argc, argv, program); }
PROGRAM
library_flags margay-rmi | xargs -d '\n' c++ -std=c++20 -o "$work/rmi_pc" "$work/rmi_user.cpp" >"$log" 2>&1 ||
  fail "compile by pkg-config margay-rmi"
nodes "program on RMI by pkg-config" "$work/rmi_pc"
cat >"$work/zipcode_user.c" <<'PROGRAM'
#include <margay/zipcode.h>
#include <stdio.h>
int main(void) {
  ZIP_ADDRESSEES *pair = NULL;
  ZIP_MAILER *mailer;
  Zip_Invoice *invoice;
  int sum;
  if (Zip_nohost_init() != 0) return 1;
  sum = zip_my_node() + 1;
  if (zip_my_node() == 0) pair = zip_new_cohort(1, COHORT_FIRST_NODE, 33, 1);
  {
    int P = 2;
    mailer = g1_grid_open(&P, pair);
  }
  zip_new_invoice(&invoice, "%i", &sum);
  if (g1_pack_combine(mailer, invoice, ZIP_ADD) != 0) return 1;
  if (zip_my_node() == 0) printf("sum %d\n", sum);
  zip_free_invoice(&invoice);
  zip_free_addressees(&pair);
  zip_close(&mailer);
  zip_exit();
  return 0;
}
PROGRAM
library_flags margay-zipcode | xargs -d '\n' cc -o "$work/zipcode_pc" "$work/zipcode_user.c" >"$log" 2>&1 ||
  fail "compile by pkg-config margay-zipcode"
nodes "program on Zipcode by pkg-config" "$work/zipcode_pc"
library_flags margay-host | xargs -d '\n' c++ -std=c++20 -o "$work/host_pc" "$source"/examples/library/*.cpp >"$log" 2>&1 ||
  fail "compile by pkg-config margay-host"
step "library on the host by pkg-config" env -u LD_LIBRARY_PATH "$prefix/bin/margay" run -n 2 "$work/host_pc"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(margay 0.1 REQUIRED)
add_executable(ring ../ring.c)
target_link_libraries(ring PRIVATE margay::mpi)
add_executable(rmi_user ../rmi_user.cpp)
target_link_libraries(rmi_user PRIVATE margay::rmi)
add_executable(zipcode_user ../zipcode_user.c)
target_link_libraries(zipcode_user PRIVATE margay::zipcode)
if(EXISTS ../portals_user.cpp)
  add_executable(portals_user ../portals_user.cpp)
  target_link_libraries(portals_user PRIVATE margay::portals)
endif()
PROJECT
if [ -f "$prefix/include/margay/portals.hpp" ]; then
  cat >"$work/portals_user.cpp" <<'PROGRAM'
#include <margay/portals.hpp>
int main() {
  margay::portals::PortalTable table;
  table.detach(3);
  return margay::portals::name(margay::portals::Kind::put) == "put" ? 0 : 1;
}
PROGRAM
fi
step "find_package(margay)" cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix"
step "build with margay::mpi" cmake --build "$work/project/build"
ranks "program by CMake" "$work/project/build/ring"
if [ -x "$work/project/build/portals_user" ]; then
  step "program with margay::portals" "$work/project/build/portals_user"
fi

nodes "program on RMI by CMake" "$work/project/build/rmi_user"
nodes "program on Zipcode by CMake" "$work/project/build/zipcode_user"

# Alone, without a launcher and without LD_LIBRARY_PATH: the wrapper's run path finds the library.
step "one rank without mpiexec" env -u LD_LIBRARY_PATH "$work/ring_c"
grep -q 'rank 0 of 1' "$log" || fail "a program started alone should be one rank"
