#include "libraries/zipcode/collective.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/methods.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

constexpr std::size_t kRankBytes = sizeof(std::int32_t);

// The members of an operation, numbered from its root on, and their letters.
//
// Where a member was ended, a member that waits for it fails, and so must those that wait for the latter. So a member
// that fails sends letters with the mark to its neighbours. They may have completed the operation: then the next one of
// the mailer fails, which the ended member could not have completed either.
class Tree {
 public:
  Tree(Session& session, const char* call, ZIP_MAILER& mailer, Scope scope, int root = 0)
      : session_(session), call_(call), mailer_(mailer) {
    const bool is_shifted = scope == Scope::members && mailer.is_postmaster_outside;
    shift_ = is_shifted ? 1 : 0;
    size_ = static_cast<int>(mailer.group.size()) - shift_;
    root_ = root;
    me_ = (mailer.index - shift_ - root + size_) % size_;
    if (const portals::Rank ended = session.post.find_ended(mailer.group); ended != portals::kAnyRank) give_up(ended);
  }
  [[nodiscard]] int size() const { return size_; }
  // This process's number; the root has 0.
  [[nodiscard]] int me() const { return me_; }

  void send(int number, Bytes bytes) { send(number, bytes, 0); }
  [[nodiscard]] Letter receive(int number) {
    const std::size_t from = index(number);
    const portals::Rank rank = mailer_.group[from].rank;
    // The source selects; with or without the mark.
    const Wanted wanted{.context = context(),
                        .mail_class = ZIP_Z,
                        .source = rank,
                        .box = {},
                        .box_bytes = kRankBytes,
                        .bits = static_cast<std::uint32_t>(from),
                        .ignore_bits = kBroken,
                        .is_any_box = true};
    Letter letter = await(wanted, rank);
    std::uint32_t box = 0;
    std::memcpy(&box, box_of(letter.envelope, kRankBytes).data(), sizeof box);
    if ((box & kBroken) == 0) return letter;
    portals::Rank ended = rank;
    if (letter.length() == sizeof ended) std::memcpy(&ended, letter.body(), sizeof ended);
    const bool is_later = ended >= session_.rank.size() && ended < session_.rank.places();
    if (is_later && ended != session_.me()) session_.post.add_ended(ended);
    give_up(ended);
  }

  // Calls `take` for the letter of each child, lowest first, and then sends `bytes` to the parent.
  void rise(Bytes bytes, const std::function<void(Letter&)>& take) {
    for (int step = 1; step < size_; step *= 2) {
      if ((me_ & step) != 0) return send(parent(), bytes);
      if (me_ + step >= size_) continue;
      Letter letter = receive(me_ + step);
      take(letter);
    }
  }
  // The parent's letter. Requires: not the root.
  [[nodiscard]] Letter receive_from_parent() { return receive(parent()); }
  void send_to_children(Bytes bytes) { send_to_children(bytes, 0); }

 private:
  [[nodiscard]] int parent() const { return me_ - (me_ & -me_); }
  [[nodiscard]] std::size_t index(int number) const {
    const int at = (number + root_) % size_ + shift_;
    return static_cast<std::size_t>(at);
  }
  [[nodiscard]] std::uint16_t context() const { return static_cast<std::uint16_t>(mailer_.context + 1); }

  void send(int number, Bytes bytes, std::uint32_t mark) {
    const std::size_t to = index(number);
    Letter letter = session_.post.make(context(), ZIP_Z, kRankBytes, bytes.size());
    if (!bytes.empty()) std::memcpy(letter.body(), bytes.data(), bytes.size());
    const std::uint32_t box = static_cast<std::uint32_t>(mailer_.index) | mark;
    session_.post.send(std::move(letter), {mailer_.group[to].rank, std::as_bytes(std::span(&box, 1)), box});
  }
  void send_to_children(Bytes bytes, std::uint32_t mark) {
    int step = me_ == 0 ? 1 : me_ & -me_;
    while (me_ == 0 && step < size_) step *= 2;
    for (step /= 2; step > 0; step /= 2) {
      if (me_ + step < size_) send(me_ + step, bytes, mark);
    }
  }
  [[nodiscard]] Letter await(const Wanted& wanted, portals::Rank rank) {
    try {
      return session_.post.await(call_, wanted, mailer_.group);
    } catch (const Error&) {
      if (!session_.post.has_ended(rank)) throw;
    }
    give_up(rank);
  }
  [[noreturn]] void give_up(portals::Rank ended) {
    const Bytes name = std::as_bytes(std::span(&ended, 1));
    if (me_ != 0) send(parent(), name, kBroken);
    send_to_children(name, kBroken);
    // Those to whom a prefix sends; some are children, too.
    for (int distance = 1; me_ + distance < size_; distance *= 2) {
      if (distance >= (me_ == 0 ? size_ : me_ & -me_)) send(me_ + distance, name, kBroken);
    }
    fail(ended_text(ended));
  }

  Session& session_;
  const char* call_;
  ZIP_MAILER& mailer_;
  int shift_ = 0, size_ = 0, root_ = 0, me_ = 0;
};

[[nodiscard]] Bytes body_of(const Letter& letter) {
  return {letter.body(), letter.length()};
}

// Checks the arguments that all operations with a method have, and returns the bytes of the buffer.
std::size_t check_buffer(const void* buffer, const Method* method, int size, int items) {
  if (size < 0 || items < 0)
    fail("the buffer has " + std::to_string(items) + " items of " + std::to_string(size) + " bytes");
  if (const std::string error = combine_error(method, static_cast<std::size_t>(size)); !error.empty()) fail(error);
  const std::uint64_t bytes = static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(items);
  if (buffer == nullptr && bytes != 0) fail("the buffer is NULL");
  return static_cast<std::size_t>(bytes);
}

