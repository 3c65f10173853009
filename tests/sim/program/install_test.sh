#!/bin/sh
# install_test.sh BUILD_DIR SOURCE_DIR: installs the build into a fresh folder, moves it, and builds the examples on portals
# against it as users do, by find_package(margay) and by pkg-config, from a folder of their own; the zoo's output must be the same.
#
# Exit 0: all steps succeed; 1: the first one that fails, with its output.
set -u
build=$1
source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/margay_portals.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
prefix=$work/moved
log=$work/log

# step TEXT COMMAND...: runs the command quietly; its output is printed only if it fails.
step() {
  text=$1
  shift
  timeout 150 "$@" >"$log" 2>&1 && { echo "ok: $text"; return; }
  echo "FAILED: $text (exit $?): $*" >&2
  cat "$log" >&2
  exit 1
}

step "install" cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$prefix"
mkdir "$work/user"
cp "$source"/examples/portals_*.?pp "$work/user"
cat >"$work/user/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(margay 0.1 REQUIRED)
foreach(name IN ITEMS portals_pingpong portals_zoo)
  file(GLOB sources ${name}*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE margay::portals)
endforeach()
PROJECT
step "find_package(margay)" cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$prefix"
step "build with margay::portals" cmake --build "$work/user/build"
step "ping-pong" "$prefix/bin/margay" run -n 2 --check-accounting "$work/user/build/portals_pingpong" 4096 10
step "zoo" "$prefix/bin/margay" run -n 2 --check-accounting "$work/user/build/portals_zoo"
cp "$log" "$work/words"
step "the zoo's words" diff "$source/examples/portals_zoo.expected" "$work/words"

# The page's own program and commands, as printed: its blocks of C++, CMake and sh, each in order. Home is a folder of this test, and the
# sources' folder one whose build/release is the build under test.
block() {
  awk -v kind="$1" -v wanted="$2" '/^```/ { in_it = !in_it && $0 == "```" kind && ++number == wanted; if (in_it) next }
    in_it' "$source/docs/portals_api.md"
}
mkdir -p "$work/home" "$work/sources/build" "$work/own"
for part in "$source"/*; do
  [ "$(basename "$part")" = build ] || ln -s "$part" "$work/sources"
done
ln -s "$build" "$work/sources/build/release"
block cpp 1 >"$work/sources/first.cpp"
block cmake 1 >"$work/own/CMakeLists.txt"
cp "$work/sources/first.cpp" "$work/own"
printed() {
  block sh "$1" >"$work/commands"
  [ -s "$work/commands" ] || { echo "FAILED: docs/portals_api.md has no block $1 of commands" >&2; exit 1; }
  step "docs/portals_api.md, commands $1" env HOME="$work/home" sh -euc "cd '$work/$2' && . '$work/commands'"
}
printed 1 sources
printed 2 sources
printed 3 own

# Labs whose programs are C++, on portals and on the host, as a student would answer them: first with empty blanks, then
# correctly. QUICK_TESTS (scripts/test without --all) omits the first lab, because abi_install checks another lab on portals.
labs="walk library"
[ -z "${QUICK_TESTS:-}" ] || labs=library
for lab in $labs; do
  step "margay lab start $lab" "$prefix/bin/margay" lab start $lab "$work/$lab"
  step "margay lab answer $lab" "$prefix/bin/margay" lab answer "$work/$lab"
  mv "$work/$lab/answers.txt" "$work/$lab/predict.txt"
  timeout 150 "$prefix/bin/margay" lab check "$work/$lab" >"$log" 2>&1
  [ $? = 1 ] || { echo "FAILED: margay lab check of $lab with blanks is not \`not yet\` (1)" >&2; cat "$log" >&2; exit 1; }
  mv "$work/$lab/answer.cpp" "$work/$lab/program.cpp"
  step "margay lab check $lab" "$prefix/bin/margay" lab check "$work/$lab"
done

pc=$(dirname "$(find "$prefix/" -name margay-portals.pc)")
# shellcheck disable=SC2046  # word splitting is intended
set -- $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs margay-portals)
[ $# -gt 0 ] || { echo "FAILED: pkg-config does not find margay-portals" >&2; exit 1; }
step "build by pkg-config" c++ -std=c++20 -o "$work/pingpong" "$work/user/portals_pingpong.cpp" "$@"
step "ping-pong, built by pkg-config" "$prefix/bin/margay" run -n 2 "$work/pingpong" 4096 10
