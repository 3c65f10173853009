// Tests of TCP's sender and receiver without a socket: the test passes the sender's bytes to the receiver, in pieces of
// any length, damaged, or replaced by others.
#include "sim/wire/tcp/tcp_receiver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/wire/tcp/crc32c.hpp"
#include "sim/wire/tcp/tcp_sender.hpp"
#include "tests/sim/wire_harness.hpp"

namespace margay::sim::test {
namespace {

using Bytes = std::vector<std::byte>;

// The receiver's results for a stream.
struct Story {
  std::vector<std::string> events;  // "whole 3", "started 4", "finished", "cut", "lost: why"
  std::deque<Bytes> bodies;
};

struct Reader {
  TcpReceiver receiver{7, {0, 7}, {0, 1}};
  Story story;
  bool refuse = false;
  bool by_backend = false;            // the pieces come out of a backend's buffers
  std::uint64_t straight = 0;         // bytes that were read directly into a landing
  std::uint64_t reported_copied = 0;  // bytes of bodies copied by the receiver, by its own count
  std::size_t copied_twice = 0;

  // Passes `bytes` in pieces of `piece`, and takes arrivals after each.
  void give(std::span<const std::byte> bytes, const std::function<std::size_t()>& piece) {
    while (!bytes.empty()) {
      const std::size_t now = std::min(bytes.size(), piece());
      give_piece(bytes.first(now));
      bytes = bytes.subspan(now);
    }
  }
  void give_piece(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      std::array<iovec, kTargetsMax> pieces;
      const std::size_t count = receiver.targets(pieces);
      if (count == 0) return take();  // ended
      std::size_t given = 0;
      for (std::size_t i = 0; i < count && !bytes.empty(); ++i) {
        const std::size_t here = std::min(bytes.size(), pieces[i].iov_len);
        std::memcpy(pieces[i].iov_base, bytes.data(), here);
        if (lands(pieces[i].iov_base)) straight += here;
        bytes = bytes.subspan(here);
        given += here;
      }
      receiver.commit(given, by_backend);
      take();
    }
  }
  [[nodiscard]] bool lands(const void* at) const {
    const auto* byte = static_cast<const std::byte*>(at);
    return std::ranges::any_of(story.bodies, [byte](const Bytes& body) {
      return !body.empty() && byte >= body.data() && byte < body.data() + body.size();
    });
  }
  void end() {
    receiver.end({});
    take();
  }
  void take() {
    Arrival arrival;
    while (receiver.next(arrival)) {
      CHECK_EQ(arrival.peer, 7);
      switch (arrival.kind) {
        case Arrival::Kind::whole: {
          story.events.push_back("whole " + std::to_string(arrival.sequence));
          Bytes& body = story.bodies.emplace_back(arrival.header.length);
          portals::RegionCursor(arrival.body).read(body);
          receiver.consume();
          reported_copied += receiver.copied_bytes();
          copied_twice += receiver.copied_twice();
          break;
        }
        case Arrival::Kind::started: {
          story.events.push_back("started " + std::to_string(arrival.sequence));
          if (refuse) {
            receiver.refuse();
            break;
          }
          Bytes& body = story.bodies.emplace_back(arrival.header.length);
          receiver.accept(portals::Region(body.data(), body.size()), &body);
          break;
        }
        case Arrival::Kind::finished:
          story.events.push_back("finished");
          reported_copied += receiver.copied_bytes();
          break;
        case Arrival::Kind::cut:
          story.events.push_back("cut");
          break;
        case Arrival::Kind::lost:
        case Arrival::Kind::left:
          story.events.push_back("lost: " + std::string(arrival.loss));
          break;
      }
    }
  }
};

// The bytes that `sender` has to send, and the ends of its transmissions.
Bytes all_of(
    TcpSender& sender, const std::function<void()>& between = [] {}) {
  Bytes stream;
  for (auto batch = sender.batch(); !batch.empty(); batch = sender.batch()) {
    std::size_t bytes = 0;
    for (const iovec& piece : batch) {
      const auto* from = static_cast<const std::byte*>(piece.iov_base);
      stream.insert(stream.end(), from, from + piece.iov_len);
      bytes += piece.iov_len;
    }
    sender.sent(bytes);
    between();
  }
  return stream;
}

void put(TcpSender& sender, std::uint64_t number, std::size_t bytes) {
  Bytes body = pattern_body(number, bytes);
  portals::Header header;
  header.match_bits = number;
  header.length = bytes;
  REQUIRE(sender.try_put(header, portals::Region(body.data(), body.size())));
}

void queue(TcpSender& sender, Outgoing& out, std::uint64_t number, std::size_t bytes) {
  out.body = pattern_body(number, bytes);
  out.transmission.header.match_bits = number;
  out.transmission.header.length = bytes;
  out.transmission.body = portals::Region(out.body.data(), out.body.size());
  sender.queue(out.transmission);
}

// Two short messages, one of several segments, another short one, the goodbye.
Bytes small_stream() {
  TransmissionList finished;
  TcpSender sender(finished);
  Outgoing long_one;
  put(sender, 1, 0);
  put(sender, 2, 33);
  queue(sender, long_one, 3, kWholeBytes + 1);
  Outgoing last;
  queue(sender, last, 4, 5);
  sender.send_goodbye();
  Bytes stream = all_of(sender);
  CHECK(long_one.transmission.state == Transmission::State::sent);
  CHECK(finished.pop() == &long_one.transmission);
  CHECK(finished.pop() == &last.transmission);
  CHECK(sender.idle());
  return stream;
}

const std::vector<std::string> kSmallStory = {"whole 1", "whole 2", "started 3", "finished", "whole 4"};

void check_small(const Story& story) {
  CHECK(story.events == kSmallStory);
  REQUIRE_EQ(story.bodies.size(), 4);
  const std::size_t sizes[] = {0, 33, kWholeBytes + 1, 5};
  for (std::size_t i = 0; i < 4; ++i) CHECK(story.bodies[i] == pattern_body(i + 1, sizes[i]));
}

TEST_CASE("tcp stream: it is read in one piece, in single bytes, in random pieces") {
  const Bytes stream = small_stream();
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    Reader reader;
    const std::size_t most = round == 0 ? 1 : round == 1 ? stream.size() : 1 + random() % 5000;
    reader.give(stream, [&] { return most == 1 || most == stream.size() ? most : 1 + random() % most; });
    reader.end();
    check_small(reader.story);
    CHECK(reader.receiver.left());
  }
}

