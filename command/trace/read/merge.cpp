// read_trace(): merges all files of a folder on one time scale.
#include <dirent.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <future>
#include <queue>
#include <thread>
#include <utility>

#include "command/trace/read/reader.hpp"
#include "sim/base/text.hpp"
#include "sim/trace/tick_scale.hpp"

namespace margay::command {

using portals::Status;

namespace {

Status list_files(const std::string& folder, std::vector<std::string>& paths) {
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) {
    return Status::error(
        fmt::format("trace: {}: cannot read the folder: {}", sim::one_line(folder), std::strerror(errno)));
  }
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name(entry->d_name);
    if (name.starts_with("rank_") && name.ends_with(".trace")) paths.push_back(folder + "/" + std::string(name));
  }
  closedir(directory);
  if (paths.empty()) {
    return Status::error(fmt::format(
        "trace: {}: no rank_*.trace in it: its job is just starting, or none recorded there (`margay run --trace "
        "{} ...` does)",
        sim::one_line(folder), sim::one_line(folder)));
  }
  // readdir() has no order; messages about two files shall be reproducible.
  std::sort(paths.begin(), paths.end());
  return {};
}

// The files are sorted by rank, so only neighbours are compared.
Status check_family(const std::vector<TraceFile>& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    const TraceFile& one = files[i - 1];
    const TraceFile& other = files[i];
    if (one.rank == other.rank) {
      return Status::error(fmt::format("trace: {} and {} are both of rank {}", sim::one_line(one.path),
                                       sim::one_line(other.path), one.rank));
    }
    // The sizes differ where ranks started later.
    if (one.places != other.places) {
      return Status::error(fmt::format("trace: {} is of a run of {} ranks, {} of one of {}: keep one run to a folder",
                                       sim::one_line(one.path), one.places, sim::one_line(other.path), other.places));
    }
    // 0 (unknown) differs from any number: either all files of a run have its number, or none has.
    if (one.job != other.job) {
      return Status::error(fmt::format("trace: {} and {} are of two runs: keep one run to a folder",
                                       sim::one_line(one.path), sim::one_line(other.path)));
    }
  }
  return {};
}

// Gives all files the run's size: the highest of their sizes. A rank that started later may have left no file, but its
// number is in the events of others.
void unify_sizes(std::vector<TraceFile>& files) {
  std::uint32_t size = 0;
  std::uint32_t places = 0;
  for (const TraceFile& file : files) {
    size = std::max(size, file.size);
    places = std::max(places, file.places);
  }
  for (const TraceFile& file : files) {
    if (size == places) break;
    for (const sim::TraceEvent& event : file.events) {
      for (const portals::Rank rank : {event.source, event.destination}) {
        if (rank < places) size = std::max(size, rank + 1);
      }
    }
  }
  for (TraceFile& file : files) file.size = size;
}

sim::TickScale own_scale(const TraceFile& file) {
  return {file.clock, file.first_anchor, file.last_anchor};
}

// Processes of one host read one counter, so the pair of anchors that lies farthest apart in any of their files gives
// the most exact scale for all of them. With one scale the order of events depends on the counter alone, and not on the
// accuracy of each file's anchors.
sim::TickScale best_scale(const std::vector<TraceFile>& files, const TraceFile& file) {
  sim::TickScale best = own_scale(file);
  if (file.clock != sim::ClockKind::tsc || file.host == decltype(file.host){}) return best;
  for (const TraceFile& other : files) {
    if (other.clock != file.clock || other.host != file.host) continue;
    const sim::TickScale scale = own_scale(other);
    if (scale.span_ns() > best.span_ns()) best = scale;
  }
  return best;
}

// The position of an event in the merge. Counters tick faster than nanoseconds, so ticks decide the order of equal
// times within one group (files on one scale). `index` keeps each rank's own order.
struct SortKey {
  std::uint64_t time_ns;
  std::uint32_t group;
  std::uint64_t ticks;
  std::size_t index;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 inside the generated comparison for a pointer.
  friend auto operator<=>(const SortKey&, const SortKey&) = default;
};

std::uint32_t group_of(const std::vector<TraceFile>& files, std::uint32_t file) {
  for (std::uint32_t i = 0; i < file; ++i) {
    if (files[i].clock == files[file].clock && files[i].host == files[file].host) return i;
  }
  return file;
}

// Calls `work` with each number below `count`, on as many threads as there are processors.
template <typename Work>
void on_threads(std::size_t count, const Work& work) {
  const std::size_t threads = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  // Each thread takes every n-th number. Files of one run have similar lengths, so a shared counter would gain little.
  const auto take = [&](std::size_t first) {
    for (std::size_t i = first; i < count; i += threads) work(i);
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, take, i));
  take(0);
  for (std::future<void>& other : others) other.get();
}

