// Tests of the text of `margay info --protocols`: it equals the library's choices under any options.
#include "mpi_adi/rank/describe_choices.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace margay::mpi_adi {
namespace {

std::string notify(const sim::Options& options) {
  std::string all;
  for (const std::string& line : describe_choices(options)) all += line + "\n";
  return all;
}
bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
std::ptrdiff_t lines_with(const std::string& text, std::string_view part) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the protocols in `margay info` follow the short limit, the long protocol and the heap") {
  sim::Options options;
  const std::string plain = notify(options);
  CHECK(says(plain, "up to 16 KiB"));
  CHECK(says(plain, "up to 64 KiB"));
  CHECK_EQ(lines_with(plain, "the receiver pulls the body"), 0);
  CHECK_EQ(lines_with(plain, "\n"), 1 + 2 * (1 + 2 * 4));
  options.set("protocol", "short_limit=1000");
  CHECK_EQ(lines_with(notify(options), "up to 1000 bytes"), 2 * 4);
  options.set("protocol", "long=rendezvous");
  const std::string rendezvous = notify(options);
  // All long messages except ready ones.
  CHECK_EQ(lines_with(rendezvous, "the receiver pulls the body"), 2 * 3);
  CHECK_EQ(lines_with(rendezvous, "into the posted receive"), 2 * 2);
  sim::Options small;
  small.set("heap_bytes", "128k");
  CHECK_FALSE(says(notify(small), "up to 64 KiB"));
}

TEST_CASE("`margay info` prints why a rank would reject an option") {
  sim::Options options;
  options.set("protocol", "long=magic");
  CHECK(says(notify(options), "the long protocols are puma and rendezvous"));
}

}  // namespace margay::mpi_adi