TEST_CASE("tcp stream: it is read if split at any offset near a frame's edges") {
  const Bytes stream = small_stream();
  for (std::size_t at = 1; at < stream.size(); at += at < 300 || at + 300 > stream.size() ? 1 : 97) {
    Reader reader;
    reader.give_piece(std::span(stream).first(at));
    reader.give_piece(std::span(stream).subspan(at));
    reader.end();
    CAPTURE(at);
    check_small(reader.story);
  }
}

TEST_CASE("tcp stream: a truncation at any offset is reported as a loss, after all complete messages") {
  const Bytes stream = small_stream();
  for (std::size_t at = 0; at < stream.size(); at += at < 300 || at + 300 > stream.size() ? 1 : 997) {
    Reader reader;
    reader.give_piece(std::span(stream).first(at));
    reader.end();
    CAPTURE(at);
    REQUIRE_FALSE(reader.story.events.empty());
    const std::string last = reader.story.events.back();
    CHECK(last.starts_with("lost: its connection ended"));
    reader.story.events.pop_back();
    if (!reader.story.events.empty() && reader.story.events.back() == "cut") reader.story.events.pop_back();
    REQUIRE(reader.story.events.size() <= kSmallStory.size());
    CHECK(std::equal(reader.story.events.begin(), reader.story.events.end(), kSmallStory.begin()));
  }
}

TEST_CASE("tcp stream: a flipped bit anywhere is detected, and no damaged message counts as complete") {
  const Bytes stream = small_stream();
  std::mt19937_64 random(6);
  for (std::size_t at = 0; at < stream.size(); at += at < 400 || at + 200 > stream.size() ? 1 : 501) {
    Bytes damaged = stream;
    damaged[at] ^= static_cast<std::byte>(1U << random() % 8);
    Reader reader;
    reader.give(damaged, [&] { return 1 + random() % 3000; });
    CAPTURE(at);
    // The damage is detected before the end of the stream, so the receiver does not wait for a remainder.
    REQUIRE_FALSE(reader.story.events.empty());
    CHECK(reader.story.events.back().starts_with("lost: "));
    for (std::size_t i = 0; i + 1 < reader.story.events.size(); ++i) {
      if (reader.story.events[i] != "cut") CHECK_EQ(reader.story.events[i], kSmallStory[i]);
    }
  }
}

