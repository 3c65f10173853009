#include "sim/boot/findings.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string>

#include "sim/base/clock.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/parse.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {

std::string id_suffix(Finding finding) {
  return " [" + std::string(finding_id(finding)) + "]";
}

void set_site(FindingRecord& record, std::string_view location_suffix) {
  constexpr std::size_t kAround = 3;  // " (" and ")"
  if (location_suffix.size() > kAround)
    set_text(record.site, location_suffix.substr(2, location_suffix.size() - kAround));
}

namespace {

// Whether the descriptor is the findings file. The program may have closed it and opened a file of its own under the
// same number.
bool is_findings_file(int descriptor) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length))
                           .starts_with("/memfd:" + std::string(kFindingsFileName));
}

// Appends the record. The limit on file sizes applies to memory files, too. A write beyond it raises SIGXFSZ in this
// thread, which would end the rank, so the signal is blocked during the write, and taken if it was raised.
void append(int descriptor, const FindingRecord& record) {
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &limit, &before);
  // A short write (no memory left) leaves a record without its end, which the launcher skips and counts as not listed.
  if (::write(descriptor, &record, sizeof record) < 0 && errno == EFBIG && sigismember(&before, SIGXFSZ) == 0) {
    const timespec at_once{};
    ::sigtimedwait(&limit, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Appends one record to the memory file, with its finding, rank, time and message filled in. `descriptor`: the
// inherited one. `path`: the launcher's descriptor in /proc, for a process that a rank started without its descriptors,
// as Python's subprocess does, or that closed them.
void append_record(int descriptor, const std::string& path, std::uint32_t rank, Finding finding, FindingRecord record,
                   std::string_view message) {
  record.finding = static_cast<std::uint32_t>(finding);
  if (record.rank == FindingRecord::kThisRank) record.rank = rank;
  record.time_ns = real_clock().now_ns();
  set_text(record.message, message);
  if (is_findings_file(descriptor)) return append(descriptor, record);
  const int opened = path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) return;
  if (is_findings_file(opened)) append(opened, record);
  ::close(opened);
}

}  // namespace

void Findings::add(Finding finding, const FindingRecord& record, std::string_view message) {
  count(1);
  // At the process's end the trace is suspended already.
  recorder_.reopen();
  if (recorder_.on()) {
    TraceEvent event;
    event.kind = TraceKind::finding;
    event.source = job_.rank;
    event.a = static_cast<std::uint32_t>(finding);
    recorder_.record(event);
  }
  FindingRecord counted = record;
  counted.is_counted = 1;
  add_outside(finding, counted, message);
}

void Findings::add_outside(Finding finding, const FindingRecord& record, std::string_view message) const {
  // Findings are rare, so the option is parsed at each of them, and a rank stores no descriptor.
  const std::string text = job_.options.text("findings_fd");
  int descriptor = -1;
  if (text.empty() || !parse_number(std::string_view(text), descriptor)) return;
  append_record(descriptor, job_.options.text("findings_path"), job_.rank, finding, record, message);
}

// Without a rank there are no options, so the variables are read directly.
void record_without_rank(Finding finding, const FindingRecord& record, std::string_view message,
                         std::uint32_t thread_rank) {
  const char* const descriptor_text = std::getenv("MARGAY_FINDINGS_FD");
  const char* const path = std::getenv("MARGAY_FINDINGS_PATH");
  const char* const rank_text = std::getenv("MARGAY_RANK");
  if (descriptor_text == nullptr || rank_text == nullptr) return;
  int descriptor = -1;
  std::uint32_t rank = 0;
  if (!parse_number(std::string_view(descriptor_text), descriptor) ||
      !parse_number(std::string_view(rank_text), rank)) {
    return;
  }
  append_record(descriptor, path == nullptr ? "" : path, rank + thread_rank, finding, record, message);
}

}  // namespace margay::sim
