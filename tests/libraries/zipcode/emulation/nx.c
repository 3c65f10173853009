/* The calls of NX: zipcode_nx CASE... */
#include <margay/zipcode_nx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void need(int holds, const char* what, int line) {
  if (holds) return;
  printf("node %ld, line %d: %s\n", mynode(), line, what);
  ++failures;
}
#define NEED(condition) need(!!(condition), #condition, __LINE__)

static void send_long(long type, long value, long node) {
  csend(type, &value, sizeof value, node, 0);
}
static long received(long typesel) {
  long value = -1;
  crecv(typesel, &value, sizeof value);
  return value;
}

/* Types: a number, -1, masks, force types; order within a type. To the own node, so that all has arrived. */
static void types(void) {
  const long me = mynode(), force = 1073741824 + 5;
  long info[4], value;
  send_long(40, 1, me);
  send_long(7, 2, me);
  send_long(force, 3, me);
  send_long(8, 4, me);
  send_long(40, 5, me);
  send_long(999999999, 6, me);
  NEED(received(8) == 4);
  NEED(infotype() == 8 && infonode() == me && infocount() == sizeof(long) && infopid() == 0 && infoptype() == 0);
  /* Bits 7 and 8: the types 7 and 8. */
  NEED(received(0x80000000 | 1 << 7 | 1 << 8) == 2);
  /* Bit 30: all types from 30 on, but not force types. */
  NEED(received(0x80000000 | 0x40000000) == 1);
  NEED(received(-1) == 5);
  NEED(received(-1) == 6);
  NEED(iprobe(-1) == 0);
  NEED(iprobe(force) == 1 && infocount() == sizeof(long));
  NEED(received(force) == 3);
  send_long(3, 9, me);
  crecvx(-1, &value, sizeof value, me, 0, info);
  NEED(value == 9 && info[0] == 3 && info[1] == sizeof value && info[2] == me && info[3] == 0);
  NEED(msginfo[0] == 3 && msginfo[2] == me);
  gsync();
}

static void probes(void) {
  const long me = mynode(), nodes = numnodes(), to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
  long info[4] = {0}, value = 0;
  NEED(iprobe(5) == 0);
  gsync();
  csend(5, "abc", 3, to, 0);
  cprobe(5);
  NEED(infocount() == 3 && infonode() == from);
  cprobex(-1, from, -1, info);
  NEED(info[0] == 5 && info[1] == 3 && info[2] == from);
  NEED(nodes == 1 || iprobex(5, me, 0, info) == 0);
  NEED(iprobex(5, from, 0, info) == 1);
  crecv(5, &value, sizeof value);
  NEED(memcmp(&value, "abc", 3) == 0 && infocount() == 3);
  NEED(iprobe(-1) == 0);
  gsync();
}

static void asynchronous(void) {
  const long me = mynode(), nodes = numnodes(), to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
  long in[6] = {0}, out[6], ids[6], merged = -1, mid, answer = 0, i;
  for (i = 0; i < 6; ++i) ids[i] = irecv(i, &in[i], sizeof in[i]);
  NEED(msgdone(ids[0]) == 0);
  gsync();
  for (i = 5; i >= 0; --i) {
    out[i] = 100 * me + i;
    mid = isend(i, &out[i], sizeof out[i], to, 0);
    out[i] = -1; /* the buffer is free at once */
    msgwait(mid);
  }
  msgwait(ids[3]);
  NEED(in[3] == 100 * from + 3 && infotype() == 3 && infonode() == from);
  while (msgdone(ids[4]) == 0) flick();
  NEED(in[4] == 100 * from + 4);
  for (i = 0; i < 3; ++i) merged = msgmerge(merged, ids[i]);
  msgwait(merged);
  for (i = 0; i < 3; ++i) NEED(in[i] == 100 * from + i);
  msgwait(ids[5]);
  /* An ignored receive still receives; a cancelled one does not. */
  in[0] = in[1] = 0;
  msgignore(irecv(60, &in[0], sizeof in[0]));
  msgcancel(irecv(61, &in[1], sizeof in[1]));
  gsync();
  send_long(60, 7, to);
  send_long(61, 8, to);
  NEED(received(61) == 8);
  while (in[0] == 0) flick();
  NEED(in[0] == 7 && in[1] == 0);
  /* The earliest posted receive gets the message. */
  ids[0] = irecv(-1, &in[0], sizeof in[0]);
  ids[1] = irecvx(70, &in[1], sizeof in[1], from, 0, msginfo);
  gsync();
  send_long(70, 10, to);
  send_long(70, 11, to);
  msgwait(ids[1]);
  msgwait(ids[0]);
  NEED(in[0] == 10 && in[1] == 11);
  NEED(csendrecv(80, &me, sizeof me, to, 0, 80, &answer, sizeof answer) == sizeof answer && answer == from);
  answer = -1;
  mid = isendrecv(81, &me, sizeof me, to, 0, 81, &answer, sizeof answer);
  msgwait(mid);
  NEED(answer == from);
  gsync();
}

