/* A host that starts nodes by zip_spawn() and ends them: zipcode_spawning CASE; NODE_PROGRAM is zipcode_spawned. A node
 * that began with the job only ends it. */
#include "cases.h"

static char said[1024];
static void keep_words(const char* words) {
  snprintf(said, sizeof said, "%s", words);
}
static void expect_words(const char* words, int line) {
  if (strstr(said, words) == NULL) {
    ++failures;
    printf("line %d: not \"%s\", but \"%s\"\n", line, words, said);
  }
  said[0] = '\0';
}
#define SAYS(words) expect_words(words, __LINE__)

static const char* node_program(void) {
  return getenv("NODE_PROGRAM");
}

/* The node of this process, which is the host or takes its part. */
static int host_node;

/* A command for a node is a letter that begins with it; spawned.c has their meanings. */
static void order(ZIP_MAILER* mailer, int node, char command) {
  char* letter = z_new_letter(mailer, 1);
  letter[0] = command;
  z_send(mailer, letter, node);
}
static void order_with(ZIP_MAILER* mailer, int node, char command, int argument) {
  char* letter = z_new_letter(mailer, 2);
  letter[0] = command;
  letter[1] = (char)argument;
  z_send(mailer, letter, node);
}
static void order_all(ZIP_MAILER* mailer, char command) {
  int node;
  for (node = 1; node < zip_size(mailer); ++node) order(mailer, node, command);
}

/* Each node returns letters of this length unchanged. */
static void echo(ZIP_MAILER* mailer, int length) {
  int node, i;
  for (node = 1; node < zip_size(mailer); ++node) {
    char* letter = z_new_letter(mailer, length);
    memset(letter, node, (size_t)length);
    letter[0] = 'e';
    z_send(mailer, letter, node);
  }
  for (node = 1; node < zip_size(mailer); ++node) {
    char* letter = z_recvb(mailer, node);
    NEED(zip_length(mailer, letter) == length && letter[0] == 'e');
    for (i = 1; i < length && letter[i] == node; ++i) continue;
    NEED(i >= length);
    z_free_letter(mailer, letter);
  }
}

/* Each node sends a letter to the next node, the last one to the first, and reports from whom it has one. */
static void ring(ZIP_MAILER* mailer) {
  const int nodes = zip_size(mailer) - 1;
  int node;
  order_all(mailer, 'r');
  for (node = 1; node <= nodes; ++node) {
    char* letter = z_recvb(mailer, node);
    NEED(letter[0] == (node + nodes - 2) % nodes + 1);
    z_free_letter(mailer, letter);
  }
}

ZIP_COMBINE_METHOD(add_ints, int, a, b, a + b);

/* All members combine their ranks. */
static void combine(ZIP_MAILER* mailer) {
  const int size = zip_size(mailer);
  int sum = 0;
  order_all(mailer, 'c');
  z_combine(mailer, &sum, add_ints, (int)sizeof sum, 1);
  NEED(sum == size * (size - 1) / 2);
}

static ZIP_ADDRESSEES* started(int nodes) {
  ZIP_ADDRESSEES* group = zip_new_cohort(nodes, COHORT_FIRST_NODE, 33, 1);
  NEED(zip_spawn(node_program(), group) == 0);
  return group;
}

/* Letters, collective operations and two mailers between a host and its nodes. */
static void letters(void) {
  static const int lengths[] = {1, 100, 16000, 16384, 17000, 1000000};
  ZIP_ADDRESSEES* group = started(3);
  size_t i;
  int turn, node;
  NEED(zip_addressees_size(group) == 4 && zip_addressee(group, 0).node == host_node);
  for (node = 1; node <= 3; ++node) {
    const Zip_process process = zip_addressee(group, node);
    NEED(process.node >= 0 && process.pid == 33 && zip_addressee_rank(group, process.node, 33) == node);
  }
  for (turn = 0; turn < 2; ++turn) {
    ZIP_MAILER* mailer = z_open(group);
    NEED(mailer != NULL && zip_size(mailer) == 4 && zip_rank(mailer) == 0);
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) echo(mailer, lengths[i]);
    ring(mailer);
    combine(mailer);
    order_all(mailer, turn == 0 ? 'x' : 'q');
    zip_close(&mailer);
  }
  zip_free_addressees(&group);
}