// The sorted positions of each file's events. Events are nearly sorted as recorded, so a check precedes the sort.
std::vector<std::vector<SortKey>> keys_of(Trace& trace) {
  std::vector<sim::TickScale> scales;
  for (const TraceFile& file : trace.files) scales.push_back(best_scale(trace.files, file));
  // Positions of each file's events among all.
  std::vector<std::size_t> begin{0};
  for (const TraceFile& file : trace.files) begin.push_back(begin.back() + file.events.size());
  std::vector<std::vector<SortKey>> keys(trace.files.size());
  on_threads(trace.files.size(), [&](std::size_t i) {
    TraceFile& file = trace.files[i];
    const std::uint32_t group = group_of(trace.files, static_cast<std::uint32_t>(i));
    // Names are looked up by the time of an event, so definitions need the same scale.
    for (sim::Definition& definition : file.definitions) definition.time = scales[i].to_ns(definition.time);
    keys[i].reserve(file.events.size());
    for (const sim::TraceEvent& event : file.events) {
      keys[i].push_back({scales[i].to_ns(event.time), group, event.time, begin[i] + keys[i].size()});
    }
    if (!std::is_sorted(keys[i].begin(), keys[i].end())) std::sort(keys[i].begin(), keys[i].end());
  });
  return keys;
}

// Entries are copied in final order, so no second copy of the whole trace is sorted.
void merge_events(Trace& trace) {
  const std::vector<std::vector<SortKey>> keys = keys_of(trace);
  struct Front {
    SortKey key;
    std::uint32_t file;
    // Index in the file's keys.
    std::size_t at;
    // Reversed, so the queue's top is the earliest.
    bool operator<(const Front& other) const { return other.key < key; }
  };
  std::priority_queue<Front> fronts;
  std::vector<std::size_t> begin;
  std::size_t all = 0;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].empty()) fronts.push({keys[i].front(), i, 0});
    begin.push_back(all);
    all += keys[i].size();
  }
  trace.entries.reserve(all);
  while (!fronts.empty()) {
    // A merge of sorted lists: each step costs the logarithm of the number of files.
    const Front front = fronts.top();
    fronts.pop();
    trace.entries.push_back({trace.files[front.file].events[front.key.index - begin[front.file]], front.file});
    trace.entries.back().event.time = front.key.time_ns;
    const std::size_t next = front.at + 1;
    if (next < keys[front.file].size()) fronts.push({keys[front.file][next], front.file, next});
  }
  // Frees the files' events, which are half of a large trace's memory, because `entries` has them now.
  for (TraceFile& file : trace.files) std::vector<sim::TraceEvent>().swap(file.events);
}

// Removes events older than keep_ns before the end of the run. Only the merge can do so, because the run's end is not
// in a single rank's file.
void leave_out_old(Trace& trace) {
  if (trace.entries.empty()) return;
  const std::uint64_t last_ns = trace.entries.back().event.time;
  std::erase_if(trace.entries, [&](const Trace::Entry& entry) {
    TraceFile& file = trace.files[entry.file];
    const bool old = file.keep_ns != 0 && last_ns - entry.event.time > file.keep_ns;
    // Counted as lost too, so that one number suffices for a test whether events are missing.
    if (old) ++file.lost, ++file.left_out;
    return old;
  });
}

// Reads the files of ranks that have begun to record.
Status read_begun(const std::vector<std::string>& paths, Trace& trace) {
  // Files of the other ranks count as absent.
  std::vector<std::string> begun;
  for (const std::string& path : paths) {
    const TraceBeginning beginning = beginning_of(path);
    if (beginning == TraceBeginning::starting) ++trace.starting;
    if (beginning == TraceBeginning::never) ++trace.blank;
    if (beginning == TraceBeginning::begun) begun.push_back(path);
  }
  trace.files.resize(begun.size());
  std::vector<Status> read(begun.size());
  on_threads(begun.size(), [&](std::size_t i) { read[i] = read_trace_file(begun[i], trace.files[i]); });
  for (std::size_t i = begun.size(); i-- > 0;) {
    if (read[i].ok()) continue;
    // A file may disappear between the listing and the read: the launcher removes its test of the folder.
    if (beginning_of(begun[i]) != TraceBeginning::gone) return std::move(read[i]);
    trace.files.erase(trace.files.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // If a rank recorded more while the other files were read, its copy here is not complete: events of the other files
  // may refer to messages that it lacks.
  for (TraceFile& file : trace.files) {
    if (file.closed && has_new_events(file)) file.closed = file.sealed = false;
  }
  return {};
}

// Reads again once if all files are blank.
Status read_files(const std::string& folder, Trace& trace) {
  constexpr timespec kMoment = {0, 50'000'000};
  for (bool again = false;; again = true) {
    trace = Trace();
    std::vector<std::string> paths;
    if (Status status = list_files(folder, paths); !status.ok()) return status;
    if (Status status = read_begun(paths, trace); !status.ok()) return status;
    if (!trace.files.empty()) return {};
    if (trace.blank != paths.size()) {
      return Status::error(fmt::format(
          "trace: {}: its job is starting: no rank has begun to record; try again in a moment", sim::one_line(folder)));
    }
    if (again) {
      return Status::error(
          fmt::format("trace: {}: its ranks were ended before they began to record", sim::one_line(folder)));
    }
    // All files are blank. They may be the launcher's test of the folder, which disappears at once.
    nanosleep(&kMoment, nullptr);
  }
}

}  // namespace

Status read_trace(const std::string& folder, Trace& trace) {
  if (Status status = read_files(folder, trace); !status.ok()) return status;
  std::sort(trace.files.begin(), trace.files.end(),
            [](const TraceFile& one, const TraceFile& other) { return one.rank < other.rank; });
  if (Status status = check_family(trace.files); !status.ok()) return status;
  unify_sizes(trace.files);

  merge_events(trace);
  leave_out_old(trace);
  return {};
}

}  // namespace margay::command
