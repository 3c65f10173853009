// Tests of exports in binary formats, from hand-made traces: Perfetto's protocol buffers, packets, OTF2's archive.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "command/trace/export/exports.hpp"
#include "command/trace/export/protobuf.hpp"
#include "sim/wire/frame.hpp"
#include "tests/command/hand_made_trace.hpp"
#include "tests/sim/trace_folder.hpp"

namespace margay::command {

// The write_otf2() of builds without OTF2's headers (tests/command/CMakeLists.txt).
[[nodiscard]] portals::Status write_otf2_absent(const ExportSource& source, const std::vector<MessageStory>& stories,
                                                const std::string& folder);

}  // namespace margay::command

namespace margay::command::test {
namespace {

using namespace std::string_literals;

struct PcapPart {
  std::uint32_t type = 0;
  std::string body;
};
template <typename Number>
Number number_at(const std::string& bytes, std::size_t offset) {
  Number number{};
  REQUIRE(offset + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}
// The blocks of a packet capture. Checks that the two lengths of each are equal, and multiples of four.
std::vector<PcapPart> blocks_of(const std::string& bytes) {
  std::vector<PcapPart> parts;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = number_at<std::uint32_t>(bytes, at + 4);
    REQUIRE_EQ(length % 4, 0);
    REQUIRE(length >= 12);
    REQUIRE_EQ(number_at<std::uint32_t>(bytes, at + length - 4), length);
    parts.push_back({number_at<std::uint32_t>(bytes, at), bytes.substr(at + 8, length - 12)});
    at += length;
  }
  return parts;
}

std::string packets_of(const Trace& trace) {
  const TraceNames names(trace);
  const Messages messages(trace);
  const EventText event_text(trace, names);
  std::ostringstream out;
  write_pcapng({trace, names, messages, event_text}, out);
  return out.str();
}

}  // namespace

TEST_CASE("export: numbers, texts and messages are encoded as protocol buffers") {
  CHECK_EQ(ProtobufMessage().number(1, 150).bytes(), "\x08\x96\x01"s);
  CHECK_EQ(ProtobufMessage().number(1, 0).bytes(), "\x08\x00"s);
  CHECK_EQ(ProtobufMessage().number(1, ~std::uint64_t{0}).bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  CHECK_EQ(ProtobufMessage().text(2, "testing").bytes(), "\x12\x07testing"s);
  CHECK_EQ(ProtobufMessage().fixed64(47, 0x0102).bytes(), "\xf9\x02\x02\x01\0\0\0\0\0\0"s);
  CHECK_EQ(ProtobufMessage().message(3, ProtobufMessage().number(1, 150)).bytes(), "\x1a\x03\x08\x96\x01"s);
}

TEST_CASE("export: Perfetto's packets follow each other, and contain each name once") {
  const made::HandMade made = made::pulled();
  const TraceNames names(made.trace);
  const Messages messages(made.trace);
  const EventText event_text(made.trace, names);
  std::ostringstream out;
  write_perfetto({made.trace, names, messages, event_text}, {messages.story(made::kMessage)}, out);
  const std::string bytes = out.str();
  std::size_t packets = 0;
  for (std::size_t at = 0; at < bytes.size(); ++packets) {
    REQUIRE_EQ(bytes[at++], '\x0a');  // field 1, of a length
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
      REQUIRE(at < bytes.size());
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      length |= std::size_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    at += length;
    REQUIRE(at <= bytes.size());
  }
  // State, 2 processes, 2 threads, a lane, and 2 x 2 ends of calls, 2 of the flow, 2 of the bar.
  CHECK_EQ(packets, 1 + 2 + 2 + 1 + 4 + 2 + 2);
  const std::size_t first = bytes.find("MPI_Send");
  CHECK(first != std::string::npos);
  CHECK_EQ(bytes.find("MPI_Send", first + 1), std::string::npos);
}

TEST_CASE("export: a packet is a note and the head of its message's frame, and counts the body") {
  const made::HandMade made = made::pulled();
  const std::vector<PcapPart> parts = blocks_of(packets_of(made.trace));
  REQUIRE_EQ(parts.size(), 1 + 1 + 4);
  CHECK_EQ(parts[0].type, 0x0a0d0d0a);
  CHECK_EQ(parts[1].type, 1);
  CHECK_EQ(number_at<std::uint16_t>(parts[1].body, 0), kLinkTypeUser0);
  const std::string& put = parts[2].body;
  CHECK_EQ(parts[2].type, 6);
  const auto kept = number_at<std::uint32_t>(put, 12);
  const auto original = number_at<std::uint32_t>(put, 16);
  CHECK_EQ(original, kept + 40000);
  const std::string packet = put.substr(20, kept);
  CHECK_EQ(number_at<std::uint8_t>(packet, 0), kPacketNoteVersion);
  CHECK_EQ(number_at<std::uint8_t>(packet, 2), 3);  // sent and arrived
  CHECK_EQ(number_at<std::uint32_t>(packet, 4), made::kMessage.source);
  CHECK_EQ(number_at<std::uint32_t>(packet, 8), made::kMessage.destination);
  CHECK_EQ(number_at<std::uint64_t>(packet, 24), made::kMessage.sequence);
  CHECK_EQ(number_at<std::uint64_t>(packet, 40), 1000);  // ns in transit
  portals::Header header;
  sim::DecodedHead head;
  const auto bytes = std::as_bytes(std::span(packet)).subspan(kPacketNoteBytes);
  REQUIRE(decode_head(bytes, header, head).verdict == sim::Decode::ok);
  CHECK_EQ(head.bytes, bytes.size());
  CHECK(header.kind == portals::Kind::put);
  CHECK_EQ(header.length, 40000);
  CHECK_EQ(header.match_bits, made::kTag7 | 4);
  // The acknowledgment is sent in the other direction, and names the message to which it belongs.
  const std::string acknowledgment = parts[3].body.substr(20);
  CHECK_EQ(number_at<std::uint32_t>(acknowledgment, 4), made::kAcknowledgment.source);
  CHECK_EQ(number_at<std::uint64_t>(acknowledgment, 24), made::kAcknowledgment.sequence);
  CHECK_EQ(number_at<std::uint32_t>(acknowledgment, 12), made::kMessage.source);
  CHECK_EQ(number_at<std::uint64_t>(acknowledgment, 32), made::kMessage.sequence);
}

TEST_CASE("export: a packet's comment has the sender's name of its communicator, like the story") {
  const std::vector<PcapPart> parts = blocks_of(packets_of(made::renamed_communicator().trace));
  REQUIRE_EQ(parts.size(), 3);
  CHECK(parts[2].body.find("tag 7 from 0 in the sender's") != std::string::npos);
}

TEST_CASE("export: the length of a body of more than 4 GiB is a packet's maximum; each wire is an interface") {
  made::HandMade made;
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 1}, portals::Kind::put, 0, 0).bytes = std::uint64_t{1} << 33U;
  made.add(0, sim::TraceKind::kernel_send, {0, 1, 2}, portals::Kind::put, 0, 0).wire = 2;
  const std::vector<PcapPart> parts = blocks_of(packets_of(made.trace));
  REQUIRE_EQ(parts.size(), 5);
  CHECK_EQ(number_at<std::uint32_t>(parts[2].body, 16), 0xffff'ffff);
  CHECK_EQ(parts[3].type, 1);
  CHECK_EQ(number_at<std::uint32_t>(parts[4].body, 0), 1);
}

TEST_CASE("export: OTF2's archive is written, or a message names the missing package") {
  const made::HandMade made = made::pulled();
  const TraceNames names(made.trace);
  const Messages messages(made.trace);
  const EventText event_text(made.trace, names);
  const ExportSource source{made.trace, names, messages, event_text};
  const sim::TraceFolder folder;
  const portals::Status status = write_otf2(source, {messages.story(made::kMessage)}, folder.path());
  if (!status.ok()) {
    CHECK(status.sentence().find("libopen-trace-format2") != std::string::npos);
    return;
  }
  for (const char* const name : {"traces.otf2", "traces.def", "traces/0.evt", "traces/1.evt"}) {
    CHECK(std::filesystem::exists(folder / name));
  }
  // The archive exists already.
  CHECK_FALSE(write_otf2(source, {}, folder.path()).ok());
}

TEST_CASE("export: a build without OTF2's headers names their package, and writes nothing") {
  const made::HandMade made = made::pulled();
  const TraceNames names(made.trace);
  const Messages messages(made.trace);
  const EventText event_text(made.trace, names);
  const ExportSource source{made.trace, names, messages, event_text};
  const sim::TraceFolder folder;
  const portals::Status status = write_otf2_absent(source, {messages.story(made::kMessage)}, folder.path());
  REQUIRE_FALSE(status.ok());
  CHECK(status.sentence().find("libopen-trace-format2-dev") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace margay::command::test