// A frame with the right checksum for any head and content.
Bytes made_up(std::span<const std::byte> head, std::span<const std::byte> content, std::uint32_t content_bytes) {
  FramePrefix prefix;
  prefix.head_bytes = static_cast<std::uint32_t>(head.size());
  prefix.content_bytes = content_bytes;
  prefix.crc = crc32c(content, crc32c(head));
  Bytes frame(kPrefixBytes);
  write_prefix(prefix, frame.data());
  frame.insert(frame.end(), head.begin(), head.end());
  frame.insert(frame.end(), content.begin(), content.end());
  return frame;
}

Bytes control(FrameType type, std::uint64_t argument, std::size_t content = 0) {
  std::array<std::byte, kFrameHeadMaxBytes> head{};
  const std::size_t bytes = write_control(type, argument, head.data());
  return made_up(std::span(head).first(bytes), Bytes(content), static_cast<std::uint32_t>(content));
}

Bytes message(std::uint64_t length, std::size_t content) {
  std::array<std::byte, kFrameHeadMaxBytes> head{};
  portals::Header header;
  header.length = length;
  const std::size_t bytes = write_head(header, head.data());
  return made_up(std::span(head).first(bytes), Bytes(content), static_cast<std::uint32_t>(content));
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_CASE("tcp stream: it returns the number of copied bytes of each body") {
  const Bytes stream = small_stream();
  constexpr std::uint64_t kBodies = 33 + kWholeBytes + 1 + 5;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{700}, stream.size()}) {
    Reader reader;
    reader.give(stream, [piece] { return piece; });
    check_small(reader.story);
    CHECK_EQ(reader.straight > 0, piece != stream.size());  // a complete stream is read ahead
    CHECK_EQ(reader.reported_copied, kBodies - reader.straight);
    CHECK_EQ(reader.copied_twice, 0);
    // From a backend's buffers every byte is copied, also those that are read into a landing.
    Reader provided;
    provided.by_backend = true;
    provided.give(stream, [piece] { return piece; });
    CHECK_EQ(provided.reported_copied, kBodies);
    CHECK_EQ(provided.copied_twice, 3);  // those that arrived whole
  }
}

// A process that rests between two parts of its program may end without another message; one that works again may not.
TEST_CASE("tcp stream: a message takes the goodbye back, and while the sender rests a goodbye follows it again") {
  TransmissionList finished;
  TcpSender sender(finished);
  Reader rested, again, inside;
  const auto say = [&](std::uint64_t number) {
    if (number != 0) put(sender, number, 5);
    const Bytes stream = all_of(sender);
    rested.give_piece(stream);
    again.give_piece(stream);
    if (number != 3) inside.give_piece(stream);
    return stream.size();
  };
  sender.send_goodbye();
  CHECK_FALSE(sender.idle());
  say(1);
  CHECK(sender.idle());
  CHECK(rested.receiver.left());
  sender.send_goodbye();
  CHECK(sender.idle());
  CHECK_EQ(say(0), 0);  // sent, and nothing since
  say(2);
  CHECK(rested.receiver.left());
  for (Reader* const reader : {&rested, &inside}) CHECK(reader->receiver.left());
  rested.end();
  CHECK(rested.story.events == std::vector<std::string>{"whole 1", "whole 2"});
  sender.go_on();
  CHECK(sender.idle());
  say(3);
  CHECK_FALSE(again.receiver.left());
  again.end();
  REQUIRE_EQ(again.story.events.size(), 4);
  CHECK_EQ(again.story.events.back(), "lost: its connection ended without a goodbye");
  // The sender continued, and ended in the middle of a message.
  put(sender, 4, 5);
  const Bytes stream = all_of(sender);
  inside.give_piece(std::span(stream).first(stream.size() / 2));
  inside.end();
  CHECK_EQ(inside.story.events.back(), "lost: its connection ended inside a frame");
}

