// The Postmaster General: the part of process 0 that issues context_ids (paper 000, figure 2). It works in whichever
// round of progress a letter arrives, also while the program of process 0 computes, and calls nothing of the program.
//
// A Postmaster sends it a group. In its turn, the opening gets context_ids that no member uses, and the token; the
// group and the ids go to each member, to the Postmaster last. When its copy arrives, the Postmaster returns the token.
// So the copies of one opening are on their way before the next opening begins, and all members receive openings in one
// order.
//
// Without the token (MARGAY_ZIPCODE_TOKEN=off), all openings proceed at once, each by a copy in its turn. Two members
// of two groups may then take part in the two openings in different orders, and wait for each other forever.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "libraries/zipcode/contexts.hpp"
#include "libraries/zipcode/mailer.hpp"
#include "libraries/zipcode/post.hpp"

namespace margay::zipcode::core {

class PostmasterGeneral final : public host::Observer {
 public:
  PostmasterGeneral(Post& post, bool has_token);
  ~PostmasterGeneral() override;
  // Takes all letters that have arrived for it, and sends copies. The registrar calls it for letters.
  void serve();
  // Whether it has copies to send, which needs a round of progress but no letter.
  [[nodiscard]] bool is_busy() const { return !active_.empty(); }

 private:
  struct Active {
    Opening opening;
    std::size_t copies_left;
  };
  void notify() override { serve(); }
  void begin(const Opening& opening);
  // Sends a copy to the next member. Returns whether it was the last one.
  bool send_copy(Active& active);
  void close(const Opening& closed);
  // Works in each round of progress while there are openings without the token.
  void watch_rounds(bool on);

  Post& post_;
  const bool has_token_;
  bool is_watching_ = false;
  std::vector<ContextSet> used_;  // by rank
  std::deque<Opening> waiting_;
  std::deque<Active> active_;
  // The holder of the token; kAnyRank: it is here.
  portals::Rank holder_ = portals::kAnyRank;
};

}  // namespace margay::zipcode::core
