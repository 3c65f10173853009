// The endpoint: the receiving end of links (paper 003, 2.2).
#pragma once

#include <cstdint>

namespace margay::nexus {

// An endpoint in this context. "Endpoints cannot be copied or moved" (2.2). Any number of links lead to it. A request
// for a destroyed endpoint is dropped; the kernel counts it as "no match".
class Endpoint {
 public:
  // `local_address`: an object of this context that requests are about; Nexus does not use it.
  explicit Endpoint(void* local_address = nullptr);
  // Requires: no handler runs for it, and the thread belongs to its context, or finish() has ended the context;
  // otherwise ends the job with a message.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // The object at its local address.
  template <typename T>
  [[nodiscard]] T& local() const {
    return *static_cast<T*>(local_address_);
  }
  [[nodiscard]] void* local_address() const { return local_address_; }
  void set_local_address(void* address) { local_address_ = address; }
  // Its number in the context, and how many earlier endpoints had the same number.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::uint16_t generation() const { return generation_; }

 private:
  void* local_address_;
  std::uint32_t number_ = 0;
  std::uint16_t generation_ = 0;
  std::uint32_t life_ = 0;  // incarnation of its context
};

}  // namespace margay::nexus