TEST_CASE("tcp stream: invalid frames end the connection") {
  const Bytes start = message(100'000, 0);
  const Bytes streams[] = {
      control(FrameType::segment, 10, 10),                             // no body is in progress
      control(FrameType::cut, 0),                                      //
      control(static_cast<FrameType>(kFrameTypeCount), 1),             // an invalid kind
      control(FrameType::goodbye, 1),                                  // there was no message
      message(8, 7),                                                   // content and length differ
      message(7, 8),                                                   //
      message(100'000, 8),                                             //
      joined({start, message(0, 0)}),                                  // inside a body
      joined({start, control(FrameType::goodbye, 1)}),                 //
      joined({start, control(FrameType::segment, 0, 0)}),              //
      joined({start, control(FrameType::segment, 9, 10)}),             //
      joined({start, control(FrameType::segment, 100'001, 100'001)}),  //
      joined({start, control(FrameType::cut, 1)}),                     // no byte of the body arrived
      joined({control(FrameType::goodbye, 0), control(FrameType::goodbye, 0)}),
      joined({control(FrameType::goodbye, 0), message(0, 0), control(FrameType::goodbye, 0)}),  // there was one message
  };
  for (std::size_t i = 0; i < std::size(streams); ++i) {
    CAPTURE(i);
    Reader reader;
    reader.give_piece(streams[i]);
    REQUIRE_FALSE(reader.story.events.empty());
    CHECK(reader.story.events.back().starts_with("lost: "));
    CHECK(reader.receiver.ended());
  }
  FramePrefix prefix;
  for (const std::uint32_t head : {0U, 1U, 15U, 65U, 0x7fff'ffffU, 0xffff'ffffU}) {
    prefix.head_bytes = head;
    Bytes frame(kPrefixBytes);
    write_prefix(prefix, frame.data());
    Reader reader;
    reader.give_piece(frame);
    CHECK_EQ(reader.story.events.size(), 1);
  }
  prefix.head_bytes = kFrameHeadMinBytes;
  for (const std::uint32_t content : {std::uint32_t{kSegmentBytes} + 1, 0x8000'0000U, 0xffff'ffffU}) {
    prefix.content_bytes = content;
    Bytes frame(kPrefixBytes);
    write_prefix(prefix, frame.data());
    Reader reader;
    reader.give_piece(frame);
    CHECK_EQ(reader.story.events.size(), 1);
  }
}

TEST_CASE("tcp stream: a stop replaces the next segment") {
  for (const bool refuse : {false, true}) {
    TransmissionList finished;
    TcpSender sender(finished);
    Outgoing stopped;
    Outgoing after;
    queue(sender, stopped, 1, 5 * kSegmentBytes);
    queue(sender, after, 2, 9);
    int batches = 0;
    const Bytes stream = all_of(sender, [&] {
      if (++batches == 2) sender.stop(stopped.transmission);
    });
    CHECK(stopped.transmission.state == Transmission::State::stopped);
    CHECK(stream.size() < 3 * kSegmentBytes);
    Reader reader;
    reader.refuse = refuse;
    reader.give(stream, [] { return 10'000; });
    const std::vector<std::string> reported = refuse ? std::vector<std::string>{"started 1", "whole 2"}
                                                     : std::vector<std::string>{"started 1", "cut", "whole 2"};
    CHECK(reader.story.events == reported);
    CHECK(reader.story.bodies.back() == pattern_body(2, 9));
  }
}

TEST_CASE("tcp stream: a batch may be sent in parts, and its memory is free only after its last byte") {
  TransmissionList finished;
  TcpSender sender(finished);
  Outgoing out;
  put(sender, 1, 100);
  queue(sender, out, 2, 50'000);
  Bytes stream;
  std::mt19937_64 random(8);
  for (auto batch = sender.batch(); !batch.empty(); batch = sender.batch()) {
    CHECK(finished.empty());
    std::size_t now = 1 + random() % 700;
    std::size_t sent = 0;
    for (const iovec& piece : batch) {
      const std::size_t here = std::min(now - sent, piece.iov_len);
      const auto* from = static_cast<const std::byte*>(piece.iov_base);
      stream.insert(stream.end(), from, from + here);
      sent += here;
    }
    sender.sent(sent);
  }
  CHECK(finished.pop() == &out.transmission);
  Reader reader;
  reader.give_piece(stream);
  CHECK(reader.story.events == std::vector<std::string>{"whole 1", "whole 2"});
  CHECK(reader.story.bodies[1] == pattern_body(2, 50'000));
}

}  // namespace
}  // namespace margay::sim::test
