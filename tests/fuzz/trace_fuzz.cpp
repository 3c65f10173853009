// A libFuzzer target for the reader of trace files, and for all uses that `margay trace` makes of an accepted file, its
// page included with "page". The input is a file without its gaps: 208 bytes of header, 64 of the table of names, 256
// of definitions, then the ring of events. A file with any checksum gets the right one, because no mutation would find
// it. Corpus: tests/fuzz/trace_corpus.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>

#include "portals/base/assert.hpp"
#ifdef MARGAY_FUZZ_PAGE
#include "command/trace/page/page.hpp"
#endif
#include "command/trace/audit.hpp"
#include "command/trace/names/text.hpp"
#include "command/trace/read/filter.hpp"
#include "command/trace/read/reader.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/fate.hpp"
#include "command/trace/story/format.hpp"
#include "sim/trace/format.hpp"
#include "tests/command/sealed_trace.hpp"

namespace {

using namespace margay::command;
using namespace margay::sim;

// A folder with one file, deleted with the object.
class Folder {
 public:
  Folder() {
    MARGAY_ASSERT(::mkdtemp(path_.data()) != nullptr);
    file_ = path_ + "/rank_00000.trace";
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    MARGAY_ASSERT(descriptor_ >= 0);
  }
  ~Folder() {
    ::unlink(file_.c_str());
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

  void store(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t kNameBytes = 64;
    constexpr std::size_t kDefinitionBytes = 256;
    MARGAY_ASSERT(::ftruncate(descriptor_, 0) == 0);
    const auto part = [&](std::size_t most, std::uint64_t offset) {
      const std::span now = bytes.first(std::min(most, bytes.size()));
      MARGAY_ASSERT(::pwrite(descriptor_, now.data(), now.size(), static_cast<off_t>(offset)) ==
                    static_cast<ssize_t>(now.size()));
      bytes = bytes.subspan(now.size());
    };
    part(sizeof(TraceHeader), 0);
    if (!bytes.empty()) part(kNameBytes, kTraceNamesOffset);
    if (!bytes.empty()) part(kDefinitionBytes, kTraceDefinitionsOffset);
    if (!bytes.empty()) part(bytes.size(), kTraceEventsOffset);
    TraceHeader header{};
    const bool has_header = ::pread(descriptor_, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
    if (has_header && header.checksum != 0) margay::command::test::seal(file_);
  }

 private:
  std::string path_ = "/tmp/margay_trace_fuzz_XXXXXX";
  std::string file_;
  int descriptor_ = -1;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static Folder folder;
  folder.store({data, bytes});
  TraceFile file;
  const margay::portals::Status status = read_trace_file(folder.path() + "/rank_00000.trace", file);
  Trace trace;
  const margay::portals::Status whole = read_trace(folder.path(), trace);
  MARGAY_ASSERT(status.ok() == whole.ok() && (status.ok() || !status.sentence().empty()));
  if (!status.ok()) return 0;
  MARGAY_ASSERT(file.written == file.lost + file.events.size());
  const auto is_line = [](const std::string& text) {
    return text.size() < 4000 && text.find('\n') == std::string::npos;
  };
  const TraceNames names(trace);
  const EventText event_text(trace, names);
  for (const std::size_t i : pick(trace, {})) {
    MARGAY_ASSERT(is_line(text_line(trace, trace.entries[i], 0, nullptr)) && is_line(event_text.of(trace.entries[i])));
  }
  const Messages messages(trace);
  for (const MessageIdentity& root : messages.roots()) {
    MARGAY_ASSERT(!format_story(trace, messages, event_text, messages.story(root)).empty());
  }
  const Collectives collectives(trace, names);
  const EventText with_collectives(trace, names, {}, &collectives);
  for (const Trace::Entry& entry : trace.entries) MARGAY_ASSERT(is_line(with_collectives.of(entry)));
#ifdef MARGAY_FUZZ_PAGE
  if (!trace.entries.empty()) {
    std::ostringstream page;
    const PageInput input{trace, names, messages, collectives, with_collectives, {}};
    MARGAY_ASSERT(write_page("<!-- margay:data -->\n", input, "a trace", {}, page).ok());
  }
#endif
  static_cast<void>(missing_steps(trace, names, messages));
  static_cast<void>(audit(trace));
  return 0;
}
