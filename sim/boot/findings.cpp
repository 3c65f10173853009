#include "sim/boot/findings.hpp"

#include <unistd.h>

#include <string>

#include "sim/base/clock.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/parse.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {

std::string id_suffix(Finding finding) {
  return " [" + std::string(finding_id(finding)) + "]";
}

void set_site(FindingRecord& record, std::string_view behind_call) {
  constexpr std::size_t kAround = 3;  // " (" and ")"
  if (behind_call.size() > kAround) set_text(record.site, behind_call.substr(2, behind_call.size() - kAround));
}

void Findings::add(Finding finding, FindingRecord record, std::string_view message) {
  count(1);
  if (recorder_.on()) {
    TraceEvent event;
    event.kind = TraceKind::finding;
    event.source = job_.rank;
    event.a = static_cast<std::uint32_t>(finding);
    recorder_.record(event);
  }
  // Findings are rare, so the option is parsed at each of them, and a rank stores no descriptor.
  const std::string text = job_.options.text("findings_fd");
  int descriptor = -1;
  if (text.empty() || !parse_number(std::string_view(text), descriptor)) return;
  record.finding = static_cast<std::uint32_t>(finding);
  record.rank = job_.rank;
  record.time_ns = real_clock().now_ns();
  set_text(record.message, message);
  // A short write (no memory left) leaves a truncated record, which the launcher ignores and counts as not listed.
  static_cast<void>(::write(descriptor, &record, sizeof record));
}

}  // namespace margay::sim
