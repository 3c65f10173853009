#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "command/trace/export/protobuf.hpp"

namespace margay::command {

namespace {

// Field numbers from perfetto/trace/*.proto.
namespace packet_field {
constexpr std::uint32_t kPacketOfTrace = 1;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInterned = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace packet_field
namespace descriptor_field {
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kProcess = 3;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kPid = 1;          // of the process
constexpr std::uint32_t kProcessName = 6;  // of the process
}  // namespace descriptor_field
namespace event_field {
constexpr std::uint32_t kCategoryIids = 3;
constexpr std::uint32_t kAnnotations = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kNameIid = 10;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kName = 23;
constexpr std::uint32_t kFlows = 47;
constexpr std::uint32_t kTerminatingFlows = 48;
constexpr std::uint64_t kSliceBegin = 1;
constexpr std::uint64_t kSliceEnd = 2;
constexpr std::uint64_t kInstant = 3;
}  // namespace event_field
namespace annotation_field {
constexpr std::uint32_t kNameIid = 1;
constexpr std::uint32_t kNumber = 3;
constexpr std::uint32_t kText = 6;
}  // namespace annotation_field
// InternedData's lists; each element has an iid (1) and a name (2).
constexpr std::uint32_t kInternedCategories = 1;
constexpr std::uint32_t kInternedEventNames = 2;
constexpr std::uint32_t kInternedAnnotationNames = 3;
constexpr std::uint64_t kStateCleared = 1;
constexpr std::uint64_t kNeedsState = 2;
constexpr std::uint64_t kOneSequence = 1;

// Texts that are written once and then referred to by number.
class Interned {
 public:
  // The number of `text`. A new text is added to `described`, which must be written in the packet of its first use.
  std::uint64_t of(std::uint32_t list, const std::string& text, ProtobufMessage& described) {
    const auto [found, is_new] = numbers_[list].try_emplace(text, numbers_[list].size() + 1);
    if (is_new) described.message(list, ProtobufMessage().number(1, found->second).text(2, text));
    return found->second;
  }

 private:
  std::map<std::uint32_t, std::unordered_map<std::string, std::uint64_t>> numbers_;
};

// An event of a track. All moments are collected and then written by time, because the format requires this order
// within a sequence.
struct TrackMoment {
  // Index in trace.entries, which gives the order.
  std::size_t at = 0;
  std::uint64_t track = 0;
  std::uint64_t type = 0;
  std::string category;
  std::string name;
  // The name occurs once and is not interned.
  bool is_own_name = false;
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, std::uint64_t>> numbers;
  // 0: none.
  std::uint64_t flow = 0;
  bool ends_flow = false;
};

// Collects all moments, then writes them in one sequence with interned texts.
class PerfettoWriter {
 public:
  PerfettoWriter(const ExportSource& source, std::ostream& out) : source_(source), trace_(source.trace), out_(out) {}

  void run(const std::vector<MessageStory>& stories) {
    const Timeline timeline = timeline_of(trace_, source_.messages);
    put_packet(ProtobufMessage()
                   .number(packet_field::kSequence, kOneSequence)
                   .number(packet_field::kSequenceFlags, kStateCleared));
    describe_ranks(timeline);
    for (const TimeSpan& call : timeline.calls) add_call(call);
    for (const TimeSpan& wait : timeline.waits) add_span(wait, "wait", "waiting", {});
    for (const std::size_t at : timeline.library_events) add_library_event(at);
    for (const MessageStory& story : stories) add_message(story);
    std::stable_sort(moments_.begin(), moments_.end(),
                     [](const TrackMoment& one, const TrackMoment& other) { return one.at < other.at; });
    for (const TrackMoment& moment : moments_) put_moment(moment);
  }

 private:
  // Track numbers: the upper 32 bits are the file's number plus 1. The lower 32 bits are 0 for the process, from 1 on
  // for threads, and from 2^31 on for lanes.
  static std::uint64_t process_track(std::uint32_t file) { return (std::uint64_t{file} + 1) << 32U; }
  static std::uint64_t thread_track(std::uint32_t file, std::uint64_t thread) {
    return process_track(file) + 1 + (thread & 0x7fff'ffffU);
  }
  static std::uint64_t lane_track(std::uint32_t file, std::size_t lane) {
    return process_track(file) + 0x8000'0000U + (lane & 0x7fff'ffffU);
  }

