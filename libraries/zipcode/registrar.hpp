// The registrar of a process: takes the letters of Zipcode itself about processes that start and end during the
// session, in whichever round of progress they arrive. Functions require that the thread is inside.
//
// A process that zip_spawn() has started sends its form to process 0, as all do. The starter sends process 0 the list
// of the processes that it has started. When process 0 has both, it admits the new process, or reports its wrong form
// to the starter, which ends it. zip_kill() informs process 0, and process 0 all others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libraries/zipcode/post.hpp"

namespace margay::zipcode::core {

class PostmasterGeneral;

// The error of a process that has begun by another form than process 0; empty: none.
[[nodiscard]] std::string form_error(std::uint32_t peer, const std::string& form, const std::string& form_of_0);

class Registrar final : public host::Observer {
 public:
  // `form`: the call that has begun the session.
  Registrar(Post& post, std::string form) : post_(post), form_(std::move(form)) {}
  // The letters of Zipcode itself notify one observer, which passes the call on; nullptr: to none.
  void pass_on_to(PostmasterGeneral* server) { server_ = server; }

  // This process has started these, and waits for their admission, of which take_admitted() has the verdict.
  void add_started(std::span<const portals::Rank> places);
  // Whether a process that this one has started has begun; `verdict`: empty, or its error.
  [[nodiscard]] bool take_admitted(portals::Rank place, std::string& verdict);
  // This process has ended these.
  void add_ended(std::span<const portals::Rank> places);

  // In process 0: the processes that were started and not ended; whether there ever was one.
  [[nodiscard]] const std::set<portals::Rank>& later() const { return later_; }
  [[nodiscard]] bool has_had_later() const { return has_had_later_; }

 private:
  // A process that has begun, or that its starter has named.
  struct Newcomer {
    std::optional<portals::Rank> starter;
    std::optional<std::string> form;
  };
  void notify() override;
  void take_newcomers();
  void take_ended();
  void admit_if_known(portals::Rank place);
  // In process 0: informs all others, except `source`.
  void pass_on_ended(std::span<const portals::Rank> places, portals::Rank source);
  // The places in a letter; empty: it is damaged.
  [[nodiscard]] std::vector<portals::Rank> places_in(Bytes body) const;

  Post& post_;
  const std::string form_;
  PostmasterGeneral* server_ = nullptr;
  std::map<portals::Rank, Newcomer> newcomers_;
  std::set<portals::Rank> later_;
  bool has_had_later_ = false;
};

}  // namespace margay::zipcode::core
