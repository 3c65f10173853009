// The session of a process: all parts of Zipcode in a rank.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "libraries/zipcode/contexts.hpp"
#include "libraries/zipcode/mailer.hpp"
#include "libraries/zipcode/post.hpp"
#include "libraries/zipcode/postmaster.hpp"
#include "libraries/zipcode/registrar.hpp"

namespace margay::zipcode::core {

// The properties by which the four forms of initialisation differ.
struct Form {
  bool has_host = true;
  bool has_postmaster_general = true;
  friend bool operator==(const Form&, const Form&) = default;
};

// A key of attributes.
struct AttributeKey {
  Zip_delete_attribute* delete_fn = nullptr;
  void* extra = nullptr;
};

struct Session {
  // `call`: the one that begins the session.
  Session(host::Rank& joined, Form chosen, const char* call);

  [[nodiscard]] std::uint32_t me() const { return rank.rank(); }
  [[nodiscard]] Nodes nodes() const { return {rank.size(), form.has_host, &rank}; }
  // A mailer that the program names. Throws Error if it is not open.
  [[nodiscard]] ZIP_MAILER& open_mailer(ZIP_MAILER* mailer) const;
  // The same, of this class. Throws Error.
  [[nodiscard]] ZIP_MAILER& open_mailer(ZIP_MAILER* mailer, int mail_class) const;

  // --- Letters of the program, by the address of their body. ---

  // The program gets a letter.
  [[nodiscard]] char* hand_out(Letter letter);
  // A letter of this mailer that the program has; with nullptr of any mailer. Throws Error if it has none.
  [[nodiscard]] Letter& find_letter(const ZIP_MAILER* mailer, const char* body);
  // Takes it away from the program.
  [[nodiscard]] Letter take_back(const ZIP_MAILER* mailer, const char* body);

  host::Rank& rank;
  const Form form;
  // The call that has begun the session.
  const char* const begun_by;
  Post post;
  Registrar registrar;
  std::unique_ptr<PostmasterGeneral> postmaster_general;  // in process 0
  // The ranks that cohorts of this process have, but no process yet.
  std::set<std::uint32_t> reserved;
  // Without a Postmaster General: the context_ids that this process uses.
  ContextSet used;
  // Mailers that the program has opened, by their address; children are known through them.
  std::map<ZIP_MAILER*, std::unique_ptr<ZIP_MAILER>> mailers;
  std::set<const ZIP_MAILER*> known;
  using Letters = std::unordered_map<const char*, Letter>;
  Letters letters;
  std::vector<AttributeKey> keys;

 private:
  [[nodiscard]] Letters::iterator find_entry(const ZIP_MAILER* mailer, const char* body);

  // The entry of the last letter that the program returned, for the next one that it gets: most programs return each
  // letter before they get another.
  Letters::node_type spare_;
};

// The session of the calling thread; nullptr: none.
extern constinit thread_local Session* here;

}  // namespace margay::zipcode::core
