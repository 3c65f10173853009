// The startpoint: the sending end of links (paper 003, 2.2 and 3.1). A startpoint is a mobile value: put into a buffer,
// it gives another context links to the same endpoints, with their tables of methods.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "margay/nexus/endpoint.hpp"

namespace margay::nexus {

namespace core {
struct StartpointState;
}

// Demands on the method of a startpoint. Two copies of a startpoint with different demands are two channels to one
// endpoint.
struct Quality {
  bool ordered = true;   // requests arrive in the order of their sends
  bool reliable = true;  // no request is lost
  bool secure = false;   // bodies are encrypted if they leave the node
  bool bulk = false;     // long bodies: a hint for modules
  // Demands on the method's hints; 0: none. A channel reserves its rate, which reduces the rate that is available to
  // other channels to the context (3.2: "available instead of raw bandwidth").
  std::uint32_t latency_most_ns = 0;
  std::uint64_t bytes_per_second = 0;
};

// One row of a link's table of methods, in order of preference.
struct MethodRow {
  std::string method;
  std::string why_not;  // empty: applicable
  bool is_chosen = false;
  bool is_forced = false;
  int forwarder = -1;                            // the forwarding context; -1: none
  std::uint64_t available_bytes_per_second = 0;  // 0: unknown
};

// A value. A copy has links of its own, which mirror those of the original: the same endpoints, tables, order, demands
// and forced method. An unbound startpoint has no links; send() fails for it.
class Startpoint {
 public:
  Startpoint();
  // A startpoint with one link, to the endpoint.
  explicit Startpoint(const Endpoint& endpoint);
  Startpoint(const Startpoint& other);
  Startpoint& operator=(const Startpoint& other);
  Startpoint(Startpoint&& other) noexcept;
  Startpoint& operator=(Startpoint&& other) noexcept;
  // Closes the links. Requests already sent still arrive.
  ~Startpoint();

  // Adds a link to an endpoint of this context, or all links of another startpoint: a request reaches each endpoint
  // (multicast). An endpoint that is bound twice gets each request twice.
  void bind(const Endpoint& endpoint);
  void bind(const Startpoint& other);
  // Removes all links.
  void unbind();
  [[nodiscard]] bool is_bound() const;
  // The number of links; the context of a link.
  [[nodiscard]] std::size_t links() const;
  [[nodiscard]] int context(std::size_t link = 0) const;
  // Whether both lead to the same endpoints in the same order. Methods are not compared.
  friend bool operator==(const Startpoint& one, const Startpoint& other) { return one.equals(other); }
  // The local address of its only endpoint, if that exists in this context; otherwise nullptr. Startpoints are global
  // pointers (2.2).
  [[nodiscard]] void* local_address() const;

  // Light startpoints travel without tables ("default tables", 3.1): 16 bytes per link. The receiver uses the table
  // that the endpoint's context had at init(). Discards changes of the table. Throws `error` for a forced method.
  void make_light();
  [[nodiscard]] bool is_light() const;

  // The functions below apply to all links. A change of method moves the link: if both methods keep order, requests
  // sent before the change are delivered before those sent after it. All throw `error` for unknown methods, and if the
  // change leaves a link without method; no link is changed then.

  // The table of a link. Selects nothing.
  [[nodiscard]] std::vector<MethodRow> methods(std::size_t link = 0) const;
  // The method in use. Selects the first applicable row if the link has not been used.
  [[nodiscard]] std::string method(std::size_t link = 0);
  // Forces a method; automatic() returns to the first applicable one.
  void force(const std::string& method);
  void automatic();
  // Moves these methods to the front, in this order; adds a method that the endpoint's context had at init(), at the
  // end; removes one.
  void reorder(const std::vector<std::string>& methods);
  void add(const std::string& method);
  void remove(const std::string& method);
  // Adds a transform (secure, compressed) before the method, after the present ones; removes it.
  void put_before(const std::string& module);
  void take_away(const std::string& module);
  [[nodiscard]] std::vector<std::string> transforms() const;
  // Sets demands on the method, and selects the method again.
  void require(const Quality& quality);
  [[nodiscard]] Quality quality() const;

  // Used by Nexus.
  [[nodiscard]] core::StartpointState& state() const { return *state_; }

 private:
  [[nodiscard]] bool equals(const Startpoint& other) const;
  std::unique_ptr<core::StartpointState> state_;
};

// Sends a startpoint to all contexts, and returns those of all contexts, by context: the first links of a program.
// Collective. Serves meanwhile. Throws `error` if the startpoint is not bound or has more than 1 MiB in a buffer, or if
// a context is lost.
[[nodiscard]] std::vector<Startpoint> exchange(const Startpoint& startpoint);

}  // namespace margay::nexus
