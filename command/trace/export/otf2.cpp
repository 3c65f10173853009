#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "command/trace/export/otf2_library.hpp"

namespace margay::command {

namespace {

using portals::Status;

// A table of texts by number, in the order of their first use.
class Otf2Strings {
 public:
  OTF2_StringRef of(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, static_cast<OTF2_StringRef>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, OTF2_StringRef> numbers_;
  std::vector<std::string> texts_;
};

enum class RecordKind { enter, send, receive, leave };
// An event of a location. Calls that never ended all end at the rank's last entry, where inner calls leave before outer
// ones.
struct LocationRecord {
  std::size_t at = 0;  // in trace.entries
  RecordKind kind = RecordKind::enter;
  unsigned depth = 0;
  OTF2_RegionRef region = 0;
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  OTF2_StringRef communicator = 0;
};
bool comes_before(const LocationRecord& one, const LocationRecord& other) {
  const auto key = [](const LocationRecord& record) {
    const unsigned order = record.kind == RecordKind::leave ? ~record.depth : 0;
    return std::tuple(record.at, record.kind, order);
  };
  return key(one) < key(other);
}

// Deeper than any call.
constexpr unsigned kWaitDepth = 1U << 16U;
constexpr OTF2_RegionRef kWaitRegion = 0;
constexpr OTF2_AttributeRef kCommunicatorAttribute = 0;
constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;

// The library's first error.
struct Otf2Error {
  std::string sentence;
};
OTF2_ErrorCode record_error(void* user, const char* /*file*/, std::uint64_t /*line*/, const char* /*function*/,
                            OTF2_ErrorCode code, const char* format, va_list arguments) {
  auto* error = static_cast<Otf2Error*>(user);
  constexpr std::size_t kMost = 512;
  std::array<char, kMost> text{};
  if (format != nullptr) static_cast<void>(std::vsnprintf(text.data(), text.size(), format, arguments));
  // Later errors mostly follow from the first one.
  if (error->sentence.empty()) error->sentence = text.data();
  return code;
}

// Called by OTF2 when a buffer is full. Without a flush the events in it would be lost.
OTF2_FlushType always_flush(void* /*user*/, OTF2_FileType /*file*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                            bool /*final*/) {
  return OTF2_FLUSH;
}

// Collects the records of all locations, then writes them location by location, as the library requires.
class Otf2Writer {
 public:
  Otf2Writer(const ExportSource& source, const Otf2Library& library)
      : source_(source), trace_(source.trace), library_(library), timeline_(timeline_of(trace_, source.messages)) {
    library_.register_error(record_error, &error_);
  }
  Otf2Writer(const Otf2Writer&) = delete;
  Otf2Writer& operator=(const Otf2Writer&) = delete;
  // Without this step the library would keep the address of error_ beyond this object's life.
  ~Otf2Writer() { library_.register_error(nullptr, nullptr); }

  // Region 0 is "waiting"; text 0 is empty.
  Status run(const std::vector<MessageStory>& stories, const std::string& folder) {
    strings_.of("");
    region_of("waiting");
    number_locations();
    add_spans();
    for (const MessageStory& story : stories) add_message(story);
    archive_ = library_.archive_open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                                     OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) return failed(folder);
    check(library_.archive_set_flush_callbacks(archive_, &kFlush, nullptr));
    check(library_.archive_set_serial(archive_));
    check(library_.archive_set_creator(archive_, "margay trace export"));
    write_events();
    write_definitions();
    check(library_.archive_close(archive_));
    return first_error_ == OTF2_SUCCESS ? Status() : failed(folder);
  }

 private:
  static constexpr OTF2_FlushCallbacks kFlush{always_flush, nullptr};

  // The first error counts; the writer goes on, since the archive must be closed in any case.
  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS && first_error_ == OTF2_SUCCESS) first_error_ = code;
  }
  [[nodiscard]] Status failed(const std::string& folder) const {
    const std::string why = first_error_ != OTF2_SUCCESS ? library_.describe_error(first_error_) : "";
    return Status::error(fmt::format("trace: {}: OTF2 could not write the archive: {}{}{}", folder, why,
                                     why.empty() || error_.sentence.empty() ? "" : ": ", error_.sentence));
  }

  // Numbers the locations: rank n's first thread is location n, even if rank n has no file. Further threads follow.
  void number_locations() {
    ranks_ = trace_.files.front().size;
    records_.resize(ranks_);
    for (const TimeSpan& call : timeline_.calls) location_of(call.file, call.thread);
    for (const TimeSpan& wait : timeline_.waits) location_of(wait.file, wait.thread);
  }
  std::size_t location_of(std::uint32_t file, std::uint64_t thread) {
    const std::uint32_t rank = trace_.files[file].rank;
    if (thread == 0) return rank;
    const auto [found, is_new] = threads_.try_emplace({rank, thread}, records_.size());
    if (is_new) records_.emplace_back();
    return found->second;
  }
  OTF2_RegionRef region_of(const std::string& name) {
    const auto [found, is_new] = regions_.try_emplace(name, static_cast<OTF2_RegionRef>(regions_.size()));
    return found->second;
  }

