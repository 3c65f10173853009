#include <doctest/doctest.h>

#include "mpi_adi/rank/describe_choices.hpp"
#include "mpi_adi/rma/window_method.hpp"

using namespace margay::mpi_adi;

namespace {

// The line about a kind of memory.
std::string line_of(const std::vector<std::string>& lines, const std::string& memory) {
  for (const std::string& line : lines) {
    if (line.starts_with("  " + memory + " ")) return line;
  }
  return {};
}

bool says(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the first method that a member's memory allows is taken") {
  CHECK(choose_window_method({.is_own = true}).method == WindowMethod::direct);
  CHECK(choose_window_method({.is_on_node = true, .is_mapped = true, .reads_others = true}).method ==
        WindowMethod::direct);
  CHECK(choose_window_method({.is_on_node = true, .reads_others = true}).method == WindowMethod::process);
  CHECK(choose_window_method({.is_on_node = true}).method == WindowMethod::message);
  CHECK(choose_window_method({.reads_others = true}).method == WindowMethod::message);
  CHECK(choose_window_method({.is_dynamic = true, .is_own = true}).method == WindowMethod::message);
  CHECK(choose_window_method({.of_1996 = true, .is_own = true}).method == WindowMethod::message);
}

TEST_CASE("the description of windows follows what this machine permits") {
  WindowMeans means{
      .shares_heap = true, .heap_reason = "memfd", .reads_others = true, .reading_reason = {}, .huge_pages = {}};
  CHECK(says(line_of(describe_windows(means), "allocated"), " direct "));
  CHECK(says(line_of(describe_windows(means), "the program's"), " process memory "));
  means.shares_heap = false;
  means.heap_reason = "no memfd here";
  CHECK(says(line_of(describe_windows(means), "allocated"), " process memory "));
  CHECK(says(line_of(describe_windows(means), "allocated"), "no memfd here"));
  means.reads_others = false;
  CHECK(says(line_of(describe_windows(means), "allocated"), " messages "));
  CHECK(says(line_of(describe_windows(means), "the program's"), " messages "));
  margay::sim::Options options;
  options.set("method", "long=ring");
  CHECK_FALSE(try_window_means(options).reads_others);
}
