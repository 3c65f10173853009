// Dies in rank 1 in the way of the first argument.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace {

volatile int zero = 0;
int* volatile null = nullptr;

void die(std::string_view way) {
  if (way == "SIGSEGV") *null = 1;
  if (way == "SIGFPE") std::exit(7 / zero);
  if (way == "SIGABRT") std::abort();
  if (way == "exception") throw std::runtime_error("not caught");
  if (way == "SIGTERM") std::raise(SIGTERM);
}

}  // namespace

int main(int argc, char** argv) {
  usleep(1000);
  std::printf("before the end\n");
  if (argc > 1 && std::atoi(std::getenv("RANK")) == 1) die(argv[1]);
  usleep(1000);
  std::puts("still here");
  return 0;
}
