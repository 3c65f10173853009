// Tests of the checks of a foreign module's table and answers. The module of this test answers as each case demands.
#include "libraries/nexus/modules/checked_module.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::CheckedModule;
using core::Sent;

// The answers of the module; each is valid until a case changes it.
struct Answers {
  const margay_nexus_host* host = nullptr;
  int init = 0;
  std::int64_t descriptor = 4;
  int applicable = 1;
  int open = 0;
  int send = MARGAY_NEXUS_TAKEN;
  int wait_descriptor = -1;
  std::function<int(int most)> poll = [](int) { return 0; };
  std::size_t encode_most = 100;
  std::int64_t encode = 3;
  std::int64_t decode_most = 10;
  std::int64_t decode = 2;
  int parameter = 0;
  bool null_name = false;
  std::size_t entries = 2;
  std::size_t pieces = 0;
  int finished = 0;
  int closed = 0;
  int calls = 0;
};
static Answers answers;

static void give_reason(char* why, std::size_t bytes) {
  // Without an end: the reader must bound it.
  std::memset(why, 'w', bytes);
}

static margay_nexus_module good_table() {
  margay_nexus_module table{};
  table.version = MARGAY_NEXUS_MODULE_VERSION;
  table.size = sizeof table;
  table.name = "scripted";
  table.body_most = 100;
  table.init = [](const margay_nexus_host* host, const margay_nexus_parameter*, std::size_t, void**, char* why,
                  std::size_t bytes) {
    answers.host = host;
    if (answers.init != 0) give_reason(why, bytes);
    return answers.init;
  };
  table.finish = [](void*) { ++answers.finished; };
  table.descriptor = [](void*, void* bytes, std::size_t) {
    std::memset(bytes, 7, 4);
    return answers.descriptor;
  };
  table.applicable = [](void*, const void*, std::size_t, std::uint32_t, const void*, std::size_t, std::uint32_t,
                        char* why, std::size_t bytes) {
    ++answers.calls;
    give_reason(why, bytes);
    return answers.applicable;
  };
  table.open = [](void*, std::uint32_t, const void*, std::size_t, void** object, char*, std::size_t) {
    *object = &answers;
    return answers.open;
  };
  table.close = [](void*, void*) { ++answers.closed; };
  table.send = [](void*, void*, const void*, std::size_t, const margay_nexus_bytes*, std::size_t pieces, char*,
                  std::size_t) {
    answers.pieces = pieces;
    return answers.send;
  };
  table.poll = [](void*, int most, char*, std::size_t) { return answers.poll(most); };
  table.wait_descriptor = [](void*) { return answers.wait_descriptor; };
  table.parameter = [](void*, std::size_t index, const char** name, char* value, std::size_t bytes) {
    if (index == answers.entries) return 0;
    *name = answers.null_name ? nullptr : "size";
    std::memset(value, 'v', bytes);
    return answers.parameter == 0 ? 1 : answers.parameter;
  };
  table.statistic = [](void*, std::size_t index, const char** name, std::uint64_t* value) {
    if (index == answers.entries) return 0;
    *name = "count";
    *value = index;
    return answers.parameter == 0 ? 1 : answers.parameter;
  };
  return table;
}

static margay_nexus_module transform_table() {
  margay_nexus_module table = good_table();
  table.traits = MARGAY_NEXUS_TRANSFORM;
  table.send = nullptr;
  table.poll = nullptr;
  table.encode_most = [](void*, std::size_t) { return answers.encode_most; };
  table.encode = [](void*, void*, const void*, std::size_t, const margay_nexus_bytes*, std::size_t, void*, std::size_t,
                    char*, std::size_t) { return answers.encode; };
  table.decode_most = [](void*, std::uint32_t, const void*, std::size_t, std::uint64_t, char*, std::size_t) {
    return answers.decode_most;
  };
  table.decode = [](void*, std::uint32_t, const void*, std::size_t, const void*, std::size_t, void*, std::size_t, char*,
                    std::size_t) { return answers.decode; };
  return table;
}

