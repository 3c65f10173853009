#include "command/trace/trace_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "command/trace/common.hpp"
#include "command/trace/diff/difference.hpp"
#include "command/trace/export_output.hpp"
#include "command/trace/page/page.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

using portals::Status;

struct ViewOptions {
  std::string folder;
  // The page's path; "-" is standard output, and empty stands for page_of(folder).
  std::string output;
  // The folder of another run, to compare with; "": none.
  std::string other;
};

// The default page: "traces/heat/" is written to traces/heat.html; "." to a page with the folder's name, in its parent
// folder.
std::string page_of(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(folder, error);
  std::string path = folder;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string last = std::filesystem::path(path).filename().string();
  if ((last == "." || last == "..") && !error) path = whole.string();
  return path + ".html";
}

// A line of progress on a terminal, since large traces take a while; erased at the end.
class ProgressLine {
 public:
  ProgressLine() : shown_(isatty(STDERR_FILENO) == 1) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { say(""); }
  void say(std::string_view text) const {
    if (shown_) fmt::print(stderr, "\r\033[K{}", text);
  }

 private:
  bool shown_;
};

// A call-site resolver that threads may share: stories are formatted by several threads, but libdw serves one at a
// time. Resolves each address once.
CallSite for_threads(const CallSite& call_site) {
  if (!call_site) return {};
  struct Known {
    std::mutex mutex;
    std::map<std::pair<std::string, std::uint64_t>, std::string> sites;  // by module and address
  };
  return [call_site, known = std::make_shared<Known>()](const sim::Definition& module, std::uint64_t address) {
    const std::lock_guard lock(known->mutex);
    const auto [found, is_new] = known->sites.try_emplace({module.text, address});
    if (is_new) found->second = call_site(module, address);
    return found->second;
  };
}

// The page replaces an older one only when it is complete.
void write_view(const ViewOptions& options, const CallSite& slow_call_site, std::string_view page) {
  if (page.empty()) {
    fail_trace(
        Status::error("trace view: this margay was built without its page: install nodejs and npm, and configure and "
                      "build it again"));
  }
  const ProgressLine progress;
  // Without the erasure the sentence would follow the progress on the same line.
  const auto fail = [&](const Status& status) {
    progress.say("");
    fail_trace(status);
  };
  const auto read = [&](const std::string& folder, Trace& into) {
    progress.say(sim::printable(fmt::format("reading {} ...", folder)));
    if (Status status = read_trace(folder, into); !status.ok()) fail(status);
  };
  RunSums other;
  if (!options.other.empty()) {
    Trace compared;
    read(options.other, compared);
    other = sums_of(options.other, compared);
  }
  Trace trace;
  read(options.folder, trace);
  if (trace.entries.empty()) {
    fail(Status::error(
        fmt::format("trace view: {}: the trace has no events, so there is nothing to show", options.folder)));
  }
  const CallSite call_site = for_threads(slow_call_site);
  const TraceNames names(trace, wire_text);
  const Messages messages(trace);
  const Collectives collectives(trace, names);
  const EventText event_text(trace, names, call_site, &collectives);
  progress.say(fmt::format("laying out {} ...", sim::counted(trace.entries.size(), "event")));
  const std::string path = options.output.empty() ? page_of(options.folder) : options.output;
  ExportOutput output;
  // The output is opened before the page is built, so that a path that cannot be written is reported without a long
  // wait.
  if (Status status = output.open(path); !status.ok()) fail(status);
  PageInput input{trace, names, messages, collectives, event_text, call_site};
  if (!options.other.empty()) {
    progress.say("comparing ...");
    input.difference = difference_json(compare(sums_of(options.folder, trace), std::move(other)));
  }
  const auto on_progress = [&](std::size_t done, std::size_t all) {
    progress.say(fmt::format("writing {}: {} % ...", sim::counted(all, "story", "stories"), 100 * done / all));
  };
  if (Status status = write_page(page, input, options.folder, on_progress, output.stream()); !status.ok()) fail(status);
  if (Status status = output.close(); !status.ok()) fail(status);
  // Standard output has the page, so no sentence may follow it.
  if (path == "-") return;
  progress.say("");
  put_line(fmt::format("{}: {}; open it in a browser", sim::for_terminal(path),
                       sim::counted(messages.roots().size(), "message")));
  finish_output();
}

}  // namespace

void add_trace_view(CLI::App& trace, const CallSite& call_site, std::string_view page) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App* view =
      trace.add_subcommand("view", "write the trace as one HTML page: timeline, stories, match lists, ...");
  view->add_option("folder", options->folder, "the folder of --trace")->required();
  view->add_option("-o,--output", options->output, "the page (default: FOLDER.html)");
  view->add_option("--compare", options->other, "the folder of another run, to show the difference");
  view->callback([options, call_site, page] { write_view(*options, call_site, page); });
}

}  // namespace margay::command
