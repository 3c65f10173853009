// Ports and names, as the first argument requests: "names" publishes and looks up; "accept" waits for a caller that
// does not exist; "connect" calls a port whose process waits for the caller; "dies": the port's process kills itself
// while the others call it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_words.h"

static char port[MPI_MAX_PORT_NAME];

static void print(const char* what, int code) {
  printf("%s: %s %s\n", what, class_word(code), error_text(code));
}

static void names(int rank, int size) {
  char found[MPI_MAX_PORT_NAME] = "", longest[300];
  memset(longest, 'n', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  const char* const awkward = "an ocean=1 port=evil cmd=abort %41 \n\xc3\xa9";
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    print("publish", MPI_Publish_name("ocean", MPI_INFO_NULL, port));
    print("publish awkward", MPI_Publish_name(awkward, MPI_INFO_NULL, port));
    print("publish twice", MPI_Publish_name("ocean", MPI_INFO_NULL, port));
    print("publish empty", MPI_Publish_name("", MPI_INFO_NULL, port));
    print("publish long", MPI_Publish_name(longest, MPI_INFO_NULL, port));
    print("publish no port", MPI_Publish_name("sea", MPI_INFO_NULL, "two words"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm inter;
  if (rank == 0 && size > 1) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Comm_disconnect(&inter);
  }
  if (rank == 0) {
    // Another launcher may ignore the port.
    if (getenv("MARGAY_BOARD_FD") != NULL)
      print("unpublish other", MPI_Unpublish_name("ocean", MPI_INFO_NULL, "other"));
    print("unpublish", MPI_Unpublish_name("ocean", MPI_INFO_NULL, port));
    print("unpublish awkward", MPI_Unpublish_name(awkward, MPI_INFO_NULL, port));
    print("unpublish twice", MPI_Unpublish_name("ocean", MPI_INFO_NULL, port));
    print("lookup unpublished", MPI_Lookup_name("ocean", MPI_INFO_NULL, found));
    MPI_Close_port(port);
  } else if (rank == 1) {
    print("lookup awkward", MPI_Lookup_name(awkward, MPI_INFO_NULL, found));
    printf("%s\n", strncmp(found, "margay-port:", 12) == 0 ? "a port" : "no port");
    print("lookup", MPI_Lookup_name("ocean", MPI_INFO_NULL, found));
    print("lookup unknown", MPI_Lookup_name("an ocean", MPI_INFO_NULL, longest));
    MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Comm_disconnect(&inter);
  }
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const char* const what = argc > 1 ? argv[1] : "names";
  MPI_Comm inter = MPI_COMM_NULL;
  if (strcmp(what, "names") == 0) {
    names(rank, size);
    MPI_Finalize();
    return 0;
  }
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (strcmp(what, "accept") == 0) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);  // line: accept
  } else if (rank != 0) {
    print("connect", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));  // line: connect
  } else if (strcmp(what, "dies") == 0) {
    usleep(100000);  // the others have called by then, or call a dead process
    raise(SIGKILL);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  fflush(stdout);
  _exit(0);
}
