// Virtual time: sleeps of each kind take exactly their time, and clocks agree.

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long now_us(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

int main(void) {
  const int rank = atoi(getenv("RANK"));
  const long begin = now_us(CLOCK_MONOTONIC);
  const struct timespec third = {0, 300000000};
  struct timespec until = {begin / 1000000 + 100, begin % 1000000 * 1000};
  struct timeval tenth = {0, 100000};
  const struct timespec invalid = {0, 2000000000};
  const unsigned left = sleep(3600);
  printf("%u %ld\n", left, now_us(CLOCK_MONOTONIC) - begin);
  usleep(500000);
  nanosleep(&third, NULL);
  poll(NULL, 0, 200);
  select(0, NULL, NULL, NULL, &tenth);
  printf("%ld\n", now_us(CLOCK_MONOTONIC) - begin);
  until.tv_sec += 4000 + rank;
  const int late = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  printf("%d %ld\n", late, now_us(CLOCK_MONOTONIC) - begin);
  const int result = nanosleep(&invalid, NULL);
  printf("%d %d\n", result, errno == EINVAL);
  struct timeval day;
  gettimeofday(&day, NULL);
  printf("%ld %ld\n", (long)(time(NULL) - day.tv_sec), now_us(CLOCK_REALTIME) - (day.tv_sec * 1000000L + day.tv_usec));
  printf("%d\n", sched_yield());
  // In the order of the calls, though printf has a buffer.
  if (write(STDOUT_FILENO, "written\n", 8) != 8) return 1;
  return rank == 1 ? pause() : 0;  // until the last moment of virtual time
}
