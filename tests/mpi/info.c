// Tests of info objects before and after MPI_Init: pairs, limits, copies; MPI_INFO_ENV; the hints of communicators.
// ranks: 1 2
// reference: 1
#include "check.h"

static const char* value_of(MPI_Info info, const char* key) {
  static char text[MPI_MAX_INFO_VAL + 1];
  int flag = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
  return flag ? text : "(none)";
}

static void expect(MPI_Info info, const char* key, const char* value) {
  CHECK(strcmp(value_of(info, key), value) == 0, "%s is '%s', expected '%s'", key, value_of(info, key), value);
}

static void pairs(MPI_Info info) {
  int n = -1, length = -1, flag = -1;
  char key[MPI_MAX_INFO_KEY + 1], value[8] = ".......";
  MPI_Info copy;
  expect(info, "early", "bird");
  MPI_Info_set(info, "second", "2");
  MPI_Info_set(info, "third", "3");
  MPI_Info_set(info, "second", "two");
  MPI_Info_get_nkeys(info, &n);
  CHECK(n == 3, "%d keys", n);
  for (int i = 0; i < n; ++i) {
    const char* expected[] = {"early", "second", "third"};
    MPI_Info_get_nthkey(info, i, key);
    CHECK(strcmp(key, expected[i]) == 0, "key %d is %s", i, key);
  }
  expect(info, "second", "two");
  MPI_Info_get_valuelen(info, "second", &length, &flag);
  CHECK(flag && length == 3, "length %d", length);
  MPI_Info_get_valuelen(info, "fourth", &length, &flag);
  CHECK(!flag && length == 3, "a key that is not there has length %d", length);
  MPI_Info_get(info, "early", 2, value, &flag);
  CHECK(flag && strcmp(value, "bi") == 0 && value[3] == '.', "two characters of the value: '%s'", value);
  length = 3;
  MPI_Info_get_string(info, "early", &length, value, &flag);
  CHECK(flag && strcmp(value, "bi") == 0 && length == 5, "a buffer of 3: '%s', %d needed", value, length);
  length = 0;
  MPI_Info_get_string(info, "early", &length, value, &flag);
  CHECK(flag && length == 5 && value[0] == 'b', "no buffer: %d needed", length);
  length = 8;
  MPI_Info_get_string(info, "fourth", &length, value, &flag);
  CHECK(!flag && length == 8, "a key that is not there needs %d", length);
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "second");
  expect(info, "second", "(none)");
  expect(copy, "second", "two");
  MPI_Info_get_nkeys(info, &n);
  CHECK(n == 2, "%d keys after one was deleted", n);
  MPI_Info_free(&copy);
  CHECK(copy == MPI_INFO_NULL, "a freed info object is %x", (unsigned)copy);
}

static char* letters(size_t count) {
  static char text[2000];
  memset(text, 'k', count);
  text[count] = 0;
  return text;
}

static void limits(void) {
  MPI_Info info;
  char room[MPI_MAX_INFO_KEY + 1];
  int flag, negative = -2;
  MPI_Info_create(&info);
  CHECK(MPI_Info_set(info, letters(MPI_MAX_INFO_KEY), "v") == MPI_SUCCESS, "the longest key");
  CHECK(class_of(MPI_Info_set(info, letters(MPI_MAX_INFO_KEY + 1), "v")) == MPI_ERR_INFO_KEY, "a longer key");
  CHECK(MPI_Info_set(info, "v", letters(MPI_MAX_INFO_VAL)) == MPI_SUCCESS, "the longest value");
  CHECK(class_of(MPI_Info_set(info, "v", letters(MPI_MAX_INFO_VAL + 1))) == MPI_ERR_INFO_VALUE, "a longer value");
  CHECK(strlen(value_of(info, "v")) == MPI_MAX_INFO_VAL, "a value that was not replaced");
  CHECK(class_of(MPI_Info_set(info, "", "v")) == MPI_ERR_INFO_KEY, "an empty key");
  if (on_margay()) CHECK(class_of(MPI_Info_set(info, "  ", "v")) == MPI_ERR_INFO_KEY, "a blank key");
  CHECK(class_of(MPI_Info_set(info, NULL, "v")) == MPI_ERR_INFO_KEY, "no key");
  CHECK(class_of(MPI_Info_delete(info, "nothing")) == MPI_ERR_INFO_NOKEY, "delete of nothing");
  CHECK(class_of(MPI_Info_get_nthkey(info, 2, room)) == MPI_ERR_ARG, "the third of two keys");
  CHECK(class_of(MPI_Info_get_nthkey(info, -1, room)) == MPI_ERR_ARG, "key -1");
  CHECK(class_of(MPI_Info_get(info, "v", -1, room, &flag)) == MPI_ERR_ARG, "a negative length");
  CHECK(class_of(MPI_Info_get_string(info, "v", &negative, room, &flag)) == MPI_ERR_ARG, "a negative length");
  MPI_Info dead = info;
  MPI_Info_free(&info);
  CHECK(MPI_Info_free(&info) != MPI_SUCCESS, "MPI_INFO_NULL was freed");
  if (!on_margay()) return;  // MPICH returns MPI_ERR_ARG, and does not check freed handles
  CHECK(class_of(MPI_Info_set(dead, "a", "b")) == MPI_ERR_INFO, "a freed info object");
  CHECK(class_of(MPI_Info_free(&info)) == MPI_ERR_INFO, "MPI_INFO_NULL");
  CHECK(class_of(MPI_Info_get_nkeys((MPI_Info)MPI_COMM_WORLD, &flag)) == MPI_ERR_INFO, "a communicator");
}

