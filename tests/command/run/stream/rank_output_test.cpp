#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "command/run/stream/output_sink.hpp"
#include "command/run/stream/poller.hpp"
#include "command/run/stream/rank_output.hpp"

using margay::command::LineBuffer;
using margay::command::OutputSink;

TEST_CASE("whole lines are passed on at once, a partial one after a while, all of them at the end") {
  LineBuffer buffer;
  buffer.add("one\ntwo\nthr", 0);
  CHECK(buffer.take_ready(0) == "one\ntwo\n");
  CHECK(buffer.take_ready(LineBuffer::kPromptAfterNs - 1).empty());
  CHECK(buffer.deadline_ns() == LineBuffer::kPromptAfterNs);
  buffer.add("ee", 1000);
  CHECK(buffer.take_ready(LineBuffer::kPromptAfterNs).empty());  // more arrived meanwhile
  CHECK(buffer.take_ready(1000 + LineBuffer::kPromptAfterNs) == "three");
  CHECK(buffer.deadline_ns() == -1);
  buffer.add("rest", 0);
  CHECK(buffer.take_rest() == "rest");
  CHECK(buffer.take_rest().empty());
}

TEST_CASE("a large piece with a line's end in it keeps its partial line") {
  LineBuffer buffer;
  buffer.add(std::string(LineBuffer::kMaxPartialBytes, 'x') + "\nhalf", 0);
  CHECK(buffer.take_ready(0).size() == LineBuffer::kMaxPartialBytes + 1);
  CHECK(buffer.take_rest() == "half");
}

// A rank that prints a long line and waits in MPI_Finalize leaves the line's end in its own buffer.
TEST_CASE("a stream that ends where the writer's buffer was full is in the middle of a line") {
  LineBuffer buffer;
  buffer.add("whole\n" + std::string(LineBuffer::kWriterBufferBytes - 6, 'x'), 0);
  CHECK(buffer.take_ready(0) == "whole\n");
  CHECK(buffer.take_ready(20 * LineBuffer::kPromptAfterNs).empty());
  CHECK(buffer.deadline_ns() == LineBuffer::kMidLineAfterNs);
  buffer.add("prompt> ", 1000);
  CHECK(buffer.deadline_ns() == 1000 + LineBuffer::kPromptAfterNs);
  CHECK(buffer.take_ready(1000 + LineBuffer::kPromptAfterNs).size() == LineBuffer::kWriterBufferBytes + 2);
  buffer.add(std::string(LineBuffer::kWriterBufferBytes - 8, 'x'), 0);
  CHECK(buffer.take_ready(LineBuffer::kMidLineAfterNs).size() == LineBuffer::kWriterBufferBytes - 8);
}

TEST_CASE("a line without an end is not held for ever") {
  LineBuffer buffer;
  buffer.add(std::string(LineBuffer::kMaxPartialBytes + 1, 'x'), 0);
  CHECK(buffer.take_ready(0).size() == LineBuffer::kMaxPartialBytes + 1);
}

