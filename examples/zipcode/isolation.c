/* A library that leaves letters pending (2.3: "the invocation of the library even if there are pending
 * communications"). Program and library use the same tags. In one context, the program's receive takes the library's
 * letter; with a mailer of the library's own, neither notices the other one.
 *
 *   margay run -n 2 ./isolation one      one context: wrong
 *   margay run -n 2 ./isolation own      a mailer of the library's own: right */
#include <margay/zipcode.h>

#include <stdio.h>
#include <string.h>

enum { kTag = 1 };

/* --- The library: a request to the neighbour, which is answered in a later call. --- */

typedef struct Library {
  ZIP_MAILER* mailer;
  int is_own;
} Library;

static Library library_begin(ZIP_MAILER* of_program, int is_own) {
  Library library;
  library.is_own = is_own;
  library.mailer = of_program;
  if (is_own) {
    /* Only the Postmaster passes the group. */
    ZIP_ADDRESSEES* group = zip_rank(of_program) == 0 ? zip_addressees(of_program) : NULL;
    library.mailer = l_open(group);
    zip_free_addressees(&group);
  }
  return library;
}

static void library_ask(Library* library, int neighbour) {
  char* letter = l_new_letter(library->mailer, 16);
  strcpy(letter, "the library's");
  l_send(library->mailer, letter, neighbour, 33, kTag); /* pending when the call returns */
}

static void library_end(Library* library) {
  char* letter = l_recvb(library->mailer, ZIP_ANY, ZIP_ANY, kTag);
  l_free_letter(library->mailer, letter);
  if (library->is_own) zip_close(&library->mailer);
}

/* --- The program. --- */

int main(int argc, char** argv) {
  ZIP_ADDRESSEES* all = NULL;
  ZIP_MAILER* mailer;
  Library library;
  char* letter;
  int me, neighbour, is_right;
  if (Zip_nohost_init() != 0) return 1;
  me = zip_my_node();
  neighbour = (me + 1) % zip_nodes();
  if (me == 0) all = zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 33, 1);
  mailer = l_open(all);
  zip_free_addressees(&all);
  library = library_begin(mailer, argc > 1 && strcmp(argv[1], "own") == 0);

  library_ask(&library, neighbour);
  letter = l_new_letter(mailer, 16);
  strcpy(letter, "the program's");
  l_send(mailer, letter, neighbour, 33, kTag);

  letter = l_recvb(mailer, ZIP_ANY, ZIP_ANY, kTag);
  is_right = strcmp(letter, "the program's") == 0;
  printf("process %d expects the program's letter, and has %s\n", me, letter);
  l_free_letter(mailer, letter);
  library_end(&library);
  zip_close(&mailer);
  zip_exit();
  return is_right ? 0 : 1;
}
