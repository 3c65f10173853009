// One rank that carries out orders, one from each line of its standard input, and prints the result of each: "publish
// SERVICE PORT", "lookup SERVICE", "unpublish SERVICE PORT", "exit" without MPI_Finalize. It ends at the end of its
// input.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_words.h"

static void print(int code, const char* port) {
  printf("%s %s%s\n", class_word(code), code == MPI_SUCCESS ? port : "", error_text(code));
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  char line[600], order[16], service[300], port[MPI_MAX_PORT_NAME];
  while (fgets(line, sizeof line, stdin) != NULL) {
    order[0] = service[0] = port[0] = '\0';
    sscanf(line, "%15s %299s %255s", order, service, port);
    if (strcmp(order, "publish") == 0) {
      print(MPI_Publish_name(service, MPI_INFO_NULL, port), port);
    } else if (strcmp(order, "unpublish") == 0) {
      print(MPI_Unpublish_name(service, MPI_INFO_NULL, port), "");
    } else if (strcmp(order, "lookup") == 0) {
      const int code = MPI_Lookup_name(service, MPI_INFO_NULL, port);
      print(code, port);
    } else {
      _Exit(3);
    }
  }
  MPI_Finalize();
  return 0;
}
