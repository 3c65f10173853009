// C++ streams that are not synchronized with stdio, with lines that a sleep interrupts, and numbers from input.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

int main() {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  const std::string rank = std::getenv("RANK");
  int sum = 0;
  int count = 0;
  for (int number = 0; std::cin >> number; ++count) {
    sum += number;
    usleep(100);
    std::cout << "after " << number << ' ';
    usleep(100);
    std::cout << sum << '\n';
  }
  std::cout << count << " numbers in rank " << rank << ", end " << std::cin.eof() << std::endl;
  std::cerr << "error of rank " << rank << '\n';
  std::clog << "log of rank " << rank;
  usleep(100);
  std::clog << " in two parts\n";
  std::cout << "not flushed before the end\n";
  return 0;
}