namespace {

struct Pipe {
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  ~Pipe() {
    close_read();
    ::close(ends[1]);
  }
  void close_read() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  std::string read_all() {
    std::string text;
    char bytes[4096];
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (ssize_t count = 0; (count = ::read(ends[0], bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
    return text;
  }
  int ends[2] = {-1, -1};
};

}  // namespace

TEST_CASE("lines of ranks are labelled and never share a line") {
  Pipe pipe;
  OutputSink sink(pipe.ends[1], "[%r] ");
  sink.add(0, "a\nb\n");
  sink.add(1, "prompt> ");
  sink.add(1, "answer\n");
  sink.add(0, "half");
  sink.add(1, "whole\n");
  sink.add(0, "other half\n");
  sink.add(2, "open");
  sink.add_notice("margay: notice");
  CHECK(sink.flush());
  CHECK(pipe.read_all() ==
        "[0] a\n[0] b\n[1] prompt> answer\n[0] half\n[1] whole\n[0] other half\n[2] open\nmargay: notice\n");
}

TEST_CASE("the label of a process whose ranks are threads names all of them") {
  Pipe pipe;
  OutputSink sink(pipe.ends[1], "[%r] ", 4);
  sink.add(4, "a\n");
  CHECK(sink.flush());
  CHECK(pipe.read_all() == "[4-7] a\n");
  CHECK(margay::command::fill_pattern("out.%r", 8, 2) == "out.8-9");
}

TEST_CASE("without labels a single rank's bytes pass unchanged") {
  Pipe pipe;
  OutputSink sink(pipe.ends[1], "");
  sink.add(0, std::string("\0\x01\n\n x", 6));
  sink.add(0, "y");
  CHECK(sink.flush());
  CHECK(pipe.read_all() == std::string("\0\x01\n\n xy", 7));
}

TEST_CASE("a full pipe blocks nothing, and nothing is lost") {
  Pipe pipe;
  OutputSink sink(pipe.ends[1], "");
  std::string all;
  for (int i = 0; i < 40000; ++i) {
    const std::string line = "line " + std::to_string(i) + " of forty thousand\n";
    all += line;
    sink.add(0, line);
  }
  CHECK(sink.is_full());
  CHECK(sink.flush());
  CHECK_FALSE(sink.empty());
  std::string got = pipe.read_all();
  while (!sink.empty()) {
    CHECK(sink.flush());
    got += pipe.read_all();
  }
  CHECK(got == all);
}

TEST_CASE("a reader that has closed its pipe is detected and costs no memory") {
  Pipe pipe;
  OutputSink sink(pipe.ends[1], "");
  ::signal(SIGPIPE, SIG_IGN);
  pipe.close_read();
  sink.add(0, "lost\n");
  CHECK_FALSE(sink.flush());
  CHECK(sink.has_failed());
  CHECK(sink.write_error() == EPIPE);
  sink.add(0, std::string(10'000'000, 'x'));
  CHECK(sink.empty());
}

TEST_CASE("a full file system is distinguished from a closed pipe") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  OutputSink sink(full, "");
  CHECK(sink.write_error() == 0);
  sink.add(0, "lost\n");
  CHECK_FALSE(sink.flush());
  CHECK(sink.write_error() == ENOSPC);
  ::close(full);
}

// The reader was slow and is fast again: the end of another rank may be the event that makes the queue short.
TEST_CASE("a rank's pipe is read again after any event that made room for it") {
  char folder[] = "/tmp/margay-output-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string fifo = std::string(folder) + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  std::string got;
  const auto read_all = [&] {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(reader, bytes, sizeof bytes)) > 0;)
      got.append(bytes, static_cast<std::size_t>(count));
  };

  margay::command::Poller poller;
  REQUIRE(poller.open().ok());
  margay::command::RankOutput output(poller, 2, {.line_pattern = {}, .output_pattern = fifo, .error_pattern = {}});
  int ends[2][2];
  for (std::uint32_t rank = 0; rank < 2; ++rank) REQUIRE(output.open(rank, ends[rank][0], ends[rank][1]).ok());
  const std::string line = std::string(1023, 'x') + "\n";
  const auto is_read = [&](std::uint32_t rank) {
    std::vector<margay::command::Event> events;
    poller.wait(0, events);
    return std::any_of(events.begin(), events.end(), [rank](const margay::command::Event& event) {
      return event.kind == margay::command::EventKind::output && event.index == rank;
    });
  };
  // Without a reader: rank 0 prints until its pipe is no longer read.
  std::size_t printed = 0;
  const auto print = [&] {
    REQUIRE(::write(ends[0][0], line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    printed += line.size();
  };
  print();
  while (is_read(0)) {
    output.on_event({margay::command::EventKind::output, 0}, 0);
    print();
    REQUIRE(printed < 4 * margay::command::OutputSink::kFullBytes);
  }
  // All of it is written when rank 1 ends, before the loop polls the reader.
  for (int i = 0; i < 100; ++i) {
    read_all();
    REQUIRE(::write(ends[1][0], line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    printed += line.size();
    output.drain(1, 0);
  }
  CHECK(is_read(0));
  output.on_event({margay::command::EventKind::output, 0}, 0);
  read_all();
  CHECK(got.size() == printed);

  for (const auto& pair : ends) {
    ::close(pair[0]);
    ::close(pair[1]);
  }
  ::close(reader);
  CHECK(::unlink(fifo.c_str()) == 0);
  CHECK(::rmdir(folder) == 0);
}
