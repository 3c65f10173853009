/* Letters and mailers of Zipcode in each process of a job: zipcode_mailing CASE... */
#include "cases.h"

/* A letter goes round, and grows at each process; nobody knows its length before. */
static void ring(void) {
  ZIP_MAILER* mailer = open_all(0);
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  int i;
  NEED(zip_class(mailer) == ZIP_Z);
  if (rank == 0) z_send(mailer, z_new_letter(mailer, 0), (rank + 1) % size);
  {
    char* letter = z_recvb(mailer, (rank + size - 1) % size);
    const int length = zip_length(mailer, letter);
    NEED(length == (rank == 0 ? size - 1 : rank - 1));
    for (i = 0; i < length; ++i) NEED(letter[i] == i + 1);
    if (rank != 0) {
      char* next = z_new_letter(mailer, length + 1);
      memcpy(next, letter, (size_t)length);
      next[length] = (char)rank;
      z_send(mailer, next, (rank + 1) % size);
    }
    z_free_letter(mailer, letter);
  }
  NEED(z_recv(mailer, rank) == NULL);
  NEED(zip_sync(mailer) == 0);
  NEED(zip_close(&mailer) == 0);
  NEED(mailer == NULL);
}

/* A letter with a number. */
static char* number_letter(ZIP_MAILER* mailer, int number) {
  char* letter = zip_malloc(mailer, (int)sizeof number);
  memcpy(letter, &number, sizeof number);
  return letter;
}
static int take_number(ZIP_MAILER* mailer, char* letter) {
  int number = -1;
  if (letter == NULL) return -1;
  NEED(zip_length(mailer, letter) == (int)sizeof number);
  memcpy(&number, letter, sizeof number);
  zip_free(mailer, letter);
  return number;
}

/* Class Y selects by a short tag, in any order; with ZIP_ANY in the order of arrival. */
static void class_y(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = y_open(all);
  const int node = zip_my_node(), to = (node + 1) % zip_nodes();
  int tag;
  for (tag = 0; tag < 50; ++tag) y_send(mailer, number_letter(mailer, tag * 3), to, 7, tag * 600);
  for (tag = 49; tag >= 10; --tag) NEED(take_number(mailer, y_recvb(mailer, tag * 600)) == tag * 3);
  for (tag = 0; tag < 10; ++tag) NEED(take_number(mailer, y_recvb(mailer, ZIP_ANY)) == tag * 3);
  NEED(y_recv(mailer, ZIP_ANY) == NULL);
  zip_free_addressees(&all);
  zip_close(&mailer);
}

/* Class L selects by process and long tag, and by either. */
static void class_l(void) {
  ZIP_ADDRESSEES* all = everyone(zip_nodes() - 1);
  ZIP_MAILER* mailer = l_open(all);
  const int me = zip_my_node(), nodes = zip_nodes();
  const long tags[] = {0, 1, 2147483647L, -2147483647L - 1, 123456789L};
  int node, i, sender, pid;
  long tag;
  for (node = 0; node < nodes; ++node) {
    for (i = 0; i < 5; ++i) l_send(mailer, number_letter(mailer, me * 100 + i), node, 7, tags[i]);
  }
  /* One tag of any process, then any tag of each process, in order. */
  for (node = 0; node < nodes; ++node) {
    char* letter = l_recvb(mailer, ZIP_ANY, ZIP_ANY, tags[4]);
    int number;
    NEED(l_sender(mailer, letter, &sender, &pid, &tag) == 0);
    NEED(pid == 7 && tag == tags[4]);
    number = take_number(mailer, letter);
    NEED(number == sender * 100 + 4);
  }
  for (node = nodes - 1; node >= 0; --node) {
    NEED(take_number(mailer, l_recvb(mailer, node, 7, tags[2])) == node * 100 + 2);
    for (i = 0; i < 4; ++i) {
      if (i != 2) NEED(take_number(mailer, l_recvb(mailer, node, 7, ZIP_ANY)) == node * 100 + i);
    }
  }
  NEED(l_recv(mailer, ZIP_ANY, ZIP_ANY, ZIP_ANY) == NULL);
  zip_free_addressees(&all);
  zip_close(&mailer);
}