static long handled[4], handled_times, handled_node, sent_times;
static void on_message(long type, long count, long node, long ptype) {
  handled[handled_times++] = type;
  handled_node = node;
  NEED(ptype == 0 && count == sizeof(long));
}
static void on_message_x(long type, long count, long node, long ptype, long parameter) {
  on_message(type, count, node, ptype);
  handled[3] = parameter;
}
static void on_sent(long type, long count, long node, long ptype) {
  NEED(type == 90 && count == sizeof(long) && ptype == 0 && node == (mynode() + 1) % numnodes());
  ++sent_times;
}

static void handlers(void) {
  const long me = mynode(), nodes = numnodes(), to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
  long in[3] = {0}, value = 5;
  handled_times = sent_times = 0;
  hrecv(90, &in[0], sizeof in[0], on_message);
  hrecvx(91, &in[1], sizeof in[1], from, 0, on_message_x, 1234);
  gsync();
  hsend(90, &value, sizeof value, to, 0, on_sent);
  NEED(sent_times == 1);
  value = 6;
  send_long(91, value, to);
  while (handled_times < 2) flick();
  NEED(in[0] == 5 && in[1] == 6 && handled[0] == 90 && handled[1] == 91 && handled[3] == 1234 && handled_node == from);
  /* Masked: the message is received, the handler waits. */
  NEED(masktrap(1) == 0);
  hsendrecv(92, &value, sizeof value, to, 0, 92, &in[2], sizeof in[2], on_message);
  while (in[2] == 0) flick();
  NEED(in[2] == 6 && handled_times == 2);
  NEED(masktrap(0) == 1);
  NEED(handled_times == 3 && handled[2] == 92);
  gsync();
}

static long add_complex(char* x, char* work) {
  double *to = (double*)x, *from = (double*)work;
  to[0] += from[0];
  to[1] += from[1];
  from[0] = 1e9; /* NX gives the function its work space */
  return 0;
}

static void globals(void) {
  const long me = mynode(), nodes = numnodes();
  long i[2] = {me + 1, -me}, work[2], lengths[64], total = 0, node, at = 0;
  float s[1] = {(float)me};
  double d[2] = {0.5 * (double)me, 2}, z[2] = {1, (double)me};
  char mine[64], all[4096];
  gisum(i, 2, work);
  NEED(i[0] == nodes * (nodes + 1) / 2 && i[1] == -nodes * (nodes - 1) / 2);
  gshigh(s, 1, work);
  NEED(s[0] == (float)(nodes - 1));
  gdsum(d, 2, work);
  NEED(d[0] == 0.25 * (double)(nodes * (nodes - 1)) && d[1] == (double)(2 * nodes));
  i[0] = me + 5;
  gilow(i, 1, work);
  NEED(i[0] == 5);
  i[0] = 2;
  giprod(i, 1, work);
  NEED(i[0] == 1L << nodes);
  i[0] = me == 0 ? 6 : 7;
  giand(i, 1, work);
  NEED(i[0] == 6);
  i[0] = me == nodes - 1;
  glor(i, 1, work);
  NEED(i[0] == 1);
  d[0] = (double)me;
  gdhigh(d, 1, work);
  NEED(d[0] == (double)(nodes - 1));
  d[0] = (double)(me + 3);
  gdlow(d, 1, work);
  NEED(d[0] == 3);
  gopf(z, sizeof z, work, add_complex);
  NEED(z[0] == (double)nodes && z[1] == (double)(nodes * (nodes - 1) / 2));
  /* Node n contributes n + 1 letters. */
  memset(mine, 'a' + (int)me, sizeof mine);
  gcol(mine, me + 1, all, sizeof all, &total);
  NEED(total == nodes * (nodes + 1) / 2);
  for (node = 0; node < nodes; at += ++node) NEED(all[at] == 'a' + node && all[at + node] == 'a' + node);
  for (node = 0; node < nodes; ++node) lengths[node] = node + 1;
  memset(all, 0, sizeof all);
  gcolx(mine, lengths, all);
  NEED(all[total - 1] == 'a' + nodes - 1 && all[0] == 'a');
  /* To all others, and to a list. */
  if (me == 0) send_long(33, 77, -1);
  if (me != 0) NEED(received(33) == 77 && infonode() == 0);
  for (node = 0; node < nodes; ++node) lengths[node] = node;
  if (me == nodes - 1) gsendx(34, &me, sizeof me, lengths, nodes);
  NEED(received(34) == nodes - 1);
  gsync();
}

