// Tests of the file with a machine's measured rates, and of the choice of the rates that a job uses.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "sim/boot/job_rates.hpp"
#include "sim/boot/measured_rates.hpp"
#include "tests/sim/trace_folder.hpp"
#include "tests/support/variable.hpp"

namespace margay::sim {
namespace {

const MeasuredRates kKept{.machine = "a machine, 2 processors",
                          .date = "2026-03-01 12:30 UTC",
                          .unmeasured = "between, turn",
                          .rates = "a=1,b=2",
                          .messages = "a=3,b=4"};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

bool says(const portals::Status& status, const std::string& part) {
  return status.sentence().find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a file of rates is read back as written") {
  MeasuredRates read;
  REQUIRE(parse_rates_file(rates_file_text(kKept), read).ok());
  CHECK(read.machine == kKept.machine);
  CHECK(read.date == kKept.date);
  CHECK(read.unmeasured == kKept.unmeasured);
  CHECK(read.rates == kKept.rates);
}

TEST_CASE("an invalid file of rates is reported, and none of its contents are used") {
  MeasuredRates read = kKept;
  CHECK(says(parse_rates_file("", read), "does not begin"));
  CHECK(says(parse_rates_file("rates: a=1\n", read), "does not begin"));
  CHECK(says(parse_rates_file("margay-rates 1\nmachine: x\n", read), "no line \"rates: "));
  CHECK(says(parse_rates_file("margay-rates 1\nrates: a\x1b[2J\n", read), "not text"));
  CHECK(
      says(parse_rates_file("margay-rates 1\nrates: " + std::string(kRatesTextMax + 1, 'x') + "\n", read), "too long"));
  CHECK(read.rates == kKept.rates);
}

TEST_CASE("a file is written as a whole, its folders are created, and it is read within bounds") {
  const TraceFolder folder;
  const std::string path = folder / "some/where/rates";
  REQUIRE(write_rates_file(path, kKept).ok());
  REQUIRE(write_rates_file(path, kKept).ok());
  MeasuredRates read;
  REQUIRE(read_rates_file(path, read).ok());
  CHECK(read.rates == kKept.rates);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "some/where")) ++files;
  CHECK(files == 1);

  write_text(folder / "long", rates_file_text(kKept) + std::string(kRatesFileBytesMax, '\n'));
  CHECK(says(read_rates_file(folder / "long", read), "too long"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(says(read_rates_file(folder / "pipe", read), "not a regular file"));
  CHECK(says(read_rates_file(folder / "none", read), folder / "none"));
  write_text(folder / "file", "");
  CHECK(says(write_rates_file(folder / "file/rates", kKept), folder / "file"));
}

TEST_CASE("files of different machines have different names, those of one machine the same") {
  CHECK(rates_file_name("one") == rates_file_name("one"));
  CHECK(rates_file_name("one") != rates_file_name("two"));
  CHECK(this_machine() == this_machine());
}

TEST_CASE("the user's choice has precedence over the file of this machine, and another machine's file is skipped") {
  const TraceFolder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path());
  const std::string path = user_rates_file();
  REQUIRE(path.rfind(folder.path() + "/margay/rates-", 0) == 0);
  Options options;
  JobRates found;

  REQUIRE(write_rates_file(path, kKept).ok());
  REQUIRE(find_job_rates(options, found).ok());
  CHECK(found.text.empty());
  REQUIRE(found.passed_over.size() == 1);
  CHECK(found.passed_over[0].find("another machine: a machine") != std::string::npos);

  MeasuredRates mine = kKept;
  mine.machine = this_machine();
  REQUIRE(write_rates_file(path, mine).ok());
  REQUIRE(find_job_rates(options, found).ok());
  CHECK(found.text == mine.rates);
  CHECK(found.file == path);
  CHECK_FALSE(found.given);
  CHECK(found.passed_over.empty());

  options.set("rates", "usual");
  REQUIRE(find_job_rates(options, found).ok());
  CHECK(found.text == "usual");
  CHECK(found.given);

  options.set("rates", path);
  REQUIRE(find_job_rates(options, found).ok());
  CHECK(found.text == mine.rates);
  CHECK(found.given);

  options.set("rates", folder / "none");
  CHECK(says(find_job_rates(options, found), folder / "none"));
  options.set("rates", std::string(kRatesTextMax + 1, 'x'));
  CHECK(says(find_job_rates(options, found), "at most"));
}

TEST_CASE("a relative XDG_CACHE_HOME is ignored") {
  const TraceFolder folder;
  const Variable cache("XDG_CACHE_HOME", "somewhere");
  const Variable home("HOME", folder.path());
  CHECK(user_rates_file().rfind(folder.path() + "/.cache/margay/rates-", 0) == 0);
}

}  // namespace margay::sim
