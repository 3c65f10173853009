#include "sim/kernel/coprocessor.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"
#include "sim/shm/parking.hpp"

namespace margay::sim {

namespace {

// Between looks at work that is known to be there while the owner computes; well below the 50 ms that a waiting peer is
// promised, and well above the length of an ordinary MPI call. Each look costs some 5 us of a processor.
constexpr std::uint64_t kTickNs = 1'000'000;
// The same while messages move: who was answered has the next question soon (a lock, then what is done under it).
constexpr std::uint64_t kLivelyTickNs = 100'000;
constexpr std::uint32_t kLivelyTicks = 20;
// The same while only a wire that rings no bell makes it look, and the owner stays inside, where it looks itself. What
// comes just after it left waits for this long.
constexpr std::uint64_t kIdleTickNs = 10'000'000;
static_assert(kLivelyTickNs <= kTickNs && kTickNs <= kIdleTickNs);
// Rounds (about 3 us each) without anything moving before it sleeps again. It does not yield meanwhile: that would give
// the computing owner's processor back to it for milliseconds, where a sleeper is woken by the next nudge at once.
constexpr int kQuietRounds = 16;
// Looks for an owner that leaves, of some 40 ns each: 20 us, longer than most calls that only compute take. Then one
// yield, for an owner that lost its processor to this thread in the middle of a call.
constexpr int kLooksForLeave = 500;

}  // namespace

struct Coprocessor::Impl {
  Settings settings;
  Round round;
  BellData own_bell;  // when the node has no other rank
  BellOwner bell{own_bell};
  Parking parking;
  pthread_t thread{};
  bool running = false;
  std::uint32_t lively = 0;   // ticks that are short
  std::uint64_t entries = 0;  // the owner's, at the last tick
  // The bell was rung, and nobody is known to have looked since.
  bool unseen = false;
  std::uint64_t unseen_looks = 0;  // so many looks, and the ring is seen