/* Long and empty messages. */
static void lengths(void) {
  static char out[200000], in[200000];
  const long me = mynode(), nodes = numnodes(), to = (me + 1) % nodes;
  long k;
  for (k = 0; k < (long)sizeof out; ++k) out[k] = (char)(k * 7 + me);
  csend(1, out, sizeof out, to, 0);
  csend(2, NULL, 0, to, 0);
  crecv(2, NULL, 0);
  NEED(infocount() == 0);
  crecv(1, in, sizeof in);
  NEED(infocount() == sizeof in);
  for (k = 0; k < (long)sizeof in; ++k) NEED(in[k] == (char)(k * 7 + (me + nodes - 1) % nodes));
  gsync();
}

static char last_error[500];
static void keep_error(const char* message) {
  snprintf(last_error, sizeof last_error, "%s", message);
}
static int said(const char* text) {
  const int is_there = strstr(last_error, text) != NULL;
  if (!is_there) printf("expected \"%s\" in \"%s\"\n", text, last_error);
  last_error[0] = '\0';
  return is_there;
}

static void plain_handler(long type, long count, long node, long ptype) {
  (void)type, (void)count, (void)node, (void)ptype;
}
static void extended_handler(long type, long count, long node, long ptype, long hparam) {
  (void)type, (void)count, (void)node, (void)ptype, (void)hparam;
}

/* Each form with an underscore returns -1 after an error that names its call. */
static void underscore_errors(long me) {
  long value = 0, bad = -7;
#define REFUSED(call, words) NEED((call) == -1 && strstr(zip_nx_error(), words) != NULL)
  REFUSED(_csendrecv(-5, &value, 8, me, 0, 1000, &value, 8), "csendrecv: invalid type -5");
  REFUSED(_gsendx(1, &value, 8, &bad, 1), "gsendx: invalid node -7");
  REFUSED(_gsendx(1, &value, 8, NULL, 1), "gsendx: the list of nodes is NULL");
  REFUSED(_cprobex(5000000000L, me, 0, NULL), "cprobex: ");
  REFUSED(_iprobex(1, -3, 0, NULL), "iprobex: ");
  REFUSED(_irecvx(1, &value, 8, -3, 0, NULL), "irecvx: ");
  REFUSED(_isendrecv(-5, &value, 8, me, 0, 1001, &value, 8), "isendrecv: invalid type -5");
  REFUSED(_msgignore(12345), "msgignore: invalid message id 12345");
  REFUSED(_msgcancel(12345), "msgcancel: invalid message id 12345");
  REFUSED(_msgmerge(12345, 12346), "msgmerge: invalid message id");
  REFUSED(_hsend(-5, &value, 8, me, 0, plain_handler), "hsend: invalid type -5");
  REFUSED(_hsendx(-5, &value, 8, me, 0, extended_handler, 1), "hsendx: invalid type -5");
  REFUSED(_hrecv(1, &value, 8, NULL), "hrecv: the handler is NULL");
  REFUSED(_hrecvx(1, &value, 8, me, 0, NULL, 1), "hrecvx: the handler is NULL");
  REFUSED(_hsendrecv(1, &value, 8, me, 0, 1, &value, 8, NULL), "hsendrecv: the handler is NULL");
}

