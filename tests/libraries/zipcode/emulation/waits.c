/* Calls of NX and LMPS that wait forever, and one that fails, for the names in reports: zipcode_waits CALL */
#include <margay/zipcode_lmps.h>
#include <margay/zipcode_nx.h>

#include <stdio.h>
#include <string.h>

enum { kNobodys = 5, kOwn = 6 };

static long value;
static volatile long handled;

static void wait_for_nobody(void) {
  crecv(kNobodys, &value, sizeof value);
}
static void msgwait_for_nobody(void) {
  msgwait(irecv(kNobodys, &value, sizeof value));
}
static void probe_nobody(void) {
  cprobe(kNobodys);
}
/* All wait for the last node, which waits for node 0. */
static void sync_without_the_last(void) {
  if (mynode() == numnodes() - 1) crecvx(kNobodys, &value, sizeof value, 0, 0, NULL);
  gsync();
}
/* A handler makes calls of its own. */
static void handler(long type, long count, long node, long ptype) {
  (void)type;
  (void)count;
  (void)node;
  (void)ptype;
  crecv(kNobodys, &value, sizeof value);
  handled = value; /* otherwise the call above is a jump, which has no place in the program */
}
static void wait_in_handler(void) {
  csend(kOwn, &value, sizeof value, mynode(), 0);
  hrecv(kOwn, &value, sizeof value, handler);
  msgwait(irecv(kOwn, &value, sizeof value));
}
static void lmps_for_nobody(void) {
  long tag = kNobodys;
  ZIP_MAILER* mailer;
  ZIP_ADDRESSEES* all;
  Zip_nohost_init();
  all = zip_my_node() == 0 ? zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 0, 1) : NULL;
  mailer = l_open(all);
  lmps_recv(mailer, &value, (int)sizeof value, NULL, &tag);
}
/* The letter of a message that is too long for its buffer. */
static void fail(void) {
  csend(kOwn, "a long text", 12, mynode(), 0);
  crecv(kOwn, &value, 1);
}
/* A call of each sort, for the table of calls. */
static void talk(void) {
  gsync();
  csend(kOwn, &value, sizeof value, mynode(), 0);
  crecv(kOwn, &value, sizeof value);
  gisum(&value, 1, &value);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"crecv", wait_for_nobody},
             {"msgwait", msgwait_for_nobody},
             {"cprobe", probe_nobody},
             {"gsync", sync_without_the_last},
             {"handler", wait_in_handler},
             {"lmps_recv", lmps_for_nobody},
             {"fail", fail},
             {"talk", talk}};

int main(int argc, char** argv) {
  size_t c;
  if (argc != 2) return 2;
  for (c = 0; c < sizeof cases / sizeof cases[0]; ++c)
    if (strcmp(argv[1], cases[c].name) == 0) cases[c].run();
  return 0;
}