/* A shape for n processes: P x Q x R with P >= Q >= R as far as n has divisors. */
static void shape_of(int n, int* P, int* Q, int* R) {
  *R = n % 2 == 0 ? 2 : 1;
  *Q = (n / *R) % 2 == 0 ? 2 : (n / *R) % 3 == 0 ? 3 : 1;
  *P = n / *R / *Q;
}

/* The grids are row-major with the last coordinate fastest; planes, rows and columns have the places of the paper. */
static void grids(void) {
  const int nodes = zip_nodes(), me = zip_my_node();
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER *cube, *plane, *row, *col;
  int P = -1, Q = -1, R = -1, p, q, r, i, j;
  if (me == 0) shape_of(nodes, &P, &Q, &R);
  cube = g3_grid_open(&P, &Q, &R, all);
  NEED(P * Q * R == nodes && zip_size(cube) == nodes);
  g3_PQR(cube, P, Q, R);
  NEED(P * Q * R == nodes);
  g3_pqr(cube, p, q, r);
  NEED(zip_rank(cube) == (p * Q + q) * R + r && zip_rank(cube) == me);
  /* Each to all, by coordinates. */
  for (i = 0; i < nodes; ++i) g3_send(cube, number_letter(cube, me * nodes + i), i / R / Q, i / R % Q, i % R);
  for (i = nodes - 1; i >= 0; --i)
    NEED(take_number(cube, g3_recvb(cube, i / R / Q, i / R % Q, i % R)) == i * nodes + me);
  plane = g3_PQ_plane(cube);
  NEED(zip_class(plane) == ZIP_G2 && zip_size(plane) == P * Q);
  g2_pq(plane, i, j);
  NEED(i == p && j == q);
  plane = QR_plane(cube);
  g2_PQ(plane, i, j);
  NEED(i == Q && j == R);
  g2_pq(plane, i, j);
  NEED(i == q && j == r);
  plane = g3_PR_plane(cube);
  g2_PQ(plane, i, j);
  NEED(i == P && j == R);
  g2_pq(plane, i, j);
  NEED(i == p && j == r);
  /* The row of the PR plane has the caller's p, and is indexed by r. */
  row = g2_row(plane);
  col = g2_col(plane);
  g1_P(row, i);
  g1_p(row, j);
  NEED(i == R && j == r);
  g1_P(col, i);
  g1_p(col, j);
  NEED(i == P && j == p);
  /* The same letters in all mailers at once: none is mixed up. */
  for (i = 0; i < R; ++i) g1_send(row, number_letter(row, 1000 + r), i);
  for (i = 0; i < P; ++i) g1_send(col, number_letter(col, 2000 + p), i);
  for (i = 0; i < P; ++i) g2_send(plane, number_letter(plane, 3000 + p), i, r);
  for (i = 0; i < P; ++i) NEED(take_number(plane, g2_recvb(plane, i, r)) == 3000 + i);
  for (i = 0; i < P; ++i) NEED(take_number(col, g1_recvb(col, i)) == 2000 + i);
  for (i = 0; i < R; ++i) NEED(take_number(row, g1_recvb(row, i)) == 1000 + i);
  zip_free_addressees(&all);
  zip_close(&cube);
}

