// The words of a program's command line, and a file by which one job passes the name of its port to other jobs.
#pragma once

#include "../check.h"

__attribute__((unused)) static int has_option(int count, char** words, const char* option) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(words[i], option) == 0) return 1;
  }
  return 0;
}

static void write_port(const char* file, const char* port) {
  char other[4096];
  snprintf(other, sizeof other, "%s.new", file);
  FILE* out = fopen(other, "w");
  CHECK(out != NULL, "cannot write %s", other);
  if (out == NULL) return;
  fprintf(out, "%s\n", port);
  fclose(out);
  CHECK(rename(other, file) == 0, "cannot rename %s", other);
}

static void read_port(const char* file, char* port) {
  FILE* in = NULL;
  while ((in = fopen(file, "r")) == NULL) usleep(10000);
  CHECK(fscanf(in, "%255s", port) == 1, "no port in %s", file);
  fclose(in);
}
