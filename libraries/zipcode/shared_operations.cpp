#include "libraries/zipcode/shared_operations.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/collective.hpp"
#include "libraries/zipcode/methods.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

// One member's part in an operation.
class Meeting {
 public:
  Meeting(Session& session, const char* call, ZIP_MAILER& mailer)
      : session_(session),
        call_(call),
        mailer_(mailer),
        memory_(*mailer.shared_memory),
        me_(static_cast<std::size_t>(mailer.rank())),
        size_(static_cast<std::size_t>(mailer.size())) {}
  [[nodiscard]] std::size_t me() const { return me_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::byte* slot(std::size_t member) const { return memory_.slot(member); }
  [[nodiscard]] std::byte* own() const { return memory_.slot(me_); }

  void barrier() {
    memory_.arrive(me_);
    for (int rank = 0; rank < mailer_.size(); ++rank) {
      const std::uint32_t peer = mailer_.group[mailer_.index_of(rank)].rank;
      if (peer != session_.me()) session_.rank.wake(peer);
    }
    bool is_over = false;
    // Another member's write ends the wait, and no message.
    const portals::Status status =
        host::wait_until(session_.rank, {.call = shown_name(call_), .needs_message = false}, [&] {
          is_over = is_over || memory_.is_over(me_);
          return is_over || session_.post.find_ended(mailer_.group) != portals::kAnyRank;
        });
    if (!is_over) fail(status.ok() ? ended_text(session_.post.find_ended(mailer_.group)) : status.sentence());
  }

  // announce(), a barrier, and check_buffers(): fails at all members unless they have buffers of one size. The members
  // meet again before the next announcement.
  void announce(const SharedMemory::Announcement& own) { memory_.announcement(me_) = own; }
  void check_buffers() {
    const SharedMemory::Announcement& own = memory_.announcement(me_);
    for (std::size_t other = 0; other < size_; ++other) {
      const SharedMemory::Announcement others = memory_.announcement(other);
      if (others == own) continue;
      barrier();
      fail("rank " + std::to_string(mailer_.group[mailer_.index_of(static_cast<int>(other))].rank) +
           " has a buffer of " + std::to_string(others.items) + " items of " + std::to_string(others.size) +
           " bytes, this process one of " + std::to_string(own.items) + " of " + std::to_string(own.size));
    }
  }

 private:
  Session& session_;
  const char* call_;
  ZIP_MAILER& mailer_;
  SharedMemory& memory_;
  std::size_t me_, size_;
};

void run_method(Session& session, const Method& method, std::byte* into, const std::byte* from, std::size_t size,
                std::size_t items) {
  run_outside(session.rank, [&] { combine(method, into, from, static_cast<int>(size), static_cast<int>(items)); });
}

void check(const void* buffer, const Method* method, int size, int items) {
  if (size < 0 || items < 0)
    fail("the buffer has " + std::to_string(items) + " items of " + std::to_string(size) + " bytes");
  if (const std::string error = combine_error(method, static_cast<std::size_t>(size)); !error.empty()) fail(error);
  if (buffer == nullptr && size != 0 && items != 0) fail("the buffer is NULL");
}

// Copies the items of a buffer into the member's slot, a slot at a time, and calls `step(first, count)` when all
// members have. The step ends with a barrier. Returns false, at all members, if an item is longer than a slot.
template <typename Step>
bool in_parts(Meeting& meeting, const std::byte* bytes, int size, int items, Step step) {
  const auto each = static_cast<std::size_t>(size), all = static_cast<std::size_t>(items);
  const std::size_t most = each == 0 ? 0 : SharedMemory::kSlotBytes / each;
  meeting.announce({each, all});
  std::size_t first = 0;
  do {
    const std::size_t count = std::min(most, all - first);
    if (count != 0) std::memcpy(meeting.own(), bytes + first * each, count * each);
    meeting.barrier();
    if (first == 0) meeting.check_buffers();
    if (count == 0) {
      meeting.barrier();  // before the next announcement
      break;
    }
    step(first, count);
    first += count;
  } while (first < all);
  return most != 0 || each == 0 || all == 0;
}

// Each member combines its part of the items of all slots, in slot 0. The result goes to all, or to `dest`. false: the
// operation is not done, because an item is too long.
bool combine_in_memory(Session& session, const char* call, ZIP_MAILER& mailer, int dest, void* buffer, Method* method,
                       int size, int items) {
  check(buffer, method, size, items);
  Meeting meeting(session, call, mailer);
  auto* const bytes = static_cast<std::byte*>(buffer);
  const auto each = static_cast<std::size_t>(size);
  return in_parts(meeting, bytes, size, items, [&](std::size_t first, std::size_t count) {
    const std::size_t from = count * meeting.me() / meeting.size(), to = count * (meeting.me() + 1) / meeting.size();
    for (std::size_t other = 1; other < meeting.size() && from < to; ++other) {
      run_method(session, *method, meeting.slot(0) + from * each, meeting.slot(other) + from * each, each, to - from);
    }
    meeting.barrier();
    if (dest < 0 || dest == mailer.rank()) std::memcpy(bytes + first * each, meeting.slot(0), count * each);
    meeting.barrier();
  });
}

bool prefix_in_memory(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size,
                      int items) {
  check(buffer, method, size, items);
  Meeting meeting(session, call, mailer);
  auto* const bytes = static_cast<std::byte*>(buffer);
  const auto each = static_cast<std::size_t>(size);
  return in_parts(meeting, bytes, size, items, [&](std::size_t first, std::size_t count) {
    for (std::size_t other = 0; other < meeting.me(); ++other)
      run_method(session, *method, bytes + first * each, meeting.slot(other), each, count);
    meeting.barrier();
  });
}

// The state of a fan-out, in front of the first part in the origin's slot.
constexpr std::size_t kLengthBytes = 64;

void fanout_in_memory(Session& session, const char* call, ZIP_MAILER& mailer, void** data, int* length, int orig) {
  if (data == nullptr || length == nullptr) fail("data or length is NULL");
  Meeting meeting(session, call, mailer);
  const bool is_origin = mailer.rank() == orig;
  if (is_origin && (*length < 0 || (*data == nullptr && *length != 0)))
    fail("the origin passes no data: *data is NULL, or *length negative (" + std::to_string(*length) + ")");
  std::byte* const slot = meeting.slot(static_cast<std::size_t>(orig));
  constexpr std::size_t kMost = SharedMemory::kSlotBytes - kLengthBytes;
  std::size_t bytes = is_origin ? static_cast<std::size_t>(*length) : 0;
  std::byte* room = is_origin ? static_cast<std::byte*>(*data) : nullptr;
  std::string why;
  for (std::size_t first = 0; first == 0 || first < bytes; first += kMost) {
    if (is_origin) {
      std::memcpy(slot, &bytes, sizeof bytes);
      if (bytes != 0) std::memcpy(slot + kLengthBytes, room + first, std::min(kMost, bytes - first));
    }
    meeting.barrier();
    if (!is_origin && first == 0) {
      std::memcpy(&bytes, slot, sizeof bytes);
      room = static_cast<std::byte*>(room_for(data, length, bytes, why));
    }
    if (!is_origin && room != nullptr && bytes != 0)
      std::memcpy(room + first, slot + kLengthBytes, std::min(kMost, bytes - first));
    meeting.barrier();
  }
  if (is_origin) return;
  if (room == nullptr) fail(why);
  *data = room;
  *length = static_cast<int>(bytes);
}

// The cached functions. An item that is longer than a slot goes by messages, at all members alike.
int shared_combine(ZIP_MAILER* mailer, void* buffer, Method* method, int size, int items, void* /*state*/) {
  bool is_done = true;
  const int result = call_int("zip_combine", [&](Session& session) {
    is_done = combine_in_memory(session, "zip_combine", *mailer, -1, buffer, method, size, items);
  });
  return is_done ? result : zip_combine(mailer, buffer, method, size, items);
}
int shared_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* method, int size, int items, void* /*state*/) {
  bool is_done = true;
  const int result = call_int("zip_fanin", [&](Session& session) {
    is_done = combine_in_memory(session, "zip_fanin", *mailer, dest, buffer, method, size, items);
  });
  return is_done ? result : zip_fanin(mailer, dest, buffer, method, size, items);
}
int shared_prefix(ZIP_MAILER* mailer, void* buffer, Method* method, int size, int items, void* /*state*/) {
  bool is_done = true;
  const int result = call_int("zip_prefix", [&](Session& session) {
    is_done = prefix_in_memory(session, "zip_prefix", *mailer, buffer, method, size, items);
  });
  return is_done ? result : zip_prefix(mailer, buffer, method, size, items);
}
int shared_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig, void* /*state*/) {
  return call_int("zip_fanout",
                  [&](Session& session) { fanout_in_memory(session, "zip_fanout", *mailer, data, length, orig); });
}
int shared_sync(ZIP_MAILER* mailer, void* /*state*/) {
  return call_int("zip_sync", [&](Session& session) { Meeting(session, "zip_sync", *mailer).barrier(); });
}