/* A Postmaster outside of the grid sends to the members of the grid, and they to it. */
static void outside(void) {
  const int nodes = zip_nodes(), me = zip_my_node();
  ZIP_ADDRESSEES* all = me == 0 ? zip_new_cohort(nodes - 1, COHORT_FIRST_NODE, 7, 1) : NULL;
  ZIP_MAILER* mailer;
  int P = 1, Q = nodes - 1, p, q, i;
  if (nodes == 1) {
    zip_free_addressees(&all);
    return;
  }
  mailer = g2_grid_open(&P, &Q, all);
  NEED(zip_size(mailer) == nodes - 1);
  g2_pq(mailer, p, q);
  if (me == 0) {
    NEED(p == ZIP_POSTMASTER && q == ZIP_POSTMASTER && zip_rank(mailer) == ZIP_POSTMASTER);
    for (i = 0; i < Q; ++i) g2_send(mailer, number_letter(mailer, i), 0, i);
    for (i = 0; i < Q; ++i) NEED(take_number(mailer, g2_recvb(mailer, 0, i)) == 10 * i);
  } else {
    int sum = q;
    NEED(p == 0 && q == me - 1);
    NEED(take_number(mailer, g2_recvb(mailer, ZIP_POSTMASTER, ZIP_POSTMASTER)) == q);
    g2_send(mailer, number_letter(mailer, 10 * q), ZIP_POSTMASTER, ZIP_POSTMASTER);
    NEED(zip_sync(mailer) == 0);
    NEED(zip_size(g2_row(mailer)) == Q);
    g1_send(g2_row(mailer), number_letter(g2_row(mailer), sum), (q + 1) % Q);
    NEED(take_number(g2_row(mailer), g1_recvb(g2_row(mailer), (q + Q - 1) % Q)) == (q + Q - 1) % Q);
  }
  zip_free_addressees(&all);
  zip_close(&mailer);
}

static int by_column(int p, int q, void* extra) {
  (void)p;
  return q * *(int*)extra;
}

/* Each column of a grid becomes a subgrid, with contexts of its own. */
static void subgrids(void) {
  const int nodes = zip_nodes(), me = zip_my_node();
  int with_postmaster;
  for (with_postmaster = 0; with_postmaster < 2; ++with_postmaster) {
    const int members = nodes - (with_postmaster ? 0 : 1);
    ZIP_ADDRESSEES* all = me == 0 ? zip_new_cohort(nodes - 1, 0, 7, 1) : NULL;
    ZIP_MAILER *grid, *mine = NULL, **subs = NULL;
    int P = 0, Q = 0, R = 0, count = 0, factor = 3, p, q, i;
    if (members == 0) {
      zip_free_addressees(&all);
      continue;
    }
    if (me == 0) shape_of(members, &P, &Q, &R);
    Q *= R;
    grid = g2_grid_open(&P, &Q, all);
    g2_pq(grid, p, q);
    if (me == 0) {
      subs = g2_subgrid_open(grid, by_column, &factor, &count);
      NEED(count == Q);
      for (i = 0; i < count; ++i) NEED(zip_size(subs[i]) == P);
      if (with_postmaster) mine = subs[0];
      for (i = with_postmaster; i < count; ++i) {
        /* The Postmaster is outside of the others. */
        NEED(zip_rank(subs[i]) == ZIP_POSTMASTER);
        g2_send(subs[i], number_letter(subs[i], i), P - 1, 0);
      }
    } else {
      int subP = 0, subQ = 0;
      mine = g2_grid_open(&subP, &subQ, NULL);
      NEED(subP == P && subQ == 1 && zip_context_id(mine) != zip_context_id(grid));
      if (p == P - 1 && (q > 0 || !with_postmaster))
        NEED(take_number(mine, g2_recvb(mine, ZIP_POSTMASTER, ZIP_POSTMASTER)) == q);
    }
    if (mine != NULL) {
      g2_pq(mine, i, q);
      NEED(i == p && q == 0);
      g2_send(mine, number_letter(mine, p), (p + 1) % P, 0);
      NEED(take_number(mine, g2_recvb(mine, (p + P - 1) % P, 0)) == (p + P - 1) % P);
    }
    if (me != 0) {
      zip_close(&mine);
    } else {
      for (i = 0; i < count; ++i) zip_close(&subs[i]);
      free(subs);
    }
    zip_close(&grid);
    zip_free_addressees(&all);
  }
}