  void add_span(const TimeSpan& span, OTF2_RegionRef region, unsigned depth) {
    std::vector<LocationRecord>& records = records_[location_of(span.file, span.thread)];
    records.push_back({.at = span.begin, .kind = RecordKind::enter, .depth = depth, .region = region});
    records.push_back({.at = span.end, .kind = RecordKind::leave, .depth = depth, .region = region});
  }
  void add_spans() {
    for (const TimeSpan& call : timeline_.calls) {
      const std::string name = call_name(trace_.files[call.file], trace_.entries[call.begin].event.a);
      add_span(call, region_of(name), call.depth);
    }
    for (const TimeSpan& wait : timeline_.waits) add_span(wait, kWaitRegion, kWaitDepth);
  }

  void add_message(const MessageStory& story) {
    if (story.sent == MessageStory::kNone) return;
    const Trace::Entry& entry = trace_.entries[story.sent];
    const sim::TraceEvent& event = entry.event;
    const bool is_message = source_.names.is_envelope(entry.file, event.portal) &&
                            event.header == static_cast<std::uint8_t>(portals::Kind::put) &&
                            !source_.names.is_answer(entry.file, event.portal, event.match_bits);
    // A damaged trace may name a rank outside the world.
    if (!is_message || std::max(event.source, event.destination) >= ranks_) return;
    LocationRecord record;
    record.tag = source_.names.program_tag(entry.file, event.match_bits, event.time)
                     .value_or(split_envelope(event.match_bits).tag);
    record.bytes = event.bytes;
    record.communicator = strings_.of(source_.event_text.communicator(entry));
    record.kind = RecordKind::send;
    record.peer = event.destination;
    add_at(story.sent, record);
    if (story.received == MessageStory::kNone) return;
    record.kind = RecordKind::receive;
    record.peer = event.source;
    add_at(story.received, record);
  }
  // An event outside of calls belongs to the rank's first thread.
  void add_at(std::size_t at, LocationRecord record) {
    const std::size_t call = source_.messages.call_around(at);
    record.at = at;
    const std::uint64_t thread = call == MessageStory::kNone ? 0 : trace_.entries[call].event.detail;
    records_[location_of(trace_.entries[at].file, thread)].push_back(record);
  }

  void write_events() {
    check(library_.archive_open_events(archive_));
    OTF2_AttributeList* const attributes = library_.attributes_new();
    for (std::size_t location = 0; location < records_.size(); ++location) {
      std::vector<LocationRecord>& records = records_[location];
      std::stable_sort(records.begin(), records.end(), comes_before);
      OTF2_EvtWriter* const writer = library_.archive_event_writer(archive_, location);
      for (const LocationRecord& record : records) write_record(writer, attributes, record);
      check(library_.archive_close_event_writer(archive_, writer));
    }
    check(library_.attributes_delete(attributes));
    check(library_.archive_close_events(archive_));
    // The library requires a file of definitions for each location, although all definitions are global.
    check(library_.archive_open_definitions(archive_));
    for (std::size_t location = 0; location < records_.size(); ++location) {
      OTF2_DefWriter* const writer = library_.archive_definition_writer(archive_, location);
      check(library_.archive_close_definition_writer(archive_, writer));
    }
    check(library_.archive_close_definitions(archive_));
  }
  void write_record(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, const LocationRecord& record) {
    constexpr OTF2_CommRef kWorld = 0;
    const std::uint64_t time = since_start(trace_, record.at);
    switch (record.kind) {
      case RecordKind::enter:
        return check(library_.enter(writer, nullptr, time, record.region));
      case RecordKind::leave:
        return check(library_.leave(writer, nullptr, time, record.region));
      // Writing the event empties the list of attributes.
      case RecordKind::send:
        check(library_.attributes_add_string(attributes, kCommunicatorAttribute, record.communicator));
        return check(library_.send(writer, attributes, time, record.peer, kWorld, record.tag, record.bytes));
      case RecordKind::receive:
        check(library_.attributes_add_string(attributes, kCommunicatorAttribute, record.communicator));
        return check(library_.receive(writer, attributes, time, record.peer, kWorld, record.tag, record.bytes));
    }
  }

