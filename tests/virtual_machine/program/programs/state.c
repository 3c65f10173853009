// Functions of libc with a hidden state: environment, random numbers, strtok, getopt, dates, signals.

#include <getopt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static int rank;
static volatile sig_atomic_t caught;

static void pause_a_moment(void) {
  usleep(500);
}

static const char* value_of(const char* name) {
  const char* const value = getenv(name);
  return value == NULL ? "(none)" : value;
}

static void environment(void) {
  static char own[20];
  char value[20];
  snprintf(value, sizeof value, "value %d", rank);
  snprintf(own, sizeof own, "OWN=%d", rank);
  for (int round = 0; round < 20; ++round) {
    char name[20];
    snprintf(name, sizeof name, "NAME_%d", round);
    if (round % (rank + 1) == 0) setenv(name, value, 1);
    pause_a_moment();
  }
  putenv(own);
  setenv("NAME_0", "not set", 0);
  setenv("NAME_6", "again", 1);
  if (rank == 1) unsetenv("NAME_2");
  pause_a_moment();
  own[4] = 'x';
  printf("%s %s %s %s %s", value_of("NAME_0"), value_of("NAME_1"), value_of("NAME_2"), value_of("NAME_6"),
         value_of("OWN"));
  int count = 0;
  for (char** entry = environ; *entry != NULL; ++entry) count += strncmp(*entry, "NAME_", 5) == 0;
  printf(", %d names, invalid %d\n", count, setenv("A=B", "", 1));
  if (rank == 2) clearenv();
  pause_a_moment();
  setenv("AFTER", "clear", 1);
  printf("%s %s %s\n", value_of("AFTER"), value_of("NAME_0"), value_of("MARGAY_SIMULATE"));
}

static void random_numbers(void) {
  char states[64];
  unsigned short words[3] = {1, 2, (unsigned short)rank};
  for (int round = 0; round < 5; ++round) {
    if (round == 1 && rank > 0) srand((unsigned)rank);
    if (round == 3 && rank == 2) srand48(rank);
    printf("%d %ld ", rand(), random());
    pause_a_moment();
    printf("%f %ld %ld %f %ld\n", drand48(), lrand48(), mrand48(), erand48(words), nrand48(words));
    pause_a_moment();
  }
  char* const before = initstate(5, states, sizeof states);
  pause_a_moment();
  printf("%ld ", random());
  setstate(before);
  pause_a_moment();
  printf("%ld\n", random());
}

static void tokens(void) {
  char text[40];
  snprintf(text, sizeof text, "a%d b%d,c%d  d%d", rank, rank, rank, rank);
  for (char* token = strtok(text, " ,"); token != NULL; token = strtok(NULL, " ,")) {
    printf("<%s>", token);
    pause_a_moment();
  }
  putchar('\n');
}

// The arguments are permuted: those that are no options come last.
static void options(int argc, char** argv) {
  static const struct option names[] = {{"long", required_argument, NULL, 'l'}, {"flag", no_argument, NULL, 'f'}, {0}};
  for (int option; (option = getopt_long(argc, argv, "ab:", names, NULL)) != -1;) {
    printf("%c=%s ", option, optarg == NULL ? "" : optarg);
    if (rank == 0) break;  // within a group of options: the other ranks begin with their own
  }
  pause_a_moment();
  printf("rest");
  for (int i = optind; i < argc; ++i) printf(" %s", argv[i]);
  putchar('\n');
}

static void dates(void) {
  const time_t time = 86400 * 365 * (time_t)rank;
  const struct tm* const date = gmtime(&time);
  const char* const text = asctime(date);
  pause_a_moment();
  printf("%d %s", date->tm_year, text);
}

static void on_signal(int number) {
  caught = caught * 100 + number;
}

static void signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  if (rank == 1) action.sa_handler = SIG_IGN;
  struct sigaction previous;
  sigaction(SIGUSR1, &action, &previous);
  const int was_default = previous.sa_handler == SIG_DFL;
  pause_a_moment();
  raise(SIGUSR1);
  signal(SIGTERM, on_signal);
  kill(getpid(), SIGTERM);
  raise(SIGCHLD);
  const struct itimerval soon = {{0, 0}, {3600, 0}};
  struct itimerval before;
  setitimer(ITIMER_REAL, &soon, &before);
  alarm(3600);
  printf("%ld %d %d %d\n", (long)before.it_value.tv_sec, was_default, (int)caught,
         signal(SIGTERM, SIG_DFL) == on_signal);
}

int main(int argc, char** argv) {
  rank = atoi(getenv("RANK"));
  setenv("TZ", "UTC", 1);
  environment();
  random_numbers();
  tokens();
  options(argc, argv);
  dates();
  signals();
  return 0;
}