/* Explicit context_ids: no process waits for another one, and a family is made of cheap mailers. */
static void explicit_ids(void) {
  const int nodes = zip_nodes(), me = zip_my_node();
  ZIP_ADDRESSEES* all = zip_new_cohort(nodes, COHORT_FIRST_NODE, 7, 0);
  int i;
  for (i = 0; i < 100; ++i) {
    ZIP_MAILER* mailer = z_open_with(all, ZIP_FIRST_EXPLICIT + 2 * i);
    NEED(zip_context_id(mailer) == ZIP_FIRST_EXPLICIT + 2 * i && zip_rank(mailer) == me);
    z_send(mailer, number_letter(mailer, i), (me + 1) % nodes);
    NEED(take_number(mailer, z_recvb(mailer, (me + nodes - 1) % nodes)) == i);
    if (i % 2 == 0) zip_close(&mailer);
  }
  {
    ZIP_MAILER* grid = g2_grid_open_with(1, nodes, all, ZIP_LAST_EXPLICIT - 5);
    NEED(zip_size(g2_row(grid)) == nodes && zip_size(g2_col(grid)) == 1);
    NEED(zip_sync(g2_row(grid)) == 0);
    zip_close(&grid);
  }
  zip_free_addressees(&all);
}

/* The same without traffic, for the count of letters. */
static void explicit_open(void) {
  ZIP_ADDRESSEES* all = zip_new_cohort(zip_nodes(), COHORT_FIRST_NODE, 7, 0);
  int i;
  for (i = 0; i < 100; ++i) NEED(z_open_with(all, ZIP_FIRST_EXPLICIT + 2 * i) != NULL);
  zip_free_addressees(&all);
}

/* Letters of 0 bytes to 8 MB, around the limit above which they stay with their sender; a letter that is sent on. */
static void lengths(void) {
  ZIP_MAILER* mailer = open_all(0);
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  const int lengths_of[] = {0, 1, 16000, 16367, 16368, 16369, 20000, 8000000};
  char* received[8];
  int i, j;
  for (i = 0; i < 8; ++i) {
    char* letter = z_new_letter(mailer, lengths_of[i]);
    memset(letter, rank + i, (size_t)lengths_of[i]);
    z_send(mailer, letter, (rank + 1) % size);
  }
  for (i = 0; i < 8; ++i) {
    const int from = (rank + size - 1) % size;
    char* letter = NULL;
    if (i % 2 == 0) letter = z_recvb(mailer, from);
    while (letter == NULL) letter = z_recv(mailer, from);
    NEED(zip_length(mailer, letter) == lengths_of[i]);
    for (j = 0; j < lengths_of[i]; j += 97) NEED(letter[j] == (char)(from + i));
    received[i] = letter;
  }
  /* Received letters are sent on, and return. */
  for (i = 0; i < 8; ++i) z_send(mailer, received[i], (rank + size - 1) % size);
  for (i = 0; i < 8; ++i) {
    char* letter = z_recvb(mailer, (rank + 1) % size);
    NEED(zip_length(mailer, letter) == lengths_of[i]);
    for (j = 0; j < lengths_of[i]; j += 97) NEED(letter[j] == (char)(rank + i));
    z_free_letter(mailer, letter);
  }
  zip_close(&mailer);
}

/* Letters that the program keeps, and letters that it does not receive, do not block those of others. */
static void kept(void) {
  enum { kLetters = 2000, kBytes = 16000 };
  ZIP_MAILER* mailer = open_all(0);
  ZIP_MAILER* other = open_all(0);
  const int rank = zip_rank(mailer), size = zip_size(mailer), from = (rank + size - 1) % size;
  static char* letters[kLetters];
  int i;
  for (i = 0; i < kLetters; ++i) {
    char* letter = z_new_letter(mailer, kBytes);
    memset(letter, i % 100, kBytes);
    z_send(mailer, letter, (rank + 1) % size);
  }
  /* Twice as many bytes as the heap has are not received yet. */
  z_send(other, number_letter(other, 5), (rank + 1) % size);
  NEED(take_number(other, z_recvb(other, from)) == 5);
  for (i = 0; i < kLetters; ++i) {
    letters[i] = z_recvb(mailer, from);
    NEED(letters[i][0] == i % 100 && letters[i][kBytes - 1] == i % 100);
  }
  /* Now they are kept. */
  z_send(other, number_letter(other, 6), (rank + 1) % size);
  NEED(take_number(other, z_recvb(other, from)) == 6);
  for (i = 0; i < kLetters; i += 2) z_free_letter(mailer, letters[i]);
  for (i = 1; i < kLetters; i += 2) {
    NEED(letters[i][kBytes / 2] == i % 100);
    z_free_letter(mailer, letters[i]);
  }
  zip_close(&mailer);
  zip_close(&other);
}