  static void* begin(void* self) {
    static_cast<Impl*>(self)->run();
    return nullptr;
  }
  void run();
  bool enter(bool patient);
  bool work(bool patient);
  bool wait(bool pending, std::uint32_t& seen);
  void take_note_of_ring();
};

// False: the owner is inside. `patient`: it may be making short local calls without end, none of which makes progress;
// then this thread waits for up to 20 us until it leaves, and stops it at its next entry.
bool Coprocessor::Impl::enter(bool patient) {
  if (!patient) return settings.lock->try_enter_other();
  const std::uint64_t looks = settings.kernel->looks();
  int waited = 0;
  return settings.lock->enter_other([&] {
    if (settings.kernel->looks() != looks || waited > kLooksForLeave) return true;
    if (++waited <= kLooksForLeave) {
      spin_pause();
    } else {
      ::sched_yield();
    }
    return false;
  });
}

// One stay: as long as the owner is outside and messages move. Returns whether work is left behind.
bool Coprocessor::Impl::work(bool patient) {
  Recorder& recorder = settings.kernel->recorder();
  patient = patient && settings.lock->owner_inside();  // an owner that comes in during this stay looks itself
  std::uint32_t moved_rounds = 0;
  bool pending = true;
  for (int quiet = 0; quiet < kQuietRounds && !parking.stopping();) {
    if (!enter(patient)) return true;
    settings.kernel->owner_away(true);
    // What a round does is recorded while it does it: that it has begun is known afterwards.
    const std::uint64_t began = moved_rounds == 0 && recorder.on() ? recorder.stamp() : 0;
    bool moved = round();
    moved |= settings.kernel->take_body_moved();
    settings.kernel->owner_away(false);
    if (moved) lively = kLivelyTicks;
    if (moved && moved_rounds++ == 0 && recorder.on()) recorder.record({.kind = TraceKind::coprocessor_begin}, began);
    pending = settings.kernel->unfinished() || !settings.kernel->idle();
    if (pending && !moved) settings.kernel->nudge();
    const bool done = !moved && quiet + 1 == kQuietRounds;
    if (done && moved_rounds > 0 && recorder.on()) {
      recorder.record({.kind = TraceKind::coprocessor_end, .a = moved_rounds});
    }
    settings.lock->leave_other();
    quiet = moved ? 0 : quiet + 1;
  }
  return pending;
}

// Until there may be something to do; returns true when it was rung, or the owner did not look for a whole tick: it was
// outside, or its calls were all of those that have no reason to look.
bool Coprocessor::Impl::wait(bool pending, std::uint32_t& seen) {
  const bool tick = pending || settings.ticks || !parking.park();
  const std::uint64_t looks = settings.kernel->looks();
  // In one stay for a whole tick. One that only happens to be inside may be there for a short call that looks at
  // nothing.
  const std::uint64_t entries_before = std::exchange(entries, settings.lock->owner_entries());
  const bool idle = !pending && settings.lock->owner_inside() && entries == entries_before;
  const std::uint64_t tick_ns = idle ? kIdleTickNs : lively != 0 ? kLivelyTickNs : kTickNs;
  if (lively != 0) --lively;
  const std::uint64_t longest_ns = settings.watch ? settings.watch_ns : kForeverNs;
  bell.wait_rung(seen, tick ? tick_ns : longest_ns);
  parking.unpark();
  const std::uint32_t rings = bell.rings();
  const bool rung = rings != seen;
  seen = rings;
  if (rung) take_note_of_ring();
  if (rung && settings.wake_descriptor >= 0) {
    const std::uint64_t one = 1;
    static_cast<void>(!write(settings.wake_descriptor, &one, sizeof one));
  }
  return rung || settings.kernel->looks() == looks;
}

// The look that is under way may have begun before the ring: only the next one counts. The barrier makes the owner's
// count visible as it is now; a processor may look into a ring before its older stores leave it, and two looks from
// before would seem to be after.
void Coprocessor::Impl::take_note_of_ring() {
  if (settings.lock->asymmetric()) static_cast<void>(process_barrier());
  unseen = true;
  unseen_looks = settings.kernel->looks() + 2;
}

void Coprocessor::Impl::run() {
  std::uint32_t seen = bell.rings() - 1;  // as if just rung: it may have been, while this thread was made
  bool pending = false;
  std::uint64_t posted_in = 0;  // the owner's stay in which it last posted
  const auto take_posted = [&] {
    const std::uint64_t stay = parking.take();
    if (stay == 0) return false;
    posted_in = stay;
    return true;
  };
  while (!parking.stopping()) {
    pending |= take_posted();
    const bool look = wait(pending || unseen, seen);
    if (settings.watch) settings.watch();
    if (!look) {
      unseen = unseen && settings.kernel->looks() < unseen_looks;
      continue;
    }
    // An owner that has just posted is about to leave, and may be back at once to look itself.
    const bool patient = !take_posted();
    pending = work(patient);
    unseen = unseen && settings.kernel->looks() < unseen_looks;
    // The owner came in: it looks itself, and posts again when it leaves with work behind it. Not in the stay in which
    // it posted: that it is about to leave.
    if (settings.lock->owner_inside() && settings.lock->owner_entries() > posted_in) pending = false;
  }
  // An owner that stops it from inside goes itself.
  if (!settings.ends || !settings.lock->try_enter_other()) return;
  settings.ends();
  settings.lock->leave_other();
}

namespace {

// What a thread's stack holds before its first call: guard, descriptor, and thread-local data of the program and its
// libraries, which may be more than the stack itself. Only glibc's own function counts the last; 0: there is none.
std::size_t smallest_stack(const pthread_attr_t& attributes) {
  using Smallest = std::size_t (*)(const pthread_attr_t*);
  const auto smallest = reinterpret_cast<Smallest>(dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
  return smallest != nullptr ? smallest(&attributes) : 0;
}

}  // namespace

Coprocessor::Coprocessor() : impl_(std::make_unique<Impl>()) {}
Coprocessor::~Coprocessor() {
  stop();
}

portals::Status Coprocessor::start(const Settings& settings, Round round) {
  MARGAY_ASSERT(!impl_->running && settings.lock != nullptr && settings.kernel != nullptr);
  MARGAY_ASSERT(!settings.watch || settings.watch_ns != 0);
  if (impl_->parking.stopping()) impl_ = std::make_unique<Impl>();
  impl_->settings = settings;
  impl_->round = std::move(round);
  impl_->bell = BellOwner(settings.bell != nullptr ? *settings.bell : impl_->own_bell);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Without it the thread has as much address space as every other thread of the program.
  if (const std::size_t smallest = smallest_stack(attributes); smallest != 0) {
    pthread_attr_setstacksize(&attributes, settings.stack_bytes + smallest);
  }
  // The program's signals are the program's own threads' business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&impl_->thread, &attributes, &Impl::begin, impl_.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    return portals::Status::error(std::string("no message coprocessor, the thread cannot be made: ") +
                                  std::strerror(error) + "; messages wait while the program computes");
  }
  impl_->running = true;
  return {};
}

void Coprocessor::stop() {
  if (!impl_->running) return;
  impl_->parking.stop();
  BellRinger(impl_->settings.bell != nullptr ? *impl_->settings.bell : impl_->own_bell, false).ring();
  pthread_join(impl_->thread, nullptr);
  impl_->running = false;
}

void Coprocessor::arm() {
  if (impl_->running && impl_->parking.post(impl_->settings.lock->owner_entries())) {
    BellRinger(impl_->settings.bell != nullptr ? *impl_->settings.bell : impl_->own_bell, false).ring();
  }
}

}  // namespace margay::sim
