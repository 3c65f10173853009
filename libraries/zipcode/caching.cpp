// Method caching and attributes: section 4.4.6.
#include <array>
#include <utility>

#include "libraries/zipcode/attributes.hpp"
#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/methods.hpp"
#include "libraries/zipcode/operations.hpp"
#include "libraries/zipcode/shared_operations.hpp"

namespace margay::zipcode::core {

namespace {

std::size_t check_operation(const ZIP_MAILER& mailer, int operation) {
  if (operation < 0 || operation >= ZIP_OPERATIONS)
    fail("unknown operation " + std::to_string(operation) + "; use ZIP_OP_COMBINE to ZIP_OP_RECV");
  const bool is_of_two = operation == ZIP_OP_SEND || operation == ZIP_OP_RECV;
  if (!is_of_two) check_has_collectives(mailer);
  const bool is_of_ranks = mailer.mail_class == ZIP_Z || (mailer.mail_class >= ZIP_G1 && mailer.mail_class <= ZIP_G3);
  if (is_of_two && !is_of_ranks)
    fail("sends and receives of class " + mailer.traits->title + " are not replaced; use Z, G1, G2 or G3");
  return static_cast<std::size_t>(operation);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int zip_cache_method(ZIP_MAILER* mailer, int operation, Method* method, const char* name) {
  return call_int("zip_cache_method", [&](Session& session) {
    ZIP_MAILER& open = session.open_mailer(mailer);
    Operation& cached = open.operations[check_operation(open, operation)];
    if (method == nullptr) {
      cached = {};
      return;
    }
    if (const std::string error = kind_error(method, ZIP_METHOD_FUNCTION, "cached"); !error.empty()) fail(error);
    cached = {method, name == nullptr ? "a method of the program" : name};
  });
}

const char* zip_operation_name(ZIP_MAILER* mailer, int operation) {
  return call("zip_operation_name", "", [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer);
    if (operation < 0 || operation >= ZIP_OPERATIONS)
      fail("unknown operation " + std::to_string(operation) + "; use ZIP_OP_COMBINE to ZIP_OP_RECV");
    const Operation& cached = open.operations[static_cast<std::size_t>(operation)];
    return cached.method == nullptr ? "message passing" : cached.name.c_str();
  });
}

int zip_on_one_node(ZIP_MAILER* mailer) {
  return call("zip_on_one_node", 0,
              [&](Session& session) { return is_on_one_node(session, session.open_mailer(mailer)) ? 1 : 0; });
}

int zip_use_shared_memory(ZIP_MAILER* mailer) {
  return call("zip_use_shared_memory", -1, [&](Session& session) {
    ZIP_MAILER& open = session.open_mailer(mailer);
    check_has_collectives(open);
    return use_shared_memory(session, "zip_use_shared_memory", open) ? 0 : 1;
  });
}

int zip_new_key(Zip_delete_attribute* delete_fn, void* extra) {
  return call("zip_new_key", -1, [&](Session& session) {
    session.keys.push_back({delete_fn, extra});
    return static_cast<int>(session.keys.size()) - 1;
  });
}

int zip_set_attribute(ZIP_MAILER* mailer, int key, void* value) {
  return call_int("zip_set_attribute", [&](Session& session) {
    check_key(session, key);
    ZIP_MAILER& open = session.open_mailer(mailer);
    delete_attribute(session, open, key);
    session.open_mailer(mailer).attributes[key] = value;
  });
}

int zip_attribute(ZIP_MAILER* mailer, int key, void** value) {
  return call("zip_attribute", 0, [&](Session& session) {
    check_key(session, key);
    const ZIP_MAILER& open = session.open_mailer(mailer);
    const auto at = open.attributes.find(key);
    if (at == open.attributes.end()) return 0;
    if (value != nullptr) *value = at->second;
    return 1;
  });
}

int zip_delete_attribute(ZIP_MAILER* mailer, int key) {
  return call_int("zip_delete_attribute", [&](Session& session) {
    check_key(session, key);
    delete_attribute(session, session.open_mailer(mailer), key);
  });
}