/* Two cohorts that were started one after the other are members of one mailer. */
static void worlds(void) {
  ZIP_ADDRESSEES *first = started(2), *second = started(2), *all = zip_union(first, second);
  ZIP_MAILER *one = z_open(first), *other = z_open(second), *both;
  ring(one);
  echo(other, 20000);
  order_all(one, 'x');
  order_all(other, 'x');
  zip_close(&one);
  zip_close(&other);
  both = z_open(all);
  NEED(zip_size(both) == 5);
  ring(both);
  combine(both);
  /* Nobody receives these: they end with the mailer. */
  order_all(both, 'p');
  order_all(both, 'q');
  zip_close(&both);
  zip_free_addressees(&first);
  zip_free_addressees(&second);
  zip_free_addressees(&all);
}

/* A cohort is ended while it waits; its mailer closes, and another cohort works. */
static void kill_all(void) {
  ZIP_ADDRESSEES *first = started(3), *second;
  ZIP_MAILER* mailer = z_open(first);
  combine(mailer);
  NEED(zip_kill(first) == 0 && zip_kill(first) == 0);
  NEED(zip_close(&mailer) == 0);
  zip_set_error_handler(keep_words);
  NEED(z_open(first) == NULL);
  SAYS("was ended by zip_kill()");
  zip_set_error_handler(NULL);
  second = started(2);
  mailer = z_open(second);
  echo(mailer, 20000);
  combine(mailer);
  order_all(mailer, 'q');
  zip_close(&mailer);
  zip_free_addressees(&first);
  zip_free_addressees(&second);
}

/* The words of an error of a node. */
static void hear(ZIP_MAILER* mailer, int node) {
  char* letter = z_recvb(mailer, node);
  snprintf(said, sizeof said, "%s", letter);
  z_free_letter(mailer, letter);
}

/* The group of one member. */
static ZIP_ADDRESSEES* only(const ZIP_ADDRESSEES* group, int rank) {
  return zip_include(group, 1, &rank);
}

/* Two of four nodes wait for a fifth, which sends to one of them without end, and then all are in a collective
 * operation. When the fifth is ended, each of their calls fails; so do those of the host. */
static void kill_awaited(void) {
  ZIP_ADDRESSEES *group = started(5), *one = only(group, 5);
  ZIP_MAILER *mailer = z_open(group), *tagged;
  int rank = 0, node;
  order_with(mailer, 1, 'W', 5);
  order_with(mailer, 2, 'W', 5);
  for (node = 1; node <= 4; ++node) order(mailer, node, 'C');
  order_with(mailer, 5, 's', 1);
  NEED(zip_kill(one) == 0);
  zip_set_error_handler(keep_words);
  NEED(z_recvb(mailer, 5) == NULL);
  SAYS("z_recvb: rank ");
  NEED(z_combine(mailer, &rank, add_ints, (int)sizeof rank, 1) != 0);
  SAYS("was ended by zip_kill()");
  for (node = 1; node <= 2; ++node) {
    hear(mailer, node);
    SAYS("z_recvb: rank ");
  }
  for (node = 1; node <= 4; ++node) {
    hear(mailer, node);
    SAYS("z_combine: rank ");
  }
  zip_set_error_handler(NULL);
  /* The others exchange letters as before. */
  for (node = 1; node <= 4; ++node) {
    order(mailer, node, 'e');
    z_free_letter(mailer, z_recvb(mailer, node));
    order(mailer, node, 'q');
  }
  NEED(zip_close(&mailer) == 0);
  zip_free_addressees(&group);
  zip_free_addressees(&one);

  /* A letter of any member, of whom none is left. */
  group = started(2);
  mailer = z_open(group);
  order_all(mailer, 'x');
  zip_close(&mailer);
  tagged = l_open_with(group, 40000);
  NEED(zip_kill(group) == 0);
  zip_set_error_handler(keep_words);
  NEED(l_recvb(tagged, ZIP_ANY, ZIP_ANY, ZIP_ANY) == NULL);
  SAYS("was ended by zip_kill()");
  zip_set_error_handler(NULL);
  NEED(zip_close(&tagged) == 0);
  zip_free_addressees(&group);
}