/* Letters that nobody receives are freed when their mailer is closed, and not found by the next one with its ids. */
static void pending(void) {
  int round, i, id = 0;
  for (round = 0; round < 200; ++round) {
    ZIP_MAILER* mailer = open_all(0);
    const int rank = zip_rank(mailer), size = zip_size(mailer);
    if (round == 0) id = zip_context_id(mailer);
    NEED(zip_context_id(mailer) == id);
    for (i = 0; i < size; ++i) {
      NEED(z_recv(mailer, i) == NULL || !"a letter of an earlier mailer");
    }
    zip_sync(mailer);
    for (i = 0; i < size; ++i) z_send(mailer, z_new_letter(mailer, round % 3 == 0 ? 30000 : 10), i);
    /* Some of them are received, others are under way. */
    if (round % 2 == 0) z_free_letter(mailer, z_recvb(mailer, rank));
    zip_close(&mailer);
  }
}

/* Disjoint groups have the same context_ids, overlapping ones others; a group of one process is possible. */
static void disjoint(void) {
  const int me = zip_my_node();
  Zip_process alone;
  ZIP_ADDRESSEES* group;
  ZIP_MAILER *own, *all = open_all(0);
  long context;
  int equal;
  alone.node = me;
  alone.pid = 3;
  group = zip_new_addressees(1, &alone);
  own = z_open(group);
  NEED(zip_context_id(own) != zip_context_id(all));
  context = zip_context_id(own);
  z_send(own, number_letter(own, me), 0);
  NEED(take_number(own, z_recvb(own, 0)) == me);
  /* All have the same one. */
  if (zip_rank(all) == 0) {
    int i;
    for (i = 1; i < zip_size(all); ++i) z_send(all, number_letter(all, (int)context), i);
  } else {
    equal = take_number(all, z_recvb(all, 0)) == context;
    NEED(equal);
  }
  zip_free_addressees(&group);
  zip_close(&own);
  zip_close(&all);
}

/* Groups, their constructors and their names. */
static void groups(void) {
  const int nodes = zip_nodes(), me = zip_my_node();
  ZIP_ADDRESSEES* with = zip_new_cohort(nodes - 1, 0, 33, ~0);
  ZIP_ADDRESSEES* all = zip_new_cohort(nodes, nodes - 1, 34, 0);
  ZIP_ADDRESSEES* both = zip_union(with, all);
  int last = nodes - 1;
  ZIP_ADDRESSEES* one = zip_include(all, 1, &last);
  NEED(zip_addressees_size(with) == nodes && zip_addressees_size(both) == nodes);
  NEED(zip_addressee(with, 0).node == me && zip_addressee(with, 0).pid == 33);
  NEED(zip_addressee(all, 0).node == nodes - 1);
  NEED(zip_addressee(all, last).node == (2 * nodes - 2) % nodes);
  NEED(zip_addressee_rank(all, nodes - 1, 34) == 0 && zip_addressee_rank(all, nodes - 1, 33) == -1);
  NEED(zip_addressees_size(one) == 1 && zip_addressee(one, 0).node == zip_addressee(all, last).node);
  if (nodes > 1) {
    ZIP_ADDRESSEES* rest = zip_exclude(all, 1, &last);
    NEED(zip_addressees_size(rest) == nodes - 1);
    zip_free_addressees(&rest);
  }
  /* Null operations, after a check of their arguments. */
  NEED(zip_spawn("./testprog", with) == 0 && Zip_kill(with) == 0);
  zip_free_addressees(&with);
  NEED(with == NULL);
  zip_free_addressees(&all);
  zip_free_addressees(&both);
  zip_free_addressees(&one);
}

