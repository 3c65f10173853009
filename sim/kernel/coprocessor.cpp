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

// The tick while work is known or the owner computes: well below the 50 ms within which a waiting peer gets an answer,
// and well above the length of an ordinary MPI call. Each poll costs some 5 us of a processor.
constexpr std::uint64_t kTickNs = 1'000'000;
// The tick while messages move, and the number of such ticks after the last round that moved something. It is short,
// because a peer that got its answer soon sends the next request (first for a lock, then for accesses under it).
constexpr std::uint64_t kLivelyTickNs = 100'000;
constexpr std::uint32_t kLivelyTicks = 20;
// The tick while no work is known and the owner stays inside the lock, where it polls itself. Only wires that ring no
// bell need this tick. If the owner leaves directly after the tick has begun, a message on such a wire waits for at
// most this long.
constexpr std::uint64_t kIdleTickNs = 10'000'000;
static_assert(kLivelyTickNs <= kTickNs && kTickNs <= kIdleTickNs);
// The number of consecutive rounds without progress (about 3 us each) after which the thread sleeps again. It does not
// yield between them, because the computing owner, if it shares this processor, would then keep it for milliseconds. A
// nudge wakes a sleeping thread at once.
constexpr int kQuietRounds = 16;
// The number of tests whether the owner has left, of some 40 ns each. Together the tests take 20 us, longer than most
// calls that only compute. One yield follows them, because the owner may have lost its processor to this thread in the
// middle of a call.
constexpr int kTestsForLeave = 500;

}  // namespace

struct Coprocessor::Impl {
  Settings settings;
  Round round;
  // The bell if Settings::bell is nullptr.
  BellData own_bell;
  BellOwner bell{own_bell};
  Parking parking;
  pthread_t thread{};
  bool running = false;
  // The number of short ticks that remain.
  std::uint32_t lively = 0;
  // The number of the owner's entries into the lock, at the beginning of the last wait().
  std::uint64_t entries = 0;
  // The bell rang, and no complete round is known to have begun after the ring.
  bool unseen = false;
  // The value of Kernel::complete_rounds() from which on that ring has been served.
  std::uint64_t unseen_rounds = 0;

  static void* begin(void* self) {
    static_cast<Impl*>(self)->run();
    return nullptr;
  }
  void run();
  bool enter(bool patient);
  bool work(bool patient);
  bool wait(bool pending, std::uint32_t& seen);
  void record_ring();
};

// Enters the lock; false: the owner is inside. `patient`: waits up to 20 us until the owner leaves, and meanwhile keeps
// the owner from entering again. Without that, an owner that makes short local calls without end, none of which polls,
// would keep this thread out.
bool Coprocessor::Impl::enter(bool patient) {
  if (!patient) return settings.lock->try_enter_other();
  const std::uint64_t rounds = settings.kernel->complete_rounds();
  int waited = 0;
  return settings.lock->enter_other([&] {
    // Gives up when the time is over, or when the owner has completed a round itself and does not need this thread.
    if (settings.kernel->complete_rounds() != rounds || waited > kTestsForLeave) return true;
    if (++waited <= kTestsForLeave) {
      spin_pause();
    } else {
      ::sched_yield();
    }
    return false;
  });
}

// Makes rounds until kQuietRounds consecutive ones moved nothing, or the owner is inside the lock. Enters and leaves
// the lock for each round. Returns whether work remains.
bool Coprocessor::Impl::work(bool patient) {
  Recorder& recorder = settings.kernel->recorder();
  patient = patient && settings.lock->owner_inside();  // an owner that enters later polls itself
  std::uint32_t moved_rounds = 0;
  bool pending = true;
  bool first = true;
  for (int quiet = 0; quiet < kQuietRounds && !parking.stopping();) {
    if (!enter(patient)) return true;
    settings.kernel->owner_away(true);
    // A bell or a tick calls for a look at each wire, whatever its interval.
    if (std::exchange(first, false)) settings.kernel->polling().make_due(false);
    // coprocessor_begin is recorded only if the round moves something. That is known only after the round's own events
    // have been recorded, so the time of the beginning is taken now.
    const std::uint64_t began = moved_rounds == 0 && recorder.on() ? recorder.stamp() : 0;
    bool moved = round();
    moved |= settings.kernel->take_body_moved();
    settings.kernel->owner_away(false);
    if (moved) lively = kLivelyTicks;
    if (moved && moved_rounds++ == 0 && recorder.on()) recorder.record({.kind = TraceKind::coprocessor_begin}, began);
    pending = settings.kernel->unfinished() || !settings.kernel->idle();
    // The peers that owe an answer, or do not take their messages, may be computing.
    if (pending && !moved) settings.kernel->nudge();
    const bool done = !moved && quiet + 1 == kQuietRounds;
    if (done && moved_rounds > 0 && recorder.on()) {
      recorder.record({.kind = TraceKind::coprocessor_end, .a = moved_rounds});
    }
    // The lock is left after each round, so that the owner waits for one round at most.
    settings.lock->leave_other();
    quiet = moved ? 0 : quiet + 1;
  }
  return pending;
}

