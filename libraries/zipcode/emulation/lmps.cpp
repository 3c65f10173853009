// Tagged message passing in the manner of LMPS: zipcode_lmps.h. A message is a letter of class L, and class L selects.
#include "margay/zipcode_lmps.h"

#include <cstring>
#include <string>

#include "libraries/zipcode/emulation/outermost_call.hpp"
#include "libraries/zipcode/error.hpp"

namespace margay::zipcode::core {

namespace {

int failed(const char* name, const std::string& error) {
  report(std::string(name) + ": " + error);
  return -1;
}

// The process of a rank. False for an invalid rank.
bool process_of(ZIP_MAILER* mailer, int rank, Zip_process& out) {
  ZIP_ADDRESSEES* members = zip_addressees(mailer);
  if (members == nullptr) return false;
  const bool is_there = rank >= 0 && rank < zip_addressees_size(members);
  if (is_there) out = zip_addressee(members, rank);
  zip_free_addressees(&members);
  return is_there;
}

int rank_of(ZIP_MAILER* mailer, int node, int pid) {
  ZIP_ADDRESSEES* members = zip_addressees(mailer);
  const int rank = zip_addressee_rank(members, node, pid);
  zip_free_addressees(&members);
  return rank;
}

int receive(const char* name, ZIP_MAILER* mailer, void* buffer, int most, int* from, long* tag, bool is_blocked) {
  Zip_process source{ZIP_ANY, ZIP_ANY};
  if (zip_class(mailer) != ZIP_L) return failed(name, "the mailer is not of class L");
  if (from != nullptr && *from != LMPS_ANY && !process_of(mailer, *from, source))
    return failed(name, "invalid process " + std::to_string(*from));
  if (most < 0 || (most > 0 && buffer == nullptr)) return failed(name, "invalid buffer");
  const long wanted = tag == nullptr ? ZIP_ANY : *tag;
  char* const letter =
      is_blocked ? l_recvb(mailer, source.node, source.pid, wanted) : l_recv(mailer, source.node, source.pid, wanted);
  if (letter == nullptr) return is_blocked ? -1 : -2;
  int node = 0, pid = 0;
  long its_tag = 0;
  l_sender(mailer, letter, &node, &pid, &its_tag);
  const int length = zip_length(mailer, letter);
  if (length > 0 && length <= most) std::memcpy(buffer, letter, static_cast<std::size_t>(length));
  l_free_letter(mailer, letter);
  if (length > most) {
    return failed(
        name, "a message of " + std::to_string(length) + " bytes is longer than the buffer of " + std::to_string(most));
  }
  if (from != nullptr) *from = rank_of(mailer, node, pid);
  if (tag != nullptr) *tag = its_tag;
  return length;
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int lmps_me(ZIP_MAILER* mailer) {
  const OutermostCall call("lmps_me");
  return zip_rank(mailer);
}
int lmps_processes(ZIP_MAILER* mailer) {
  const OutermostCall call("lmps_processes");
  return zip_size(mailer);
}

int lmps_send(ZIP_MAILER* mailer, const void* buffer, int bytes, int to, long tag) {
  const char* const kCall = "lmps_send";
  const OutermostCall call(kCall);
  Zip_process target{};
  if (zip_class(mailer) != ZIP_L) return failed(kCall, "the mailer is not of class L");
  if (tag < 0) return failed(kCall, "invalid tag " + std::to_string(tag));
  if (!process_of(mailer, to, target)) return failed(kCall, "invalid process " + std::to_string(to));
  if (bytes < 0 || (bytes > 0 && buffer == nullptr)) return failed(kCall, "invalid buffer");
  char* const letter = l_new_letter(mailer, bytes);
  if (letter == nullptr) return -1;
  if (bytes > 0) std::memcpy(letter, buffer, static_cast<std::size_t>(bytes));
  l_send(mailer, letter, target.node, target.pid, tag);
  return 0;
}

int lmps_recv(ZIP_MAILER* mailer, void* buffer, int most, int* from, long* tag) {
  const OutermostCall call("lmps_recv");
  return receive("lmps_recv", mailer, buffer, most, from, tag, true);
}

int lmps_try_recv(ZIP_MAILER* mailer, void* buffer, int most, int* from, long* tag) {
  const OutermostCall call("lmps_try_recv");
  return receive("lmps_try_recv", mailer, buffer, most, from, tag, false);
}

int lmps_broadcast(ZIP_MAILER* mailer, void* buffer, int bytes, int origin) {
  const OutermostCall call("lmps_broadcast");
  int length = bytes;
  return zip_fanout(mailer, &buffer, &length, origin) == 0 ? 0 : -1;
}

int lmps_sync(ZIP_MAILER* mailer) {
  const OutermostCall call("lmps_sync");
  return zip_sync(mailer) == 0 ? 0 : -1;
}