  // A trace is a sequence of packets in field 1, so packets can be written one by one.
  void put_packet(const ProtobufMessage& packet) {
    const std::string bytes = ProtobufMessage().message(packet_field::kPacketOfTrace, packet).bytes();
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void put_track(const ProtobufMessage& descriptor) {
    put_packet(ProtobufMessage()
                   .number(packet_field::kSequence, kOneSequence)
                   .message(packet_field::kTrackDescriptor, descriptor));
  }

  // Whether process numbers identify the ranks; on a virtual machine they do not.
  [[nodiscard]] bool has_processes() const {
    std::set<std::uint32_t> numbers;
    for (const TraceFile& file : trace_.files) numbers.insert(file.process_id);
    return numbers.size() == trace_.files.size() && !numbers.contains(0);
  }

  // Every rank gets a track, also without calls.
  void describe_ranks(const Timeline& timeline) {
    using namespace descriptor_field;  // NOLINT(google-build-using-namespace): numbers of this file
    const bool own_numbers = has_processes();
    std::set<std::pair<std::uint32_t, std::uint64_t>> threads;
    for (const TimeSpan& call : timeline.calls) threads.emplace(call.file, call.thread);
    for (std::uint32_t i = 0; i < trace_.files.size(); ++i) {
      const TraceFile& file = trace_.files[i];
      threads.emplace(i, 0);
      put_track(
          ProtobufMessage()
              .number(kUuid, process_track(i))
              .message(kProcess, ProtobufMessage()
                                     .number(kPid, own_numbers ? file.process_id : file.rank + 1)
                                     .text(kProcessName, fmt::format("rank {} on node {}", file.rank, file.node))));
    }
    for (const auto& [file, thread] : threads) {
      const std::string name = thread == 0 ? "MPI_Init's thread" : fmt::format("thread {}", thread);
      put_track(ProtobufMessage()
                    .number(kUuid, thread_track(file, thread))
                    .text(kName, name)
                    .number(kParent, process_track(file)));
    }
  }

  void add_span(const TimeSpan& span, std::string category, std::string name,
                std::vector<std::pair<std::string, std::string>> texts) {
    TrackMoment& begin = add(span.begin, thread_track(span.file, span.thread), event_field::kSliceBegin);
    begin.category = std::move(category);
    begin.name = std::move(name);
    begin.texts = std::move(texts);
    // A span without an end event lasts to the end of the trace.
    if (span.ended) add(span.end, thread_track(span.file, span.thread), event_field::kSliceEnd);
  }
  void add_call(const TimeSpan& call) {
    const Trace::Entry& entry = trace_.entries[call.begin];
    std::string name = call_name(trace_.files[call.file], entry.event.a);
    std::vector<std::pair<std::string, std::string>> texts;
    if (std::string site = site_text(source_, entry); !site.empty()) texts.emplace_back("from", std::move(site));
    add_span(call, "call", std::move(name), std::move(texts));
  }

  TrackMoment& add(std::size_t at, std::uint64_t track, std::uint64_t type) {
    TrackMoment& moment = moments_.emplace_back();
    moment.at = at;
    moment.track = track;
    moment.type = type;
    return moment;
  }

  // An instant in the thread whose call recorded entry `at`.
  TrackMoment& add_instant(std::size_t at) {
    return add(at, thread_track(trace_.entries[at].file, thread_of(source_, at)), event_field::kInstant);
  }
  void add_library_event(std::size_t at) {
    const sim::TraceEvent& event = trace_.entries[at].event;
    TrackMoment& moment = add_instant(at);
    moment.category = "library";
    moment.name = source_.event_text.of(trace_.entries[at]);
    moment.is_own_name = true;
    if (event.sequence != 0) moment.texts = {{"message", identity_text(identity(event))}};
  }

  // The lane for a message. Slices of a track must nest, but messages may overlap, so each message takes the first free
  // lane of its rank.
  std::uint64_t lane_of(std::uint32_t file, std::size_t begin, std::size_t end) {
    std::vector<std::size_t>& lanes = lanes_[file];
    std::size_t lane = 0;
    while (lane < lanes.size() && lanes[lane] > begin) ++lane;
    if (lane == lanes.size()) {
      lanes.push_back(0);
      put_track(ProtobufMessage()
                    .number(descriptor_field::kUuid, lane_track(file, lane))
                    .text(descriptor_field::kName, "messages")
                    .number(descriptor_field::kParent, process_track(file)));
    }
    lanes[lane] = end;
    return lane_track(file, lane);
  }

  // Adds one of the two ends of a message's flow: an instant in the thread whose call sends or receives the message.
  void add_flow_end(std::size_t at, const std::string& name, bool is_last) {
    TrackMoment& moment = add_instant(at);
    moment.category = "message";
    moment.name = (is_last ? "receives " : "sends ") + name;
    moment.is_own_name = true;
    moment.flow = flows_;
    moment.ends_flow = is_last;
  }

  // Draws the message as a slice in a lane of the rank that recorded its last event: the receiver, if it arrived.
  void add_message(const MessageStory& story) {
    constexpr std::size_t kNever = MessageStory::kNone;
    const MessageRow row = row_of(source_, story);
    const std::string name = fmt::format("{}>{} #{}", story.identity.source, story.identity.destination,
                                         sim::number_text(story.identity.sequence));
    const std::size_t from = story.sent != kNever ? story.sent : story.steps.front();
    const std::size_t last = story.received != kNever ? story.received : story.arrived;
    const std::size_t to = last != kNever ? std::max(from, last) : std::max(from, story.steps.back());
    ++flows_;
    if (story.sent != kNever) add_flow_end(story.sent, name, false);
    if (last != kNever) add_flow_end(last, name, true);
    const std::uint64_t track = lane_of(trace_.entries[to].file, from, to);
    TrackMoment& begin = add(from, track, event_field::kSliceBegin);
    begin.category = "messages";
    begin.name = name;
    begin.is_own_name = true;
    begin.numbers = {{"bytes", row.bytes}};
    begin.texts = {{"message", identity_text(story.identity)}, {"what", row.what}, {"how", std::string(row.fate)}};
    if (!row.protocol.empty()) begin.texts.emplace_back("protocol", row.protocol);
    if (!row.portal.empty()) begin.texts.emplace_back("portal", row.portal);
    if (!row.wire.empty()) begin.texts.emplace_back("wire", row.wire);
    if (!row.tag.empty()) begin.texts.emplace_back("tag", row.tag);
    add(to, track, event_field::kSliceEnd);
  }

  // New texts are in the same packet as their first use.
  void put_moment(const TrackMoment& moment) {
    using namespace event_field;  // NOLINT(google-build-using-namespace): numbers of this file
    ProtobufMessage described;
    ProtobufMessage event;
    event.number(kType, moment.type).number(kTrack, moment.track);
    if (!moment.category.empty()) {
      event.number(kCategoryIids, interned_.of(kInternedCategories, moment.category, described));
    }
    if (moment.is_own_name) {
      event.text(kName, moment.name);
    } else if (!moment.name.empty()) {
      event.number(kNameIid, interned_.of(kInternedEventNames, moment.name, described));
    }
    for (const auto& [name, value] : moment.texts) {
      event.message(kAnnotations, annotation(name, described).text(annotation_field::kText, value));
    }
    for (const auto& [name, value] : moment.numbers) {
      event.message(kAnnotations, annotation(name, described).number(annotation_field::kNumber, value));
    }
    if (moment.flow != 0) event.fixed64(moment.ends_flow ? kTerminatingFlows : kFlows, moment.flow);
    ProtobufMessage packet;
    packet.number(packet_field::kTimestamp, since_start(trace_, moment.at))
        .number(packet_field::kSequence, kOneSequence)
        .number(packet_field::kSequenceFlags, kNeedsState)
        .message(packet_field::kTrackEvent, event);
    if (!described.bytes().empty()) packet.message(packet_field::kInterned, described);
    put_packet(packet);
  }
  ProtobufMessage annotation(const std::string& name, ProtobufMessage& described) {
    ProtobufMessage annotation;
    annotation.number(annotation_field::kNameIid, interned_.of(kInternedAnnotationNames, name, described));
    return annotation;
  }

  const ExportSource& source_;
  const Trace& trace_;
  std::ostream& out_;
  Interned interned_;
  std::vector<TrackMoment> moments_;
  // By file: the entry at which the last message of each lane ends.
  std::map<std::uint32_t, std::vector<std::size_t>> lanes_;
  std::uint64_t flows_ = 0;
};

}  // namespace

void write_perfetto(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out) {
  PerfettoWriter(source, out).run(stories);
}

}  // namespace margay::command