// A module that has begun, with an object.
struct Scripted {
  explicit Scripted(const margay_nexus_module& table) : services(1, 3), module(table) {
    answers = {};
    REQUIRE(module.init(services, {}).ok());
    const core::Target target{2, {}};
    REQUIRE(module.open({&target, 1}, object).ok());
  }
  ~Scripted() { module.finish(); }
  Sent send(std::size_t pieces = 1) {
    const std::vector<core::Bytes> body(pieces);
    return module.send(*object, frame_of(0), body, why);
  }
  int poll(int most = 4) { return module.poll(most, why); }
  // Whether exactly this fault has switched the module off, in words that name module and function.
  bool is_off_by(const std::string& function) {
    return services.off.size() == 1 && services.off[0] == module.fault() &&
           module.fault().find("scripted") != std::string::npos && module.fault().find(function) != std::string::npos;
  }
  FakeServices services;
  CheckedModule module;
  std::unique_ptr<core::Object> object;
  std::string why;
};

static int deliver(std::uint32_t source, const core::FrameBytes& header, std::size_t body_bytes) {
  const std::vector<std::byte> body(body_bytes);
  return answers.host->deliver(answers.host->self, source, header.data(), header.size(), body.data(), body.size());
}

TEST_CASE("a table of this version with all functions is accepted, each wrong field is not") {
  CHECK(core::check_table(good_table()) == "");
  CHECK(core::check_table(transform_table()) == "");
  const std::vector<std::function<void(margay_nexus_module&)>> lies = {
      [](auto& table) { table.version = 0; },
      [](auto& table) { table.version = MARGAY_NEXUS_MODULE_VERSION + 1; },
      [](auto& table) { table.size = 0; },
      [](auto& table) { table.size -= 8; },
      [](auto& table) { table.name = nullptr; },
      [](auto& table) { table.name = ""; },
      [](auto& table) { table.name = "sixteen-letters-"; },
      [](auto& table) { table.name = "a b"; },
      [](auto& table) { table.name = "a\n"; },
      [](auto& table) { table.traits = 1 << 20; },
      [](auto& table) { table.traits = MARGAY_NEXUS_TRANSFORM; },
      [](auto& table) { table.traits = MARGAY_NEXUS_MULTICAST; },
      [](auto& table) { table.body_most = 0; },
      [](auto& table) { table.init = nullptr; },
      [](auto& table) { table.finish = nullptr; },
      [](auto& table) { table.descriptor = nullptr; },
      [](auto& table) { table.applicable = nullptr; },
      [](auto& table) { table.open = nullptr; },
      [](auto& table) { table.close = nullptr; },
      [](auto& table) { table.send = nullptr; },
      [](auto& table) { table.poll = nullptr; },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    CAPTURE(i);
    margay_nexus_module table = good_table();
    lies[i](table);
    CHECK(core::check_table(table) != "");
  }
}

TEST_CASE("valid answers pass") {
  Scripted one(good_table());
  std::vector<std::byte> descriptor;
  CHECK(one.module.descriptor(descriptor));
  CHECK(descriptor == std::vector<std::byte>(4, std::byte{7}));
  CHECK(one.module.why_not({}, {2, {}}, 0) == "");
  answers.applicable = 0;
  CHECK(one.module.why_not({}, {2, {}}, 0).size() < MARGAY_NEXUS_WHY_BYTES);
  CHECK(one.send() == Sent::taken);
  CHECK(one.send(20) == Sent::taken);
  CHECK(answers.pieces == 1);  // joined, because a module takes at most 8
  answers.send = MARGAY_NEXUS_FULL;
  CHECK(one.send() == Sent::full);
  answers.send = MARGAY_NEXUS_FAILED;
  CHECK(one.send() == Sent::failed);
  answers.descriptor = -1;
  CHECK_FALSE(one.module.descriptor(descriptor));
  CHECK(one.module.parameters().size() == 2);
  CHECK(one.module.statistics().size() == 2);
  CHECK(one.module.wait_descriptor() == -1);
  answers.wait_descriptor = 0;
  CHECK(one.module.wait_descriptor() == 0);
  CHECK_FALSE(one.module.set_parameter({"size", "1"}).ok());
  answers.poll = [](int) {
    CHECK(deliver(2, core::encode(frame_of(10)), 10) == 0);
    CHECK(deliver(2, core::encode(frame_of(9)), 10) == 1);  // damaged: dropped, but the module's answer counts it
    return 2;
  };
  CHECK(one.poll() == 2);
  CHECK(one.services.delivered.size() == 1);
  CHECK(one.module.fault() == "");
  one.object.reset();
  CHECK(answers.closed == 1);
  one.module.finish();
  CHECK(answers.finished == 1);
}

