// The services of a context without a job: what modules deliver and report is kept, and keys come from a fixed secret.
#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "tests/libraries/support/test_rank.hpp"

namespace margay::nexus::test {

// A rank that has a number and nothing else. Functions that a module must not call end the test.
class FakeRank final : public testing::TestRank {
 public:
  using TestRank::TestRank;

 private:
  void answer(const char* function) const override {
    std::fprintf(stderr, "a module has called Rank::%s()\n", function);
    std::abort();
  }
};

class FakeServices final : public core::Services {
 public:
  struct Delivered {
    std::uint32_t source = 0;
    core::Frame frame;
    std::vector<std::byte> body;
  };

  explicit FakeServices(std::uint32_t context, std::uint32_t contexts, std::uint64_t job = 77)
      : rank_(context, contexts), job_(job) {}
  [[nodiscard]] host::Rank& rank() override { return rank_; }
  [[nodiscard]] std::uint32_t node() override { return 0; }
  [[nodiscard]] std::uint32_t nodes() override { return 1; }
  [[nodiscard]] std::uint64_t session() override { return job_; }
  bool deliver(core::Module&, std::uint32_t source, std::span<const std::byte> header,
               std::span<const std::byte> body) override {
    Delivered one;
    one.source = source;
    if (refuse || !core::decode(header, body.size(), one.frame).ok()) return false;
    one.body.assign(body.begin(), body.end());
    delivered.push_back(std::move(one));
    return true;
  }
  void report_lost(core::Module&, std::uint32_t, std::uint64_t messages) override { lost += messages; }
  void report_dropped(core::Module&, std::uint64_t messages, const std::string& why) override {
    dropped += messages;
    dropped_why = why;
  }
  [[nodiscard]] bool derive_key(std::string_view label, std::uint32_t one, std::uint32_t other,
                                std::span<std::byte> key) override {
    if (!has_secret) return false;
    const std::string input =
        std::to_string(job_) + "/" + std::string(label) + "/" + std::to_string(one) + "/" + std::to_string(other);
    return crypto_generichash(reinterpret_cast<unsigned char*>(key.data()), key.size(),
                              reinterpret_cast<const unsigned char*>(input.data()), input.size(), nullptr, 0) == 0;
  }
  [[nodiscard]] bool is_lost(std::uint32_t context) override { return context == lost_context; }
  void switch_off(core::Module&, const std::string& why) override { off.push_back(why); }

  std::vector<Delivered> delivered;
  bool refuse = false;
  bool has_secret = true;
  std::uint32_t lost_context = ~std::uint32_t{0};
  std::uint64_t lost = 0;
  std::uint64_t dropped = 0;
  std::string dropped_why;
  std::vector<std::string> off;

 private:
  FakeRank rank_;
  std::uint64_t job_;
};

// `bytes` bytes that differ from each other, from `seed`.
inline std::vector<std::byte> pattern(std::size_t bytes, std::uint32_t seed = 1) {
  std::vector<std::byte> out(bytes);
  for (std::byte& one : out) {
    seed = seed * 1664525 + 1013904223;
    one = static_cast<std::byte>(seed >> 24);
  }
  return out;
}

// A request's frame for a body of this length.
inline core::Frame frame_of(std::size_t body_bytes, std::uint32_t endpoint = 5) {
  core::Frame frame;
  frame.endpoint = endpoint;
  frame.handler = 0x1234;
  frame.body_bytes = body_bytes;
  return frame;
}

inline std::uint64_t statistic(core::Module& module, std::string_view name) {
  for (const auto& [found, value] : module.statistics()) {
    if (found == name) return value;
  }
  std::abort();
}

}  // namespace margay::nexus::test