template <typename Function>
Method method_of(Function* function) {
  Method method{};
  method.kind = ZIP_METHOD_FUNCTION;
  method.function = reinterpret_cast<Zip_function*>(function);
  return method;
}

// Whether all members have `holds`.
bool all_have(Session& session, const char* call, ZIP_MAILER& mailer, bool holds) {
  std::vector<std::uint64_t> count{holds ? 1U : 0U};
  add_up(session, call, mailer, count, Scope::members);
  return count.front() == static_cast<std::uint64_t>(mailer.size());
}

}  // namespace

bool is_on_one_node(const Session& session, const ZIP_MAILER& mailer) {
  const std::span<const Member> members = std::span(mailer.group).subspan(mailer.index_of(0));
  return std::ranges::all_of(members, [&](const Member& each) { return session.rank.on_node(each.rank); });
}

bool use_shared_memory(Session& session, const char* call, ZIP_MAILER& mailer) {
  if (mailer.is_outside() || !is_on_one_node(session, mailer)) return false;
  const auto members = static_cast<std::size_t>(mailer.size());
  std::string name;
  std::unique_ptr<SharedMemory> memory;
  if (mailer.rank() == 0) {
    memory = SharedMemory::create(members);
    if (memory != nullptr) name = memory->name();
  }
  void* data = name.data();
  int length = static_cast<int>(name.size());
  if (mailer.rank() != 0) data = nullptr;
  fanout(session, call, mailer, &data, &length, nullptr, 0);
  if (mailer.rank() != 0) {
    name.assign(static_cast<const char*>(data), static_cast<std::size_t>(length));
    std::free(data);
    if (!name.empty()) memory = SharedMemory::open(name, members);
  }
  const bool is_shared = all_have(session, call, mailer, memory != nullptr);
  if (!is_shared) return false;
  memory->unlink();
  mailer.shared_memory = std::move(memory);
  static Method combining = method_of(shared_combine), fanning_out = method_of(shared_fanout),
                fanning_in = method_of(shared_fanin), prefixing = method_of(shared_prefix),
                syncing = method_of(shared_sync);
  mailer.operations[ZIP_OP_COMBINE] = {&combining, "shared memory"};
  mailer.operations[ZIP_OP_FANOUT] = {&fanning_out, "shared memory"};
  mailer.operations[ZIP_OP_FANIN] = {&fanning_in, "shared memory"};
  mailer.operations[ZIP_OP_PREFIX] = {&prefixing, "shared memory"};
  mailer.operations[ZIP_OP_SYNC] = {&syncing, "shared memory"};
  return true;
}

}  // namespace margay::zipcode::core