static void errors(void) {
  const long me = mynode();
  long value = 0;
  char small[2];
  NEED(_csend(-5, &value, sizeof value, me, 0) == -1 && strstr(zip_nx_error(), "csend: invalid type -5") != NULL);
  NEED(_csend(1073741823, &value, sizeof value, me, 0) == -1);
  NEED(_csend(1, &value, sizeof value, numnodes(), 0) == -1 && strstr(zip_nx_error(), "invalid node") != NULL);
  NEED(_csend(1, &value, sizeof value, me, 3) == -1 && strstr(zip_nx_error(), "invalid process type 3") != NULL);
  NEED(_csend(1, NULL, 4, me, 0) == -1 && _csend(1, &value, -4, me, 0) == -1);
  NEED(_crecvx(1, &value, sizeof value, -3, 0, NULL) == -1);
  NEED(_irecv(5000000000L, &value, sizeof value) == -1);
  NEED(_msgwait(12345) == -1 && strstr(zip_nx_error(), "invalid message id 12345") != NULL);
  NEED(_msgdone(12345) == -1);
  underscore_errors(me);
  zip_set_error_handler(keep_error);
  send_long(1, 1, me);
  NEED(_crecv(1, small, sizeof small) == -1);
  NEED(strstr(zip_nx_error(), "has 8 bytes, but the buffer only 2") != NULL);
  send_long(2, 1, me);
  crecv(2, small, sizeof small);
  NEED(said("crecv: a message of type 2"));
  csend(1, &value, sizeof value, -2, 0);
  NEED(said("csend: invalid node -2"));
  hrecv(1, &value, sizeof value, NULL);
  NEED(said("hrecv: the handler is NULL"));
  msgcancel(777);
  NEED(said("msgcancel: invalid message id 777"));
  setptype(2);
  NEED(said("setptype: the process type is always 0"));
  gopf(&value, sizeof value, NULL, NULL);
  NEED(said("gopf: the function is NULL"));
  zip_set_error_handler(NULL);
  gsync();
}

/* Two subroutines with equal types, each in a mailer of its own: the tagged-message registry of 4.4.1. */
static long old_library(long salt) {
  const long me = mynode(), nodes = numnodes();
  send_long(1, salt + me, (me + 1) % nodes);
  return received(-1) - salt - (me + nodes - 1) % nodes;
}
static void registry(void) {
  const long me = mynode(), nodes = numnodes(), to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
  ZIP_ADDRESSEES* all = me == 0 ? zip_new_cohort((int)nodes - 1, COHORT_FIRST_NODE, 9, 1) : NULL;
  ZIP_MAILER *mine = l_open(all), *former;
  long value = 0, mid;
  /* The program's own messages are pending, and its receive takes any type. */
  send_long(1, 1000 + me, to);
  mid = irecv(-1, &value, sizeof value);
  former = zip_nx_mailer(mine);
  NEED(former == NULL && mynode() == me && numnodes() == nodes);
  NEED(old_library(5000) == 0);
  NEED(zip_nx_mailer(former) == mine);
  msgwait(mid);
  NEED(value == 1000 + from);
  /* A mailer that is closed while NX has a letter of it, and another one, perhaps at its address. */
  zip_nx_mailer(mine);
  send_long(5, 1, me);
  cprobe(5);
  NEED(zip_close(&mine) == 0);
  mine = l_open(all);
  zip_nx_mailer(mine);
  NEED(iprobe(5) == 0 && mynode() == me);
  NEED(old_library(6000) == 0);
  NEED(zip_close(&mine) == 0);
  NEED(mynode() == me && zip_nx_mailer(NULL) == NULL);
  /* Letters that nobody receives until the end of the program. */
  send_long(77, 1, me);
  cprobe(77);
  gsync();
  if (all != NULL) zip_free_addressees(&all);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"types", types},       {"probes", probes},    {"asynchronous", asynchronous},
             {"handlers", handlers}, {"globals", globals},  {"lengths", lengths},
             {"errors", errors},     {"registry", registry}};

int main(int argc, char** argv) {
  int i;
  size_t c;
  for (i = 1; i < argc; ++i) {
    for (c = 0; c < sizeof cases / sizeof cases[0]; ++c)
      if (strcmp(argv[i], cases[c].name) == 0) cases[c].run();
    if (mynode() == 0 && failures == 0) printf("%s: right\n", argv[i]);
  }
  return failures != 0;
}
