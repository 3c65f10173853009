// The pairs of info objects (MPI 4.0, chapter 10; MPI_Info_get and _get_valuelen are deprecated there).
#include <algorithm>
#include <cstring>
#include <string>

#include "mpi/call/binding.hpp"
#include "mpi/info/arguments.hpp"

using namespace margay::mpi;

namespace {

// Copies at most `characters` bytes and a zero, for which `out` has one more byte.
void copy_text(const std::string& text, char* out, std::size_t characters) {
  const std::size_t length = std::min(text.size(), characters);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

// Looks a key up and, if it exists, calls `use` with its value, while the table is locked. An error is raised after
// the unlock, because its handler may use info objects.
template <typename Use>
int look_up(EarlyCall& call, MPI_Info info, const char* key, int* flag, Use use) {
  call.not_null(flag, "flag");
  check_key(call, key);
  {
    const InfoAccess infos;
    const Info* found = find_info(call, infos, info);
    if (found != nullptr && call.ok()) {
      const std::string* value = found->find(key);
      *flag = value != nullptr ? 1 : 0;
      if (value != nullptr) use(*value);
    }
  }
  return call.done();
}

}  // namespace

extern "C" int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
  EarlyCall call(call_name<"MPI_Info_set">);
  check_key(call, key);
  if (value == nullptr) {
    call.error(MPI_ERR_INFO_VALUE, "value is a null pointer");
  } else if (bounded_length(value, MPI_MAX_INFO_VAL) > MPI_MAX_INFO_VAL) {
    call.error(MPI_ERR_INFO_VALUE, "value is longer than MPI_MAX_INFO_VAL (1024)");
  }
  {
    const InfoAccess infos;
    Info* const found = find_own_info(call, infos, info);
    // Replaces the value of an existing key, which keeps its place in the order.
    if (found != nullptr && call.ok()) found->set(key, value);
  }
  return call.done();
}
MARGAY_ALIAS(Info_set)

extern "C" int PMPI_Info_delete(MPI_Info info, const char* key) {
  EarlyCall call(call_name<"MPI_Info_delete">);
  check_key(call, key);
  {
    const InfoAccess infos;
    Info* const found = find_own_info(call, infos, info);
    // A missing key is an error of its own class (MPI 4.0, 10).
    if (found != nullptr && call.ok() && !found->remove(key))
      call.error(MPI_ERR_INFO_NOKEY, "the info object has no key '" + std::string(key) + "'");
  }
  return call.done();
}
MARGAY_ALIAS(Info_delete)

extern "C" int PMPI_Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  EarlyCall call(call_name<"MPI_Info_get">);
  if (valuelen < 0) call.error(MPI_ERR_ARG, "valuelen is " + std::to_string(valuelen) + ", below 0");
  call.not_null(value, "value");
  return look_up(call, info, key, flag, [valuelen, value](const std::string& found) {
    // valuelen counts characters without the zero, unlike buflen of MPI_Info_get_string.
    copy_text(found, value, static_cast<std::size_t>(valuelen));
  });
}
MARGAY_ALIAS(Info_get)

extern "C" int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  EarlyCall call(call_name<"MPI_Info_get_string">);
  call.not_null(buflen, "buflen");
  if (call.ok() && *buflen < 0) call.error(MPI_ERR_ARG, "buflen is " + std::to_string(*buflen) + ", below 0");
  if (call.ok() && *buflen > 0) call.not_null(value, "value");
  return look_up(call, info, key, flag, [buflen, value](const std::string& found) {
    // If *buflen is 0, only the value's length is returned.
    if (*buflen > 0) copy_text(found, value, static_cast<std::size_t>(*buflen) - 1);
    // The length that the whole value needs, so that the program can call again.
    *buflen = static_cast<int>(found.size()) + 1;
  });
}
MARGAY_ALIAS(Info_get_string)

extern "C" int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  EarlyCall call(call_name<"MPI_Info_get_valuelen">);
  call.not_null(valuelen, "valuelen");
  return look_up(call, info, key, flag,
                 [valuelen](const std::string& found) { *valuelen = static_cast<int>(found.size()); });
}
MARGAY_ALIAS(Info_get_valuelen)

extern "C" int PMPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
  EarlyCall call(call_name<"MPI_Info_get_nkeys">);
  call.not_null(nkeys, "nkeys");
  {
    const InfoAccess infos;
    const Info* found = find_info(call, infos, info);
    if (found != nullptr) *nkeys = static_cast<int>(found->pairs.size());
  }
  return call.done();
}
MARGAY_ALIAS(Info_get_nkeys)

extern "C" int PMPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
  EarlyCall call(call_name<"MPI_Info_get_nthkey">);
  call.not_null(key, "key");
  {
    const InfoAccess infos;
    const Info* found = find_info(call, infos, info);
    if (found != nullptr && (n < 0 || static_cast<std::size_t>(n) >= found->pairs.size())) {
      call.error(MPI_ERR_ARG, "n is " + std::to_string(n) + "; the info object has " +
                                  std::to_string(found->pairs.size()) + " keys, counted from 0");
    } else if (found != nullptr) {
      // As in MPICH: programs pass a buffer of MPI_MAX_INFO_KEY bytes with the zero.
      copy_text(found->pairs[static_cast<std::size_t>(n)].first, key, MPI_MAX_INFO_KEY - 1);
    }
  }
  return call.done();
}
MARGAY_ALIAS(Info_get_nthkey)