/* Figure 1: the fields of an envelope, and the way from a body back to it. */
static void envelopes(void) {
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  ZIP_MAILER* mailers[6];
  const int boxes[] = {2, 4, 12, 4, 8, 12};
  int P = 1, Q = 1, R = 1, i, j;
  mailers[0] = y_open(alone);
  mailers[1] = z_open(alone);
  mailers[2] = l_open(alone);
  mailers[3] = g1_grid_open(&P, alone);
  mailers[4] = g2_grid_open(&P, &Q, alone);
  mailers[5] = g3_grid_open(&P, &Q, &R, alone);
  for (i = 0; i < 6; ++i) {
    char* letter = zip_malloc(mailers[i], 5);
    unsigned short postage;
    Zip_envelope envelope;
    NEED(zip_envelope(mailers[i], letter, &envelope) == 0);
    NEED(envelope.zipcode == zip_context_id(mailers[i]) && envelope.mail_class == zip_class(mailers[i]));
    NEED(envelope.box_bytes == boxes[i] && envelope.stamp % 16 == 0);
    NEED(6 + envelope.box_bytes + envelope.padding_bytes + 2 == envelope.stamp);
    memcpy(&postage, letter - 2, sizeof postage);
    NEED(postage == envelope.stamp && envelope.return_postage == postage);
    NEED((const char*)envelope.beginning == letter - postage && (size_t)letter % 16 == 0);
    for (j = 0; j < i; ++j) NEED(zip_context_id(mailers[i]) != zip_context_id(mailers[j]));
    zip_free(mailers[i], letter);
  }
  for (i = 0; i < 6; ++i) zip_close(&mailers[i]);
  zip_free_addressees(&alone);
}

/* With a host, its node has a name of its own, and the nodes are the other processes. */
static void hosted(void) {
  const int me = zip_my_node(), nodes = zip_nodes();
  ZIP_ADDRESSEES* all = me == ZIP_HOST_NODE ? zip_new_cohort(nodes, COHORT_FIRST_NODE, 33, 1) : NULL;
  ZIP_MAILER* mailer = l_open(all);
  int node, i;
  long tag;
  NEED(zip_size(mailer) == nodes + 1 && (me == ZIP_HOST_NODE) == (zip_rank(mailer) == 0));
  if (me == ZIP_HOST_NODE) {
    NEED(zip_addressee(all, 0).node == ZIP_HOST_NODE && zip_addressee_rank(all, 0, 33) == (nodes == 0 ? -1 : 1));
    for (i = 0; i < nodes; ++i) l_send(mailer, number_letter(mailer, i), i, 33, 5);
    for (i = 0; i < nodes; ++i) {
      char* letter = l_recvb(mailer, ZIP_ANY, ZIP_ANY, ZIP_ANY);
      NEED(l_sender(mailer, letter, &node, NULL, &tag) == 0 && tag == node);
      NEED(take_number(mailer, letter) == node);
    }
  } else {
    NEED(take_number(mailer, l_recvb(mailer, ZIP_HOST_NODE, 33, 5)) == me);
    l_send(mailer, number_letter(mailer, me), ZIP_HOST_NODE, 33, me);
  }
  zip_free_addressees(&all);
  zip_close(&mailer);
}

static const Case cases[] = {{"ring", ring},
                             {"class_y", class_y},
                             {"class_l", class_l},
                             {"grids", grids},
                             {"outside", outside},
                             {"subgrids", subgrids},
                             {"explicit_ids", explicit_ids},
                             {"explicit_open", explicit_open},
                             {"lengths", lengths},
                             {"kept", kept},
                             {"pending", pending},
                             {"disjoint", disjoint},
                             {"groups", groups},
                             {"envelopes", envelopes},
                             {"hosted", hosted}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
