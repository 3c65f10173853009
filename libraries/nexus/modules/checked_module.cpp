#include "libraries/nexus/modules/checked_module.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "libraries/nexus/modules/guard.hpp"

namespace margay::nexus::core {
namespace {

constexpr std::uint32_t kTraitsKnown = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE | MARGAY_NEXUS_TRANSFORM |
                                       MARGAY_NEXUS_MULTICAST | MARGAY_NEXUS_SECURE;
// The most bytes that a transform may add to a body: as much again, and this.
constexpr std::size_t kTransformExtra = 65536;
// The most parameters and statistics, the most bytes of a parameter's value, and of a name.
constexpr std::size_t kListMost = 64;
constexpr std::size_t kParameterValueMost = 256;
constexpr std::size_t kListedNameMost = 63;

// The buffer for a reason, whose end no module can remove.
class Why {
 public:
  char* data() { return text_.data(); }
  [[nodiscard]] std::size_t size() const { return text_.size() - 1; }
  [[nodiscard]] std::string text() {
    text_.back() = '\0';
    std::string text(text_.data());
    // Control characters would change the terminal that shows the message.
    std::replace_if(
        text.begin(), text.end(), [](char one) { return static_cast<unsigned char>(one) < ' ' || one == 0x7F; }, '?');
    return text.empty() ? "it gave no reason" : text;
  }

 private:
  std::array<char, MARGAY_NEXUS_WHY_BYTES + 1> text_{};
};

std::string bounded_text(const char* text, std::size_t most) {
  return text == nullptr ? std::string() : std::string(text, strnlen(text, most));
}

std::vector<margay_nexus_bytes> c_pieces(std::span<const Bytes> body) {
  std::vector<margay_nexus_bytes> pieces;
  for (const Bytes piece : body) pieces.push_back({piece.data(), piece.size()});
  return pieces;
}

std::string missing_function(const margay_nexus_module& table) {
  const bool transform = (table.traits & MARGAY_NEXUS_TRANSFORM) != 0;
  const std::array<std::pair<bool, const char*>, 13> missing = {{
      {table.init == nullptr, "init"},
      {table.finish == nullptr, "finish"},
      {table.descriptor == nullptr, "descriptor"},
      {table.applicable == nullptr, "applicable"},
      {table.open == nullptr, "open"},
      {table.close == nullptr, "close"},
      {(table.traits & MARGAY_NEXUS_MULTICAST) != 0 && table.open_many == nullptr, "open_many"},
      {!transform && table.send == nullptr, "send"},
      {!transform && table.poll == nullptr, "poll"},
      {transform && table.encode_most == nullptr, "encode_most"},
      {transform && table.encode == nullptr, "encode"},
      {transform && table.decode_most == nullptr, "decode_most"},
      {transform && table.decode == nullptr, "decode"},
  }};
  for (const auto& [is_missing, name] : missing) {
    if (is_missing) return name;
  }
  return {};
}

bool is_table_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') || one == '_' ||
           one == '-';
  });
}

}  // namespace

// The module's object. Ends by the module's close().
class CheckedObject final : public Object {
 public:
  CheckedObject(CheckedModule& module, void* object) : module_(module), object_(object) {}
  ~CheckedObject() override { module_.close(object_); }
  [[nodiscard]] void* get() const { return object_; }

 private:
  CheckedModule& module_;
  void* const object_;
};

std::string check_table(const margay_nexus_module& table) {
  if (table.version != MARGAY_NEXUS_MODULE_VERSION) {
    return "it was built for version " + std::to_string(table.version) + " of the interface, and this is version " +
           std::to_string(MARGAY_NEXUS_MODULE_VERSION) + "; build it with the header of this margay";
  }
  if (table.size < sizeof table) {
    return "its table has " + std::to_string(table.size) + " bytes, and must have " + std::to_string(sizeof table) +
           "; set size to sizeof(margay_nexus_module)";
  }
  const std::size_t length = table.name == nullptr ? 0 : strnlen(table.name, MARGAY_NEXUS_NAME_MOST + 1);
  if (length > MARGAY_NEXUS_NAME_MOST || !is_table_name({table.name, length})) {
    return "its name is invalid; a name has 1 to 15 letters, digits, '_' and '-'";
  }
  if ((table.traits & ~kTraitsKnown) != 0) return "its traits have unknown bits";
  if (table.body_most == 0) return "its body_most is 0; set it to the longest body, or UINT64_MAX";
  if (const std::string name = missing_function(table); !name.empty()) {
    return "its function " + name + " is null; its traits require it";
  }
  return {};
}

