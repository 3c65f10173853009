#include "libraries/zipcode/attributes.hpp"

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

void check_key(const Session& session, int key) {
  if (key < 0 || static_cast<std::size_t>(key) >= session.keys.size())
    fail("unknown key " + std::to_string(key) + "; zip_new_key() returns keys");
}

void delete_attribute(Session& session, ZIP_MAILER& mailer, int key) {
  const auto at = mailer.attributes.find(key);
  if (at == mailer.attributes.end()) return;
  void* const value = at->second;
  // First, because the function may use attributes.
  mailer.attributes.erase(at);
  const AttributeKey deleted = session.keys[static_cast<std::size_t>(key)];
  if (deleted.delete_fn == nullptr) return;
  run_outside(session.rank, [&] { deleted.delete_fn(&mailer, key, value, deleted.extra); });
}

void delete_attributes(Session& session, ZIP_MAILER& mailer) {
  for (const auto& child : mailer.children) delete_attributes(session, *child);
  while (!mailer.attributes.empty()) delete_attribute(session, mailer, mailer.attributes.begin()->first);
}

}  // namespace margay::zipcode::core