/* A node ends another one for which the host and a third node wait in z_open(). */
static void kill_opening(void) {
  const int others[] = {0, 2, 3};
  ZIP_ADDRESSEES *group = started(3), *some = zip_include(group, 3, others);
  ZIP_MAILER* mailer = z_open(group);
  order_with(mailer, 3, 'p', 1);
  order_with(mailer, 1, 'K', zip_addressee(group, 3).node);
  order(mailer, 2, 'O');
  zip_set_error_handler(keep_words);
  NEED(z_open(some) == NULL);
  zip_set_error_handler(NULL);
  if (strstr(said, "the process of node") != NULL) {
    /* It was ended before this call, so the third node still waits. */
    const int first[] = {0, 1};
    ZIP_ADDRESSEES* pair = zip_include(some, 2, first);
    ZIP_MAILER* without = z_open(pair);
    zip_close(&without);
    zip_free_addressees(&pair);
  } else {
    SAYS("z_open: rank ");
  }
  hear(mailer, 2);
  SAYS("z_open: ");
  order(mailer, 1, 'q');
  order(mailer, 2, 'q');
  NEED(zip_close(&mailer) == 0);
  zip_free_addressees(&some);
  zip_free_addressees(&group);
}

/* Groups that name the caller, the host, or what was ended already: zip_kill() leaves them alone. */
static void kill_none(void) {
  ZIP_ADDRESSEES *group = started(2), *self = only(group, 0), *node = only(group, 1);
  ZIP_MAILER* mailer = z_open(group);
  NEED(zip_kill(self) == 0);
  echo(mailer, 100);
  NEED(zip_kill(node) == 0 && zip_kill(node) == 0 && zip_kill(group) == 0);
  NEED(zip_close(&mailer) == 0);
  zip_free_addressees(&group);
  zip_free_addressees(&self);
  zip_free_addressees(&node);
}

/* Nodes are started and ended in turn, while they send; then the job has no place that was not used. */
static void kill_often(void) {
  int turn;
  for (turn = 0; turn < 50; ++turn) {
    ZIP_ADDRESSEES* group = started(2);
    ZIP_MAILER* mailer = z_open(group);
    NEED(mailer != NULL);
    order_with(mailer, 1, 's', 0);
    order_with(mailer, 2, 's', 1);
    if (turn % 2 == 0) z_free_letter(mailer, z_recvb(mailer, 1));
    NEED(zip_kill(group) == 0);
    NEED(zip_close(&mailer) == 0);
    zip_free_addressees(&group);
  }
  zip_set_error_handler(keep_words);
  NEED(zip_new_cohort(2, COHORT_FIRST_NODE, 33, 1) == NULL);
  SAYS("and 0 empty places besides 100 whose processes were ended, which are not used again; start more");
  zip_set_error_handler(NULL);
}

/* Nodes start nodes of their own, one after the other and at the same time, and end them or let them end. */
static void nested(void) {
  static const char commands[] = {'n', 'k', 'n'};
  ZIP_ADDRESSEES* group = started(3);
  ZIP_MAILER* mailer = z_open(group);
  int node, turn, nodes[2][3];
  for (turn = 0; turn < 2; ++turn) {
    for (node = 1; node <= 3; ++node) order(mailer, node, commands[node - 1]);
    for (node = 1; node <= 3; ++node) {
      hear(mailer, node);
      nodes[turn][node - 1] = atoi(said);
      NEED(nodes[turn][node - 1] > zip_addressee(group, 3).node);
      NEED(turn == 0 || nodes[1][node - 1] != nodes[0][node - 1]);
    }
  }
  ring(mailer);
  combine(mailer);
  order_all(mailer, 'q');
  zip_close(&mailer);
  zip_free_addressees(&group);
}