TEST_CASE("an init that fails is an error with its reason, and finish is not called") {
  answers = {};
  answers.init = 5;
  FakeServices services(0, 2);
  CheckedModule module(good_table());
  const portals::Status status = module.init(services, {});
  CHECK_FALSE(status.ok());
  CHECK(status.sentence().size() < 2 * MARGAY_NEXUS_WHY_BYTES);
  module.finish();
  CHECK(answers.finished == 0);
}

TEST_CASE("each invalid answer switches the module off, and nothing of it is called any more") {
  struct Row {
    const char* function;
    std::function<void(Scripted&)> lie;
  };
  std::vector<std::byte> out;
  const std::vector<Row> rows = {
      {"descriptor",
       [&](Scripted& one) {
         answers.descriptor = 257;
         CHECK_FALSE(one.module.descriptor(out));
       }},
      {"applicable",
       [](Scripted& one) {
         answers.applicable = 2;
         CHECK(one.module.why_not({}, {2, {}}, 0) != "");
       }},
      {"applicable",
       [](Scripted& one) {
         answers.applicable = -1;
         CHECK(one.module.why_not({}, {2, {}}, 0) != "");
       }},
      {"send",
       [](Scripted& one) {
         answers.send = 3;
         CHECK(one.send() == Sent::failed);
       }},
      {"send",
       [](Scripted& one) {
         answers.send = -1;
         CHECK(one.send() == Sent::failed);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int) { return -1; };
         CHECK(one.poll() < 0);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int) { return 1; };
         CHECK(one.poll() < 0);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int most) {
           for (int i = 0; i <= most; ++i) deliver(2, core::encode(frame_of(0)), 0);
           return most + 1;
         };
         CHECK(one.poll() < 0);
         CHECK(one.services.delivered.size() == 4);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int) { return deliver(3, core::encode(frame_of(0)), 0); };
         CHECK(one.poll() < 0);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int) { return deliver(2, core::encode(frame_of(101)), 101); };
         CHECK(one.poll() < 0);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int) { return answers.host->deliver(answers.host->self, 2, "", 1, nullptr, 5); };
         CHECK(one.poll() < 0);
       }},
      {"poll",
       [](Scripted& one) {
         answers.poll = [](int) { return answers.host->deliver(answers.host->self, 2, "", 1000, "", 0); };
         CHECK(one.poll() < 0);
       }},
      {"poll",
       [](Scripted& one) {  // outside of poll()
         CHECK(deliver(2, core::encode(frame_of(0)), 0) == 1);
         CHECK(one.services.delivered.empty());
       }},
      {"report_lost", [](Scripted&) { answers.host->report_lost(answers.host->self, 3, 1); }},
      {"wait_descriptor",
       [](Scripted& one) {
         answers.wait_descriptor = 99999;
         CHECK(one.module.wait_descriptor() < 0);
       }},
      {"parameter",
       [](Scripted& one) {
         answers.parameter = 2;
         CHECK(one.module.parameters().empty());
       }},
      {"parameter",
       [](Scripted& one) {
         answers.null_name = true;
         CHECK(one.module.parameters().empty());
       }},
      {"parameter",
       [](Scripted& one) {
         answers.entries = 1 << 30;
         CHECK(one.module.parameters().size() == 64);
       }},
      {"statistic",
       [](Scripted& one) {
         answers.entries = 1 << 30;
         CHECK(one.module.statistics().size() == 64);
       }},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    Scripted one(good_table());
    rows[i].lie(one);
    CHECK(one.is_off_by(rows[i].function));
    const int calls = answers.calls;
    CHECK(one.module.why_not({}, {2, {}}, 0) != "");
    CHECK(one.send() == Sent::failed);
    CHECK(one.poll() < 0);
    CHECK(answers.calls == calls);
    one.object.reset();
    one.module.finish();
    CHECK(answers.closed == 0);
    CHECK(answers.finished == 0);
    CHECK(one.services.off.size() == 1);
  }
}

