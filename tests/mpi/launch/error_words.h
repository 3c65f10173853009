// The result of a call of MPI as words for a script: the name of its error class, and the text of the error.
#pragma once

#include <mpi.h>
#include <stddef.h>

// "success", the class as mpi.h names it, or "another class".
static const char* class_word(int code) {
  static const struct {
    int class;
    const char* word;
  } kWords[] = {
      {MPI_SUCCESS, "success"},
      {MPI_ERR_ARG, "MPI_ERR_ARG"},
      {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
      {MPI_ERR_INFO, "MPI_ERR_INFO"},
      {MPI_ERR_NAME, "MPI_ERR_NAME"},
      {MPI_ERR_PORT, "MPI_ERR_PORT"},
      {MPI_ERR_SERVICE, "MPI_ERR_SERVICE"},
      {MPI_ERR_SPAWN, "MPI_ERR_SPAWN"},
  };
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  for (size_t i = 0; i < sizeof kWords / sizeof kWords[0]; ++i) {
    if (kWords[i].class == class) return kWords[i].word;
  }
  return "another class";
}

// The text of an error, until the next call; empty after success.
__attribute__((unused)) static const char* error_text(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  text[0] = '\0';
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  return text;
}