CheckedModule::CheckedModule(const margay_nexus_module& table, void (*unload)(void*), void* loaded)
    : table_(table),
      name_(table.name),
      description_(bounded_text(table.description, kDescriptionMost)),
      unload_(unload),
      loaded_(loaded),
      host_(*this, *this, table_.body_most) {}

CheckedModule::~CheckedModule() {
  // After an invalid answer finish() was not called: threads of the module may run in its code.
  if (unload_ != nullptr && fault_.empty()) unload_(loaded_);
}

Traits CheckedModule::traits() const {
  Traits traits;
  traits.bits = table_.traits;
  traits.latency_ns = table_.latency_ns;
  traits.poll_cost_ns = table_.poll_cost_ns;
  traits.bytes_per_second = table_.bytes_per_second;
  traits.body_most = table_.body_most;
  return traits;
}

const std::string& CheckedModule::fail(const char* function, const std::string& what) {
  if (fault_.empty()) {
    fault_ = "the module " + name_ + " is off: its function " + function + " " + what;
    if (services_ != nullptr && begun_) services_->switch_off(*this, fault_);
  }
  return fault_;
}

portals::Status CheckedModule::off() const {
  return portals::Status::error(fault_.empty() ? "the module " + name_ + " has not begun" : fault_);
}

portals::Status CheckedModule::init(Services& services, std::span<const Parameter> parameters) {
  services_ = &services;
  const margay_nexus_host* const host = host_.begin(services);
  std::vector<margay_nexus_parameter> given;
  for (const Parameter& one : parameters) given.push_back({one.name.c_str(), one.value.c_str()});
  watch_crashes();
  Why why;
  int result = 0;
  {
    const CrashGuard crash(name_.c_str(), "init()");
    const TimeGuard time(name_, "init()");
    result = table_.init(host, given.data(), given.size(), &state_, why.data(), why.size());
  }
  if (!fault_.empty()) return off();
  if (result != 0) return portals::Status::error("init() failed: " + why.text());
  begun_ = true;
  return {};
}

void CheckedModule::finish() {
  // After an invalid answer its memory cannot be trusted.
  if (!begun_ || !fault_.empty()) return;
  begun_ = false;
  const CrashGuard crash(name_.c_str(), "finish()");
  const TimeGuard time(name_, "finish()");
  table_.finish(state_);
}

bool CheckedModule::descriptor(std::vector<std::byte>& out) {
  out.clear();
  if (!begun_ || !fault_.empty()) return false;
  std::array<std::byte, MARGAY_NEXUS_DESCRIPTOR_MOST> bytes{};
  const CrashGuard crash(name_.c_str(), "descriptor()");
  const std::int64_t length = table_.descriptor(state_, bytes.data(), bytes.size());
  if (length < 0 || !fault_.empty()) return false;
  if (length > MARGAY_NEXUS_DESCRIPTOR_MOST) {
    fail("descriptor", "returned a length of " + std::to_string(length) + "; at most 256 is valid");
    return false;
  }
  out.assign(bytes.begin(), bytes.begin() + length);
  return true;
}

std::string CheckedModule::why_not(Bytes own, const Target& peer, std::uint32_t content) {
  if (!begun_ || !fault_.empty()) return off().sentence();
  Why why;
  const CrashGuard crash(name_.c_str(), "applicable()");
  const int result = table_.applicable(state_, own.data(), own.size(), peer.context, peer.descriptor.data(),
                                       peer.descriptor.size(), content, why.data(), why.size());
  if (!fault_.empty()) return fault_;
  if (result == 1) return {};
  return result == 0 ? why.text() : fail("applicable", "returned " + std::to_string(result) + "; valid are 0 and 1");
}

