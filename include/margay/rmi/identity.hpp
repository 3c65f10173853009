// The identity of a program, by which the nodes of a job test that all run the same one. Each node computes its
// identity at the start, and the nodes compare them, because functors and methods are named by hashes and offsets that
// only one program gives the same meaning.
//
//   const ProgramIdentity mine = program_identity();
//   for (int node = 0; node < nodes; ++node)                          // as the library has gathered them
//     if (const std::string why = difference(mine, me, all[node], node); !why.empty()) throw error(why);
//
// The library sends each node's identity to node 0, which compares them with its own and sends the verdict back: two
// messages for each other node, at the start only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "margay/rmi/functor_table.hpp"
#include "margay/rmi/module.hpp"

namespace margay::rmi {

// The identity of a node's program. Trivially copyable, so that nodes exchange it as bytes. `program` and `functors`
// decide; the rest is for messages, because a reader needs to see which file is the wrong one.
struct ProgramIdentity {
  std::uint64_t program = 0;   // the program's module id
  std::uint64_t functors = 0;  // a hash of the functors' names, each with the id of its module
  std::uint32_t functor_count = 0;
  std::array<char, 44> build_id{};  // of the program, in hexadecimal, or empty; ends with a zero
  std::array<char, 168> path{};     // its end, if it is longer; ends with a zero
};

namespace detail {

// Copies `text`, or as much of its end as fits, because the end of a path has the program's name. Ends with a zero.
template <std::size_t Size>
void copy_end(std::array<char, Size>& to, std::string_view text) {
  if (text.size() >= Size) text.remove_prefix(text.size() - Size + 1);
  to = {};
  std::copy(text.begin(), text.end(), to.begin());
}

// A text that came from another node and may lack its zero.
template <std::size_t Size>
std::string text_of(const std::array<char, Size>& from) {
  return {from.begin(), std::find(from.begin(), from.end(), '\0')};
}

}  // namespace detail

// This node's identity. Call it once, at the start of the job, after all libraries with functors are loaded. Throws as
// check_functors(). The program and all libraries with functors must be the same on all nodes. Any other library may
// differ; a method in it is checked when a request names it. Reads the whole code of a program without a build id
// (module.hpp).
[[nodiscard]] inline ProgramIdentity program_identity() {
  check_functors();
  ProgramIdentity identity;
  const Module& program = *modules().front();
  identity.program = program.id;
  detail::copy_end(identity.build_id, program.build_id);
  detail::copy_end(identity.path, program.path);
  std::vector<std::uint64_t> each;
  for (const FunctorEntry* functor : all_functors()) each.push_back(hash_text(functor->name(), functor->module().id));
  // The order of registration is the linker's and the loader's.
  std::sort(each.begin(), each.end());
  identity.functors = hash_bytes(each.data(), each.size() * sizeof each.front());
  identity.functor_count = static_cast<std::uint32_t>(each.size());
  return identity;
}

// Compares two identities, at least one of which came from another node and is not trusted. Returns "" if the two nodes
// can be in one job, otherwise the message that names both programs and the cure. Different programs are reported
// before different functors, because they are the usual cause.
[[nodiscard]] inline std::string difference(const ProgramIdentity& one, int node, const ProgramIdentity& other,
                                            int other_node) {
  // As "node 0 runs /home/me/sort (build id 1f3a..., 12 functors)".
  const auto described = [](const ProgramIdentity& of, int number) {
    const std::string build = detail::text_of(of.build_id);
    return "node " + std::to_string(number) + " runs " + detail::text_of(of.path) + " (build id " +
           (build.empty() ? "none" : build) + ", " + std::to_string(of.functor_count) + " functors)";
  };
  if (one.program == other.program && one.functors == other.functors) return "";
  const std::string both = described(one, node) + ", " + described(other, other_node);
  if (one.program != other.program)
    return "different programs in one job: " + both + "; start one program, copied to all machines";
  return "different methods in one job: " + both + "; install the same versions of its libraries on all machines";
}

}  // namespace margay::rmi