// MPI_Info_get_nthkey writes at most MPI_MAX_INFO_KEY bytes including the zero: of the longest key all but the last
// letter.
static void longest_keys(void) {
  for (int length = MPI_MAX_INFO_KEY - 1; length <= MPI_MAX_INFO_KEY; ++length) {
    MPI_Info info;
    struct {
      char key[MPI_MAX_INFO_KEY], behind;
    } room = {"", 'b'};
    MPI_Info_create(&info);
    MPI_Info_set(info, letters(length), "v");
    expect(info, letters(length), "v");
    CHECK(MPI_Info_get_nthkey(info, 0, room.key) == MPI_SUCCESS, "a key of %d letters", length);
    CHECK(room.behind == 'b', "a key of %d letters was written behind MPI_MAX_INFO_KEY bytes", length);
    CHECK(strncmp(room.key, letters(MPI_MAX_INFO_KEY - 1), MPI_MAX_INFO_KEY) == 0,
          "a key of %d letters is shown with %zu", length, strnlen(room.key, MPI_MAX_INFO_KEY));
    CHECK(MPI_Info_delete(info, letters(length)) == MPI_SUCCESS, "a key of %d letters was not found", length);
    MPI_Info_free(&info);
  }
}

static void environment(int argc, char** argv) {
  MPI_Info info;
  CHECK(MPI_Info_create_env(argc, argv, &info) == MPI_SUCCESS, "create_env");
  if (on_margay()) {
    char size[16];
    snprintf(size, sizeof size, "%d", world_size());
    expect(info, "command", argv[0]);
    expect(MPI_INFO_ENV, "command", argv[0]);
    expect(MPI_INFO_ENV, "maxprocs", size);
    CHECK(class_of(MPI_Info_set(MPI_INFO_ENV, "a", "b")) == MPI_ERR_INFO, "MPI_INFO_ENV was changed");
  }
  MPI_Info_free(&info);
  char first[] = "program", second[] = "one", third[] = "two words";
  char* words[] = {first, second, third, NULL};
  CHECK(MPI_Info_create_env(3, words, &info) == MPI_SUCCESS, "create_env of three words");
  if (on_margay()) {
    expect(info, "command", "program");
    expect(info, "argv", "one two words");
  }
  MPI_Info_free(&info);
}

// MPI_Info_create_env accepts any arguments, as MPICH's does, and at any time.
static void any_words(void) {
  MPI_Info info;
  char word[] = "word";
  char *words[] = {word, NULL}, *none[] = {NULL, NULL};
  CHECK(MPI_Info_create_env(0, NULL, &info) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS, "no words");
  CHECK(MPI_Info_create_env(-1, words, &info) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS, "-1 words");
  CHECK(MPI_Info_create_env(2, none, &info) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS, "null words");
}

static void hints(void) {
  MPI_Info info, used;
  MPI_Comm comm, copy;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(info, "nobody_knows_this", "true");
  CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm) == MPI_SUCCESS, "dup with info");
  CHECK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy) == MPI_SUCCESS, "dup with MPI_INFO_NULL");
  MPI_Comm_get_info(comm, &used);
  if (on_margay()) expect(used, "mpi_assert_no_any_tag", "true");
  expect(used, "mpi_assert_exact_length", "false");
  expect(used, "nobody_knows_this", "(none)");
  MPI_Info_free(&used);
  MPI_Comm_get_info(copy, &used);
  expect(used, "mpi_assert_no_any_tag", "false");
  MPI_Info_free(&used);
  MPI_Comm later;
  MPI_Request request;
  CHECK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &later, &request) == MPI_SUCCESS, "idup with info");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_get_info(later, &used);
  if (on_margay()) expect(used, "mpi_assert_no_any_tag", "true");
  MPI_Info_free(&used);
  MPI_Comm_free(&later);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
  MPI_Info_set(info, "mpi_assert_exact_length", "true");
  MPI_Comm_set_info(comm, info);
  MPI_Comm_get_info(comm, &used);
  expect(used, "mpi_assert_no_any_tag", "false");
  expect(used, "mpi_assert_exact_length", "true");
  MPI_Info_free(&used);
  CHECK(MPI_Comm_set_info(comm, MPI_INFO_NULL) != MPI_SUCCESS, "MPI_INFO_NULL was taken");
  MPI_Comm_free(&comm);
  MPI_Comm_free(&copy);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "early", "bird");
  any_words();
  suite_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  pairs(info);
  limits();
  longest_keys();
  environment(argc, argv);
  any_words();
  hints();
  MPI_Info_free(&info);
  return suite_end("info");
}