portals::Status CheckedModule::open(std::span<const Target> peers, std::unique_ptr<Object>& out) {
  if (!begun_ || !fault_.empty()) return off();
  if (peers.empty() || (peers.size() > 1 && table_.open_many == nullptr)) {
    return portals::Status::error("the module " + name_ + " reaches one context, and not " +
                                  std::to_string(peers.size()));
  }
  Why why;
  void* object = nullptr;
  int result = 0;
  if (peers.size() == 1 && (table_.traits & MARGAY_NEXUS_MULTICAST) == 0) {
    const CrashGuard crash(name_.c_str(), "open()");
    result = table_.open(state_, peers[0].context, peers[0].descriptor.data(), peers[0].descriptor.size(), &object,
                         why.data(), why.size());
  } else {
    std::vector<std::uint32_t> contexts;
    std::vector<margay_nexus_bytes> descriptors;
    for (const Target& one : peers) {
      contexts.push_back(one.context);
      descriptors.push_back({one.descriptor.data(), one.descriptor.size()});
    }
    const CrashGuard crash(name_.c_str(), "open_many()");
    result =
        table_.open_many(state_, peers.size(), contexts.data(), descriptors.data(), &object, why.data(), why.size());
  }
  if (!fault_.empty()) return off();
  if (result != 0) {
    return portals::Status::error("the module " + name_ + " cannot open an object to context " +
                                  std::to_string(peers[0].context) + ": " + why.text());
  }
  out = std::make_unique<CheckedObject>(*this, object);
  return {};
}

void CheckedModule::close(void* object) {
  if (!begun_ || !fault_.empty()) return;
  const CrashGuard crash(name_.c_str(), "close()");
  table_.close(state_, object);
}

Sent CheckedModule::send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why_text) {
  if (!begun_ || !fault_.empty() || table_.send == nullptr) {
    why_text = table_.send == nullptr ? "a transform sends nothing" : off().sentence();
    return Sent::failed;
  }
  const FrameBytes header = core::encode(frame);
  std::vector<margay_nexus_bytes> pieces = c_pieces(body);
  std::vector<std::byte> joined;
  if (pieces.size() > MARGAY_NEXUS_PIECES_MOST) {
    for (const Bytes piece : body) joined.insert(joined.end(), piece.begin(), piece.end());
    pieces.assign(1, {joined.data(), joined.size()});
  }
  Why why;
  const CrashGuard crash(name_.c_str(), "send()");
  const int result = table_.send(state_, static_cast<CheckedObject&>(object).get(), header.data(), header.size(),
                                 pieces.data(), pieces.size(), why.data(), why.size());
  if (fault_.empty() && (result == MARGAY_NEXUS_TAKEN || result == MARGAY_NEXUS_FULL)) return static_cast<Sent>(result);
  if (fault_.empty() && result != MARGAY_NEXUS_FAILED) {
    fail("send", "returned " + std::to_string(result) + "; valid are 0 to 2");
  }
  why_text = fault_.empty() ? "the module " + name_ + ": " + why.text() : fault_;
  return Sent::failed;
}

int CheckedModule::poll(int most, std::string& why_text) {
  if (!fault_.empty()) {
    why_text = fault_;
    return -1;
  }
  if (!begun_ || table_.poll == nullptr) return 0;
  Why why;
  host_.begin_poll(most);
  int result = 0;
  {
    const CrashGuard crash(name_.c_str(), "poll()");
    result = table_.poll(state_, most, why.data(), why.size());
  }
  const int delivered = host_.end_poll();
  if (fault_.empty() && result < 0) fail("poll", "has failed: " + why.text());
  if (fault_.empty() && result != delivered) {
    fail("poll",
         "returned " + std::to_string(result) + ", but has delivered " + std::to_string(delivered) + " messages");
  }
  if (fault_.empty()) return result;
  why_text = fault_;
  return -1;
}

int CheckedModule::wait_descriptor() {
  if (!begun_ || !fault_.empty() || table_.wait_descriptor == nullptr) return -1;
  const CrashGuard crash(name_.c_str(), "wait_descriptor()");
  const int descriptor = table_.wait_descriptor(state_);
  if (descriptor < 0) return -1;
  if (fcntl(descriptor, F_GETFD) >= 0) return descriptor;
  fail("wait_descriptor", "returned " + std::to_string(descriptor) + ", which is not open");
  return -1;
}

portals::Status CheckedModule::encode(Object& object, const Frame& frame, std::span<const Bytes> body,
                                      std::vector<std::byte>& out) {
  out.clear();
  if (!begun_ || !fault_.empty()) return off();
  if (table_.encode == nullptr) return Module::encode(object, frame, body, out);
  std::size_t bytes = 0;
  for (const Bytes piece : body) bytes += piece.size();
  const FrameBytes header = core::encode(frame);
  const std::vector<margay_nexus_bytes> pieces = c_pieces(body);
  Why why;
  const CrashGuard crash(name_.c_str(), "encode()");
  const std::size_t most = table_.encode_most(state_, bytes);
  if (most > 2 * bytes + kTransformExtra) {
    return portals::Status::error(
        fail("encode_most", "returned " + std::to_string(most) + " for a body of " + std::to_string(bytes) + " bytes"));
  }
  out.resize(most);
  const std::int64_t length =
      table_.encode(state_, static_cast<CheckedObject&>(object).get(), header.data(), header.size(), pieces.data(),
                    pieces.size(), out.data(), out.size(), why.data(), why.size());
  if (fault_.empty() && length > static_cast<std::int64_t>(most)) {
    fail("encode", "returned a length of " + std::to_string(length) + " beyond its most, " + std::to_string(most));
  }
  if (fault_.empty() && length >= 0) {
    out.resize(static_cast<std::size_t>(length));
    return {};
  }
  out.clear();
  return fault_.empty() ? portals::Status::error("the module " + name_ + ": " + why.text()) : off();
}