/* One of three nodes is ended; the others close the mailer without it. */
static void kill_one(void) {
  ZIP_ADDRESSEES *group = started(3), *one;
  ZIP_MAILER* mailer = z_open(group);
  one = only(group, 2);
  ring(mailer);
  NEED(zip_kill(one) == 0);
  order(mailer, 1, 'q');
  order(mailer, 3, 'q');
  NEED(zip_close(&mailer) == 0);
  zip_free_addressees(&group);
  zip_free_addressees(&one);
}

/* The missing program is an error, after which the cohort may be started by another one. */
static void missing(void) {
  ZIP_ADDRESSEES *group = zip_new_cohort(2, COHORT_FIRST_NODE, 33, 1), *copy = zip_union(group, group);
  ZIP_MAILER* mailer;
  zip_set_error_handler(keep_words);
  NEED(zip_spawn("./no_such_program", group) != 0);
  NEED(strncmp(said, "zip_spawn: the launcher started no process: program /", 53) == 0);
  SAYS("/no_such_program: No such file or directory");
  NEED(z_open(group) == NULL);
  SAYS("has no process yet; start it by zip_spawn()");
  NEED(zip_spawn(node_program(), group) == 0 && said[0] == '\0');
  NEED(z_open(copy) == NULL);
  SAYS("has no process yet; start it by zip_spawn()");
  /* All run: a null operation. */
  NEED(zip_spawn("./no_such_program", group) == 0 && said[0] == '\0');
  zip_set_error_handler(NULL);
  mailer = z_open(group);
  ring(mailer);
  order_all(mailer, 'q');
  zip_close(&mailer);
  zip_free_addressees(&copy);
  zip_free_addressees(&group);
}

/* The program of MPI that ends without Zip_init() is an error of zip_spawn(), which ends what it has started. */
static void without_init(void) {
  ZIP_ADDRESSEES* group = zip_new_cohort(2, COHORT_FIRST_NODE, 33, 1);
  zip_set_error_handler(keep_words);
  NEED(zip_spawn(getenv("OTHER_PROGRAM"), group) != 0);
  SAYS(", which was started, has ended without Zip_init()");
  NEED(z_open(group) == NULL);
  SAYS("was ended by zip_kill()");
  zip_set_error_handler(NULL);
  zip_free_addressees(&group);
  group = started(2);
  {
    ZIP_MAILER* mailer = z_open(group);
    order_all(mailer, 'q');
    zip_close(&mailer);
  }
  zip_free_addressees(&group);
}

/* A job of four places: its three empty ones are given once, and again when a cohort was freed. */
static void places(void) {
  ZIP_ADDRESSEES *two = zip_new_cohort(2, COHORT_FIRST_NODE, 33, 1), *one;
  ZIP_MAILER* mailer;
  zip_set_error_handler(keep_words);
  NEED(zip_new_cohort(2, COHORT_FIRST_NODE, 33, 1) == NULL);
  SAYS("zip_new_cohort: a cohort of 2 processes, but the job has 0 nodes for it, and 1 empty places; start more");
  zip_free_addressees(&two);
  zip_set_error_handler(NULL);
  two = started(2);
  one = started(1);
  mailer = z_open(two);
  order_all(mailer, 'q');
  zip_close(&mailer);
  mailer = z_open(one);
  order_all(mailer, 'q');
  zip_close(&mailer);
  zip_free_addressees(&two);
  zip_free_addressees(&one);
}

static const Case cases[] = {{"letters", letters},           {"worlds", worlds},       {"kill_all", kill_all},
                             {"kill_one", kill_one},         {"missing", missing},     {"places", places},
                             {"kill_awaited", kill_awaited}, {"kill_none", kill_none}, {"kill_opening", kill_opening},
                             {"kill_often", kill_often},     {"nested", nested},       {"without_init", without_init}};

int main(int argc, char** argv) {
  const char* const form = getenv("FORM");
  int result = 0;
  host_node = form != NULL && strncmp(form, "nohost", 6) == 0 ? 0 : ZIP_HOST_NODE;
  NEED(begin_by(form) == 0);
  if (zip_my_node() == host_node) {
    result = run_cases(argc, argv, cases, sizeof cases / sizeof cases[0]);
    if (result == 0 && host_node != 0 && zip_nodes() != 0) printf("%s: right\n", argv[1]);
  }
  zip_exit();
  return result;
}