TEST_CASE("the lengths of a transform are checked") {
  struct Row {
    const char* function;
    std::function<void()> lie;
  };
  const std::vector<std::byte> bytes = pattern(20);
  const core::Bytes piece(bytes);
  std::vector<std::byte> out;
  {
    Scripted one(transform_table());
    CHECK(one.module.encode(*one.object, frame_of(20), {&piece, 1}, out).ok());
    CHECK(out.size() == 3);
    CHECK(one.module.decode(2, frame_of(20), piece, 10, out).ok());
    CHECK(out.size() == 2);
    answers.decode = -1;
    CHECK_FALSE(one.module.decode(2, frame_of(20), piece, 10, out).ok());
    answers.decode_most = -1;
    CHECK_FALSE(one.module.decode(2, frame_of(20), piece, 10, out).ok());
    answers.encode = -1;
    CHECK_FALSE(one.module.encode(*one.object, frame_of(20), {&piece, 1}, out).ok());
    CHECK(one.module.fault() == "");
    CHECK(one.send() == Sent::failed);
  }
  for (const Row& row : std::vector<Row>{{"encode_most", [] { answers.encode_most = 1 << 20; }},
                                         {"encode", [] { answers.encode = 101; }},
                                         {"decode_most", [] { answers.decode_most = 11; }},
                                         {"decode", [] { answers.decode = 11; }}}) {
    CAPTURE(row.function);
    Scripted one(transform_table());
    row.lie();
    const bool encoded = one.module.encode(*one.object, frame_of(20), {&piece, 1}, out).ok();
    const bool decoded = one.module.decode(2, frame_of(20), piece, 10, out).ok();
    CHECK_FALSE((encoded && decoded));
    CHECK(one.is_off_by(row.function));
  }
}

TEST_CASE("the services of a module: facts, keys, reports") {
  Scripted one(good_table());
  const margay_nexus_host& host = *answers.host;
  CHECK(host.version == MARGAY_NEXUS_MODULE_VERSION);
  CHECK(host.size == sizeof host);
  CHECK(host.context == 1);
  CHECK(host.contexts == 3);
  std::array<std::byte, 32> key{};
  std::array<std::byte, 32> compiled{};
  CHECK(host.derive_key(host.self, "udp", 1, 2, key.data(), key.size()) == 0);
  CHECK(one.services.derive_key("udp", 1, 2, compiled));
  CHECK(key != compiled);  // a foreign module has no compiled-in one's keys
  const std::string longest_label(31, 'l');
  CHECK(host.derive_key(host.self, longest_label.c_str(), 1, 2, key.data(), 1) == 0);
  const std::string long_label(32, 'l');
  CHECK(host.derive_key(host.self, long_label.c_str(), 1, 2, key.data(), key.size()) != 0);
  CHECK(host.derive_key(host.self, "x", 1, 2, key.data(), 65) != 0);
  CHECK(host.derive_key(host.self, "x", 1, 2, nullptr, 32) != 0);
  CHECK(host.derive_key(host.self, nullptr, 1, 2, key.data(), 32) != 0);
  host.report_lost(host.self, 2, 5);
  host.report_dropped(host.self, 6, nullptr);
  CHECK(one.services.lost == 5);
  CHECK(one.services.dropped == 6);
  one.services.lost_context = 2;
  CHECK(host.is_lost(host.self, 2) == 1);
  CHECK(host.is_lost(host.self, 3) == 0);
}

}  // namespace margay::nexus::test
