#include "sim/boot/last_second.hpp"

#include <pthread.h>
#include <unistd.h>

namespace margay::sim {

namespace {

// A mark in the signal's value, beside the status. It distinguishes this timer's signal from those of the program's
// timers.
constexpr int kMark = 0x6d617200;
constexpr int kMarkMask = ~0x1ff;
static_assert((kMark & kMarkMask) == kMark);

void end_now(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int value = info->si_value.sival_int;
  if (info->si_code != SI_TIMER || (value & kMarkMask) != kMark) return;
  if ((value & LastSecond::kKill) != 0) static_cast<void>(::kill(::getpid(), SIGKILL));
  ::_exit(value & 0xff);
}

}  // namespace

LastSecond::LastSecond(int status, unsigned seconds) {
  struct sigaction action {};
  action.sa_sigaction = &end_now;
  // Other signals of this number do not interrupt a write.
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  static_cast<void>(::sigaction(SIGALRM, &action, &before_));
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event.sigev_value.sival_int = kMark | (status & (LastSecond::kKill | 0xff));
  // The manual's sigev_notify_thread_id.
  event._sigev_un._tid = ::gettid();
  itimerspec after{};
  after.it_value.tv_sec = seconds;
  armed_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  if (armed_) {
    static_cast<void>(::timer_settime(timer_, 0, &after, nullptr));
  } else {
    // Without a timer the handler cannot recognise its signal, so the default action ends the process.
    static_cast<void>(::signal(SIGALRM, SIG_DFL));
    ::alarm(seconds);
  }
  sigset_t alarm_alone;
  sigemptyset(&alarm_alone);
  sigaddset(&alarm_alone, SIGALRM);
  // The program may have blocked the signal in this thread.
  static_cast<void>(::pthread_sigmask(SIG_UNBLOCK, &alarm_alone, &blocked_before_));
}

LastSecond::~LastSecond() {
  if (armed_) {
    static_cast<void>(::timer_delete(timer_));
  } else {
    ::alarm(0);
  }
  static_cast<void>(::pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr));
  static_cast<void>(::sigaction(SIGALRM, &before_, nullptr));
}

}  // namespace margay::sim