// Sleeps until there may be work. Returns true if the bell rang, or if the owner completed no round during the sleep,
// because it was outside the lock or made only calls that do not poll.
bool Coprocessor::Impl::wait(bool pending, std::uint32_t& seen) {
  // park() fails if work has been posted meanwhile.
  const bool tick = pending || settings.ticks || !parking.park();
  const std::uint64_t rounds = settings.kernel->complete_rounds();
  // idle: the owner has stayed inside the lock since the last tick, so it waits there and polls itself. An owner that
  // has entered since then may be in a short call that does not poll.
  const std::uint64_t entries_before = std::exchange(entries, settings.lock->owner_entries());
  const bool idle = !pending && settings.lock->owner_inside() && entries == entries_before;
  const std::uint64_t tick_ns = idle ? kIdleTickNs : lively != 0 ? kLivelyTickNs : kTickNs;
  if (lively != 0) --lively;
  const std::uint64_t longest_ns = settings.periodic_check ? settings.check_period_ns : kForeverNs;
  bell.wait_rung(seen, tick ? tick_ns : longest_ns);
  parking.unpark();
  const std::uint32_t rings = bell.rings();
  const bool rung = rings != seen;
  seen = rings;
  if (rung) record_ring();
  // The owner may sleep in poll(), and a ring of the bell does not end that sleep.
  if (rung && settings.wake_descriptor >= 0) {
    const std::uint64_t one = 1;
    static_cast<void>(!write(settings.wake_descriptor, &one, sizeof one));
  }
  return rung || settings.kernel->complete_rounds() == rounds;
}

// A round in progress may have begun before the ring, so only the next round certainly serves the ring: the ring is
// served after two more rounds. The barrier makes the owner's current count of rounds visible. Without it, stores of
// the owner to the count may still be in its processor's buffer. Then this thread would add 2 to a count that is too
// low, and rounds from before the ring would count as those that serve it.
void Coprocessor::Impl::record_ring() {
  if (settings.lock->asymmetric()) static_cast<void>(process_barrier());
  unseen = true;
  unseen_rounds = settings.kernel->complete_rounds() + 2;
}

void Coprocessor::Impl::run() {
  // Begins as if the bell had just rung, because it may have rung while the thread was being created.
  std::uint32_t seen = bell.rings() - 1;
  bool pending = false;
  // The owner's entry into the lock, by its number (BiasedLock::owner_entries), during which it last posted work.
  std::uint64_t posted_in = 0;
  const auto take_posted = [&] {
    const std::uint64_t stay = parking.take();
    if (stay == 0) return false;
    posted_in = stay;
    return true;
  };
  while (!parking.stopping()) {
    pending |= take_posted();
    const bool look = wait(pending || unseen, seen);
    if (settings.periodic_check) settings.periodic_check();
    if (!look) {
      unseen = unseen && settings.kernel->complete_rounds() < unseen_rounds;
      continue;
    }
    // Does not wait for an owner that has just posted work, because that owner is about to leave, and may enter again
    // at once and poll itself.
    const bool patient = !take_posted();
    pending = work(patient);
    unseen = unseen && settings.kernel->complete_rounds() < unseen_rounds;
    // If the owner has entered the lock again since it posted work, it polls itself, and posts again if it leaves work
    // behind. If it is still in the stay in which it posted, it is about to leave, and the work remains for this
    // thread.
    if (settings.lock->owner_inside() && settings.lock->owner_entries() > posted_in) pending = false;
  }
  // If the owner stops the thread from inside the lock, this thread cannot enter the lock, and `ends` is not called.
  if (!settings.ends || !settings.lock->try_enter_other()) return;
  settings.ends();
  settings.lock->leave_other();
}

namespace {

// The bytes of a thread's stack that are used before its first call: the guard, the thread's descriptor, and the
// thread-local data of the program and its libraries. These data may be larger than the whole requested stack. Only an
// internal function of glibc counts them; 0: that function does not exist.
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
  MARGAY_ASSERT(!settings.periodic_check || settings.check_period_ns != 0);
  // After stop(), because a stopped Parking stays stopped.
  if (impl_->parking.stopping()) impl_ = std::make_unique<Impl>();
  impl_->settings = settings;
  impl_->round = std::move(round);
  impl_->bell = BellOwner(settings.bell != nullptr ? *settings.bell : impl_->own_bell);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Where the smallest size is unknown, the thread gets the default size, which takes as much address space as every
  // other thread of the program.
  if (const std::size_t smallest = smallest_stack(attributes); smallest != 0) {
    pthread_attr_setstacksize(&attributes, settings.stack_bytes + smallest);
  }
  // All signals are blocked in the new thread, so that the program's own threads handle them. A thread inherits its
  // creator's mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&impl_->thread, &attributes, &Impl::begin, impl_.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    return portals::Status::error(std::string("cannot create the message coprocessor's thread: ") +
                                  std::strerror(error) + "; messages wait while the program computes");
  }
  impl_->running = true;
  return {};
}

void Coprocessor::stop() {
  if (!impl_->running) return;
  impl_->parking.stop();
  // The thread may be asleep without a tick, so the bell wakes it.
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