  // Definitions are written last, when all texts have numbers.
  void write_definitions() {
    writer_ = library_.archive_global_writer(archive_);
    const std::uint64_t length = trace_.entries.empty() ? 1 : since_start(trace_, trace_.entries.size() - 1) + 1;
    check(library_.write_clock(writer_, kTicksPerSecond, 0, length, trace_.files.front().started_realtime_ns));
    write_regions();
    write_locations();
    write_world();
  }
  // Returns the number of `content`. Writes all texts that have a number and are not written yet, in the order of their
  // numbers.
  OTF2_StringRef text(const std::string& content) {
    const OTF2_StringRef number = strings_.of(content);
    for (; written_strings_ < strings_.texts().size(); ++written_strings_) {
      check(library_.write_string(writer_, static_cast<OTF2_StringRef>(written_strings_),
                                  strings_.texts()[written_strings_].c_str()));
    }
    return number;
  }
  void write_regions() {
    check(library_.write_attribute(writer_, kCommunicatorAttribute, text("communicator"),
                                   text("the message's communicator"), OTF2_TYPE_STRING));
    // The library requires regions in the order of their numbers.
    std::vector<std::string> names(regions_.size());
    for (const auto& [name, number] : regions_) names[number] = name;
    for (OTF2_RegionRef number = 0; number < names.size(); ++number) {
      const bool is_wait = number == kWaitRegion;
      const OTF2_StringRef name_text = text(names[number]);
      check(library_.write_region(writer_, number, name_text, name_text, text(""),
                                  is_wait ? OTF2_REGION_ROLE_ARTIFICIAL : OTF2_REGION_ROLE_FUNCTION,
                                  is_wait ? OTF2_PARADIGM_MEASUREMENT_SYSTEM : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE,
                                  text(""), 0, 0));
    }
  }
  // Writes the system tree: a machine, its nodes, their ranks.
  void write_locations() {
    check(library_.write_node(writer_, 0, text("margay"), text("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    // By rank.
    std::map<std::uint32_t, std::uint32_t> nodes;
    for (const TraceFile& file : trace_.files) nodes[file.rank] = file.node + 1;
    std::set<std::uint32_t> written;
    for (const auto& [rank, node] : nodes) {
      if (!written.insert(node).second) continue;
      check(library_.write_node(writer_, node, text(fmt::format("node {}", node - 1)), text("node"), 0));
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const auto found = nodes.find(rank);
      const std::string name = fmt::format("rank {}{}", rank, found == nodes.end() ? " (not recorded)" : "");
      check(library_.write_location_group(writer_, rank, text(name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                          found == nodes.end() ? 0 : found->second, OTF2_UNDEFINED_LOCATION_GROUP));
      check(library_.write_location(writer_, rank, text("MPI_Init's thread"), OTF2_LOCATION_TYPE_CPU_THREAD,
                                    records_[rank].size(), rank));
    }
    for (const auto& [thread, location] : threads_) {
      check(library_.write_location(writer_, location, text(fmt::format("thread {}", thread.second)),
                                    OTF2_LOCATION_TYPE_CPU_THREAD, records_[location].size(), thread.first));
    }
  }
  void write_world() {
    std::vector<std::uint64_t> ranks(ranks_);
    std::iota(ranks.begin(), ranks.end(), 0);
    check(library_.write_group(writer_, 0, text(""), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                               OTF2_GROUP_FLAG_NONE, ranks_, ranks.data()));
    check(library_.write_group(writer_, 1, text(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                               OTF2_GROUP_FLAG_NONE, ranks_, ranks.data()));
    check(library_.write_communicator(writer_, 0, text("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  }

  const ExportSource& source_;
  const Trace& trace_;
  const Otf2Library& library_;
  const Timeline timeline_;
  Otf2Error error_;
  OTF2_ErrorCode first_error_ = OTF2_SUCCESS;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* writer_ = nullptr;
  Otf2Strings strings_;
  std::size_t written_strings_ = 0;
  std::map<std::string, OTF2_RegionRef> regions_;
  std::uint32_t ranks_ = 0;
  // By rank and thread: the location.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> threads_;
  // By location.
  std::vector<std::vector<LocationRecord>> records_;
};

}  // namespace

Status write_otf2(const ExportSource& source, const std::vector<MessageStory>& stories, const std::string& folder) {
  // The archive has files for every rank of the run, recorded or not, and a damaged file may claim any number of ranks.
  constexpr std::size_t kMostMissing = 1024;
  const std::vector<TraceFile>& files = source.trace.files;
  if (files.front().size > files.size() + kMostMissing) {
    return Status::error(fmt::format("trace: {}: OTF2 needs the ranks' files, and {} of {} are not in the folder",
                                     files.front().path, files.front().size - files.size(), files.front().size));
  }
  Otf2Library library;
  if (Status status = load_otf2(library); !status.ok()) return status;
  return Otf2Writer(source, library).run(stories, folder);
}

}  // namespace margay::command
