#include "base.h"

int base_value;

// Runs before counter's.
__attribute__((constructor)) static void begin(void) {
  base_value = 5;
}

// Runs after counter's.
__attribute__((destructor)) static void end(void) {
  base_value = -1;
}