portals::Status CheckedModule::decode(std::uint32_t source, const Frame& frame, Bytes body, std::uint64_t limit,
                                      std::vector<std::byte>& out) {
  out.clear();
  if (!begun_ || !fault_.empty()) return off();
  if (table_.decode == nullptr) return Module::decode(source, frame, body, limit, out);
  const auto refused = [&](Why& why) {
    out.clear();
    if (!fault_.empty()) return off();
    return portals::Status::error("the module " + name_ + " refuses a body from context " + std::to_string(source) +
                                  ": " + why.text());
  };
  const FrameBytes header = core::encode(frame);
  Why why;
  const CrashGuard crash(name_.c_str(), "decode()");
  const std::int64_t most = table_.decode_most(state_, source, body.data(), body.size(), limit, why.data(), why.size());
  if (most < 0 || !fault_.empty()) return refused(why);
  if (static_cast<std::uint64_t>(most) > limit) {
    return portals::Status::error(
        fail("decode_most", "returned " + std::to_string(most) + " beyond the limit of " + std::to_string(limit)));
  }
  out.resize(static_cast<std::size_t>(most));
  const std::int64_t length = table_.decode(state_, source, header.data(), header.size(), body.data(), body.size(),
                                            out.data(), out.size(), why.data(), why.size());
  if (length > most) fail("decode", "returned a length of " + std::to_string(length) + " beyond its most");
  if (length < 0 || !fault_.empty()) return refused(why);
  out.resize(static_cast<std::size_t>(length));
  return {};
}

portals::Status CheckedModule::set_parameter(const Parameter& parameter) {
  if (!begun_ || !fault_.empty()) return off();
  if (table_.set_parameter == nullptr) return Module::set_parameter(parameter);
  Why why;
  const CrashGuard crash(name_.c_str(), "set_parameter()");
  const int result =
      table_.set_parameter(state_, parameter.name.c_str(), parameter.value.c_str(), why.data(), why.size());
  if (!fault_.empty()) return off();
  return result == 0 ? portals::Status() : portals::Status::error("the module " + name_ + ": " + why.text());
}

std::vector<Parameter> CheckedModule::parameters() {
  std::vector<Parameter> all;
  if (!begun_ || !fault_.empty() || table_.parameter == nullptr) return all;
  const CrashGuard crash(name_.c_str(), "parameter()");
  for (std::size_t i = 0;; ++i) {
    const char* name = nullptr;
    std::array<char, kParameterValueMost> value{};
    const int result = table_.parameter(state_, i, &name, value.data(), value.size() - 1);
    if (result == 0 || !fault_.empty()) return all;
    if (result != 1 || name == nullptr || i == kListMost) {
      fail("parameter", result == 1 && name != nullptr ? "has more than 64 of them" : "returned an invalid entry");
      return all;
    }
    value.back() = '\0';
    all.push_back({bounded_text(name, kListedNameMost), value.data()});
  }
}

std::vector<std::pair<std::string, std::uint64_t>> CheckedModule::statistics() {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  if (!begun_ || !fault_.empty() || table_.statistic == nullptr) return all;
  const CrashGuard crash(name_.c_str(), "statistic()");
  for (std::size_t i = 0;; ++i) {
    const char* name = nullptr;
    std::uint64_t value = 0;
    const int result = table_.statistic(state_, i, &name, &value);
    if (result == 0 || !fault_.empty()) return all;
    if (result != 1 || name == nullptr || i == kListMost) {
      fail("statistic", result == 1 && name != nullptr ? "has more than 64 of them" : "returned an invalid entry");
      return all;
    }
    all.emplace_back(bounded_text(name, kListedNameMost), value);
  }
}

}  // namespace margay::nexus::core