// Combines a letter of another member into the buffer.
void combine_letter(Session& session, void* buffer, const Letter& letter, const Method* method, int size, int items) {
  const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(items);
  if (letter.length() != bytes) {
    fail("rank " + std::to_string(letter.source) + " has a buffer of " + std::to_string(letter.length()) +
         " bytes, this process one of " + std::to_string(bytes));
  }
  if (bytes == 0) return;
  run_outside(session.rank, [&] { combine(*method, buffer, letter.body(), size, items); });
}

}  // namespace

void sync(Session& session, const char* call, ZIP_MAILER& mailer, Scope scope) {
  Tree tree(session, call, mailer, scope);
  tree.rise({}, [](Letter&) {});
  if (tree.me() != 0) static_cast<void>(tree.receive_from_parent());
  tree.send_to_children({});
}

void add_up(Session& session, const char* call, ZIP_MAILER& mailer, std::vector<std::uint64_t>& values, Scope scope) {
  Tree tree(session, call, mailer, scope);
  const Bytes bytes = std::as_bytes(std::span(values));
  const auto check = [&](const Letter& letter) {
    if (letter.length() != bytes.size())
      fail("the members call different functions; all call the same ones in one order");
  };
  tree.rise(bytes, [&](Letter& letter) {
    check(letter);
    const auto* const others = reinterpret_cast<const std::uint64_t*>(letter.body());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += others[i];
  });
  if (tree.me() != 0) {
    Letter letter = tree.receive_from_parent();
    check(letter);
    std::memcpy(values.data(), letter.body(), letter.length());
  }
  tree.send_to_children(bytes);
}

void fanin(Session& session, const char* call, ZIP_MAILER& mailer, int dest, void* buffer, Method* method, int size,
           int items) {
  const std::size_t bytes = check_buffer(buffer, method, size, items);
  Tree tree(session, call, mailer, Scope::members, dest);
  tree.rise({static_cast<const std::byte*>(buffer), bytes},
            [&](Letter& letter) { combine_letter(session, buffer, letter, method, size, items); });
}

void combine(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size,
             int items) {
  fanin(session, call, mailer, 0, buffer, method, size, items);
  const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(items);
  Tree tree(session, call, mailer, Scope::members);
  if (tree.me() != 0) {
    Letter letter = tree.receive_from_parent();
    if (letter.length() != bytes) {
      fail("rank " + std::to_string(letter.source) + " has a buffer of " + std::to_string(letter.length()) +
           " bytes, this process one of " + std::to_string(bytes));
    }
    if (bytes != 0) std::memcpy(buffer, letter.body(), bytes);
  }
  tree.send_to_children({static_cast<const std::byte*>(buffer), bytes});
}

// After the step of distance d, the buffer is the combination of 2d ranks, of which its own is the last.
void prefix(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size, int items) {
  const std::size_t bytes = check_buffer(buffer, method, size, items);
  Tree tree(session, call, mailer, Scope::members);
  for (int distance = 1; distance < tree.size(); distance *= 2) {
    if (tree.me() + distance < tree.size())
      tree.send(tree.me() + distance, {static_cast<const std::byte*>(buffer), bytes});
    if (tree.me() < distance) continue;
    Letter letter = tree.receive(tree.me() - distance);
    combine_letter(session, buffer, letter, method, size, items);
  }
}

void* room_for(void** data, int* length, std::size_t bytes, std::string& why) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    why = "the data have " + std::to_string(bytes) + " bytes, more than an int holds";
    return nullptr;
  }
  if (*data == nullptr) {
    void* const made = std::malloc(bytes == 0 ? 1 : bytes);
    if (made == nullptr) why = "out of memory for " + std::to_string(bytes) + " bytes";
    return made;
  }
  if (*length < 0 || static_cast<std::size_t>(*length) < bytes) {
    why = "the data have " + std::to_string(bytes) + " bytes, but *length is " + std::to_string(*length) +
          "; pass *data == NULL for memory of their length";
    return nullptr;
  }
  return *data;
}

void execute(Session& session, const Method& method, void* data, int bytes) {
  run_outside(session.rank,
              [&] { reinterpret_cast<Zip_execute_function*>(method.function)(data, bytes, method.state); });
}

void fanout(Session& session, const char* call, ZIP_MAILER& mailer, void** data, int* length, Method* exec, int orig) {
  if (data == nullptr || length == nullptr) fail("data or length is NULL");
  Tree tree(session, call, mailer, Scope::members, orig);
  if (tree.me() == 0) {
    if (*length < 0) fail("the length is " + std::to_string(*length) + "; it must not be negative");
    if (*data == nullptr && *length != 0)
      fail("the origin passes *data == NULL, but a length of " + std::to_string(*length));
    if (exec != nullptr) execute(session, *exec, *data, *length);
    return tree.send_to_children({static_cast<const std::byte*>(*data), static_cast<std::size_t>(*length)});
  }
  Letter letter = tree.receive_from_parent();
  std::string why;
  void* const room = room_for(data, length, letter.length(), why);
  if (room == nullptr) {
    // The others get the data all the same.
    tree.send_to_children(body_of(letter));
    fail(why);
  }
  const std::size_t bytes = letter.length();
  if (bytes != 0) std::memcpy(room, letter.body(), bytes);
  if (exec != nullptr) execute(session, *exec, room, static_cast<int>(bytes));
  tree.send_to_children({static_cast<const std::byte*>(room), bytes});
  *data = room;
  *length = static_cast<int>(bytes);
}

}  // namespace margay::zipcode::core
