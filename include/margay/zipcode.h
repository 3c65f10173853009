/* Zipcode, a message-passing library for libraries, on margay: static process groups, contexts and virtual topologies
 * in one object, the mailer; letters whose memory moves from the sender to the receiver. docs/zipcode.md is the lesson.
 *
 *   #include <margay/zipcode.h>
 *
 *   int P = 2, Q = 3;
 *   Zip_init();                                              in every process
 *   addressees = zip_new_cohort(5, COHORT_FIRST_NODE, 0, 1); in the Postmaster, others use NULL
 *   mailer = g2_grid_open(&P, &Q, addressees);               in every process of the group
 *   letter = g2_new_letter(mailer, sizeof(double));
 *   ...
 *   g2_send(mailer, letter, p, q);                           the send takes the letter
 *   letter = g2_recvb(mailer, p, q);
 *   g2_free_letter(mailer, letter);
 *   zip_close(&mailer);
 *   zip_exit();
 *
 * Link with margay::zipcode (CMake) or margay-zipcode (pkg-config); start with `margay run`.
 *
 * Source: Skjellum, Smith, Doss, Leung, Morari, The Design and Evolution of Zipcode (1994). Calls that the paper does
 * not print are marked "ours".
 *
 * Errors: a call that returns int returns a nonzero value. Every error calls the error handler first, which by default
 * prints it and ends the job (zip_set_error_handler).
 *
 * Threads: a process calls Zipcode from the thread that called Zip_init(). Methods, handlers and classes of the program
 * run only inside calls of Zipcode, and may call it. */
#ifndef MARGAY_ZIPCODE_H
#define MARGAY_ZIPCODE_H

#include "margay/zipcode_invoices.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ZIP_MAILER, which zipcode_invoices.h declares, is opaque: a group, its contexts, its topology, its operations, and
 * its child mailers. */
/* Opaque: an ordered list of processes (4.2: "addressee list"). It is local to its process. */
typedef struct ZIP_ADDRESSEES ZIP_ADDRESSEES;

/* A wildcard for tags, nodes and pids of receives of classes Y and L. */
#define ZIP_ANY (-1)
/* The name of a Postmaster outside of its grid: as rank, and as each coordinate. */
#define ZIP_POSTMASTER (-1)

/* --- Begin and end (4.1) -------------------------------------------------------------------------------------------
 */

/* Each process calls one of these, and all call the same one. They return 0, and with "host" mean: process 0 of the job
 * is the host, whose node is ZIP_HOST_NODE, and the nodes 0, 1, ... are the other processes. Without a host, process i
 * is node i.
 *
 *   Zip_init                 host, several programs, Postmaster General
 *   Zip_global_init          host, one program, no Postmaster General
 *   Zip_nohost_init          no host, several programs, Postmaster General
 *   Zip_nohost_global_init   no host, one program, no Postmaster General
 *
 * The Postmaster General issues the context_ids of mailers; it is a part of process 0, and works while that process
 * computes. Without it, the members of a mailer agree on its context_ids. Then all processes open mailers in one order,
 * because no token orders openings of overlapping groups by different Postmasters. */
int Zip_init(void);
int Zip_global_init(void);
int Zip_nohost_init(void);
int Zip_nohost_global_init(void);
/* Ends the session, in all processes. Frees mailers that are open, and letters that were not received. */
void zip_exit(void);

#define ZIP_HOST_NODE (-2)

/* --- Processes and groups (4.2) ------------------------------------------------------------------------------------
 */

/* A process: its node and pid. The pid is a number that the group gives to its processes; margay runs one process on
 * a node. */
typedef struct Zip_process {
  int node;
  int pid;
} Zip_process;

/* Makes the group of N nodes from node_bias on, which wraps around after the last node. With pm_flag the caller comes
 * first, as Postmaster, and is left out of the nodes that follow: the group has N + 1 processes. If the job has fewer
 * nodes, the caller gets a group of N empty places, for zip_spawn(). Returns NULL after an error, such as more
 * processes than the job has places. */
ZIP_ADDRESSEES* zip_new_cohort(int N, int node_bias, int cohort_pid, int pm_flag);
#define COHORT_FIRST_NODE 0
/* Further constructors; the paper wishes for "portable ways to construct and modify process groups". `processes` are
 * different ones. zip_include() and zip_exclude() select by rank: in the order of `ranks`, or all others. zip_union()
 * appends those of `second` that `first` lacks. (ours) */
ZIP_ADDRESSEES* zip_new_addressees(int count, const Zip_process* processes);
ZIP_ADDRESSEES* zip_include(const ZIP_ADDRESSEES* addressees, int count, const int* ranks);
ZIP_ADDRESSEES* zip_exclude(const ZIP_ADDRESSEES* addressees, int count, const int* ranks);
ZIP_ADDRESSEES* zip_union(const ZIP_ADDRESSEES* first, const ZIP_ADDRESSEES* second);
/* The number of processes; the process of a rank; the rank of a process, or -1. (ours) */
int zip_addressees_size(const ZIP_ADDRESSEES* addressees);
Zip_process zip_addressee(const ZIP_ADDRESSEES* addressees, int rank);
int zip_addressee_rank(const ZIP_ADDRESSEES* addressees, int node, int pid);
/* Frees the group and sets *addressees to NULL. Mailers keep copies. (ours) */
void zip_free_addressees(ZIP_ADDRESSEES** addressees);
/* The calling process's node, and the number of nodes that began with the job, the host not counted. (ours) */
int zip_my_node(void);
int zip_nodes(void);

/* Starts a program at the empty places of the group, waits until the new processes have begun Zipcode, and puts their
 * nodes into the group. zip_kill() ends the processes of the group that zip_spawn() has started, whichever process has,
 * but not the caller. Both return a nonzero value on failure. For processes that began with the job (`margay run -n 1
 * ./host : -n 4 ./node`) both are null operations (5.1): they check their arguments and return 0. */
int zip_spawn(const char* prog_name, ZIP_ADDRESSEES* addressees);
int zip_kill(ZIP_ADDRESSEES* addressees);

/* --- Mailers (4.4) -------------------------------------------------------------------------------------------------
 */

/* Open a mailer, in all processes of the group at once. The first process of the group is the Postmaster: it passes the
 * group and the shape. The others pass NULL; they get the shape. The call returns when all members have called.
 *
 * A grid's group has as many processes as the grid, row-major with the last coordinate fastest, or one more. Then the
 * Postmaster is outside of the grid: it is no member of the grid and its children, but sends to and receives from the
 * members of the grid, and they reach it by ZIP_POSTMASTER.
 *
 * Return NULL after an error. */
ZIP_MAILER* g1_grid_open(int* P, ZIP_ADDRESSEES* addressees);
ZIP_MAILER* g2_grid_open(int* P, int* Q, ZIP_ADDRESSEES* addressees);
ZIP_MAILER* g3_grid_open(int* P, int* Q, int* R, ZIP_ADDRESSEES* addressees);
ZIP_MAILER* y_open(ZIP_ADDRESSEES* addressees); /* ours, like the next two */
ZIP_MAILER* z_open(ZIP_ADDRESSEES* addressees);
ZIP_MAILER* l_open(ZIP_ADDRESSEES* addressees);
/* Closes a mailer and its children, in all processes of the group at once, and sets *mailer to NULL. Letters that were
 * not received are freed; those that the program has received stay valid until zip_free(NULL, letter). Its context_ids
 * are free for other groups. (ours) */
int zip_close(ZIP_MAILER** mailer);

/* The variants with explicit context_ids: the mailer uses `context_id` and the following ones, as many as
 * zip_context_ids() returns. No message is sent, so all members pass the same group, shape and context_id; anything
 * else is erroneous. The ids ZIP_FIRST_EXPLICIT to ZIP_LAST_EXPLICIT are the program's. Groups that have a process in
 * common use different ones. (4.4: "a seldom-used variant"; the names are ours) */
ZIP_MAILER* g1_grid_open_with(int P, ZIP_ADDRESSEES* addressees, int context_id);
ZIP_MAILER* g2_grid_open_with(int P, int Q, ZIP_ADDRESSEES* addressees, int context_id);
ZIP_MAILER* g3_grid_open_with(int P, int Q, int R, ZIP_ADDRESSEES* addressees, int context_id);
ZIP_MAILER* y_open_with(ZIP_ADDRESSEES* addressees, int context_id);
ZIP_MAILER* z_open_with(ZIP_ADDRESSEES* addressees, int context_id);
ZIP_MAILER* l_open_with(ZIP_ADDRESSEES* addressees, int context_id);
#define ZIP_FIRST_EXPLICIT 32768
#define ZIP_LAST_EXPLICIT 65535

/* The classes of mail (4.4.1). zip_register_class() returns further ones. */
enum { ZIP_Y = 1, ZIP_Z = 2, ZIP_L = 3, ZIP_G1 = 4, ZIP_G2 = 5, ZIP_G3 = 6, ZIP_FIRST_CLASS = 7 };
/* The number of context_ids of a mailer of a class with its children: 2, G2: 6, G3: 20. -1 for an unknown class.
 * (ours) */
int zip_context_ids(int mail_class);

/* Children. The planes of a G3 mailer are G2 mailers: PQ of the processes with the caller's r, QR of those with its p,
 * PR of those with its q. The row of a G2 mailer is the G1 mailer of the processes with the caller's p, indexed by q;
 * the column that of those with its q, indexed by p. They belong to the parent, which closes them. NULL after an error:
 * another class, or a Postmaster outside of the grid. */
ZIP_MAILER* g3_PQ_plane(ZIP_MAILER* mailer);
ZIP_MAILER* g3_QR_plane(ZIP_MAILER* mailer);
ZIP_MAILER* g3_PR_plane(ZIP_MAILER* mailer);
ZIP_MAILER* g2_row(ZIP_MAILER* mailer);
ZIP_MAILER* g2_col(ZIP_MAILER* mailer);
#define PQ_plane(mailer) g3_PQ_plane(mailer)
#define QR_plane(mailer) g3_QR_plane(mailer)
#define PR_plane(mailer) g3_PR_plane(mailer)

/* The shape of a grid, and the caller's place in it. Macros that assign to their arguments, as in the paper. A
 * Postmaster outside of the grid has the place ZIP_POSTMASTER. */
#define g1_P(mailer, P) ((P) = zip_shape((mailer), ZIP_G1, 0))
#define g2_PQ(mailer, P, Q) ((P) = zip_shape((mailer), ZIP_G2, 0), (Q) = zip_shape((mailer), ZIP_G2, 1))
#define g3_PQR(mailer, P, Q, R) \
  ((P) = zip_shape((mailer), ZIP_G3, 0), (Q) = zip_shape((mailer), ZIP_G3, 1), (R) = zip_shape((mailer), ZIP_G3, 2))
#define g1_p(mailer, p) ((p) = zip_place((mailer), ZIP_G1, 0))
#define g2_pq(mailer, p, q) ((p) = zip_place((mailer), ZIP_G2, 0), (q) = zip_place((mailer), ZIP_G2, 1))
#define g3_pqr(mailer, p, q, r) \
  ((p) = zip_place((mailer), ZIP_G3, 0), (q) = zip_place((mailer), ZIP_G3, 1), (r) = zip_place((mailer), ZIP_G3, 2))
/* The functions behind them: extent and place in dimension 0, 1 or 2 of a mailer of this class. (ours) */
int zip_shape(ZIP_MAILER* mailer, int mail_class, int dimension);
int zip_place(ZIP_MAILER* mailer, int mail_class, int dimension);
/* The number of members, a Postmaster outside of the grid not counted; the caller's rank among them, which for such a
 * Postmaster is ZIP_POSTMASTER; the class; a copy of the group, which the caller frees; the first context_id, for
 * examples and tests. (ours) */
int zip_size(ZIP_MAILER* mailer);
int zip_rank(ZIP_MAILER* mailer);
int zip_class(ZIP_MAILER* mailer);
ZIP_ADDRESSEES* zip_addressees(ZIP_MAILER* mailer);
int zip_context_id(ZIP_MAILER* mailer);

/* Subgrids (4.4.5). The Postmaster of the grid calls g3_subgrid_open(); select_fn returns for each process of the grid
 * the number of its subgrid, at least 0. All other members call g3_grid_open(&P, &Q, &R, NULL), and get a mailer of
 * their subgrid. The processes of a subgrid form a rectangle. Returns the mailers of all subgrids, in the order of
 * their numbers, in an array that the caller frees by free(); *nsubgrids is their number. A Postmaster that is in the
 * grid is a member of the subgrid that select_fn returns for it, and outside of the others. After an error of the
 * arguments no mailer is opened, and the call returns NULL. A subgrid that cannot be opened, because its processes have
 * too few context_ids left, is an error at its members and the Postmaster; its element of the array is NULL. */
ZIP_MAILER** g1_subgrid_open(ZIP_MAILER* mailer, int (*select_fn)(int p, void* extra), void* extra, int* nsubgrids);
ZIP_MAILER** g2_subgrid_open(ZIP_MAILER* mailer, int (*select_fn)(int p, int q, void* extra), void* extra,
                             int* nsubgrids);
ZIP_MAILER** g3_subgrid_open(ZIP_MAILER* mailer, int (*select_fn)(int p, int q, int r, void* extra), void* extra,
                             int* nsubgrids);

/* --- Letters (4.4.2) -----------------------------------------------------------------------------------------------
 */

/* Makes a letter for a mailer: `length` bytes, aligned for any type. Returns NULL after an error. */
char* zip_malloc(ZIP_MAILER* mailer, int length);
char* y_new_letter(ZIP_MAILER* mailer, int length);
char* l_new_letter(ZIP_MAILER* mailer, int length);
char* z_new_letter(ZIP_MAILER* mailer, int length);
char* g1_new_letter(ZIP_MAILER* mailer, int length);
char* g2_new_letter(ZIP_MAILER* mailer, int length);
char* g3_new_letter(ZIP_MAILER* mailer, int length);
/* Free a letter that was made or received. The send has taken a letter that was sent. zip_free(NULL, letter) frees a
 * letter of any mailer, also of one that is closed. */
void zip_free(ZIP_MAILER* mailer, char* letter);
void y_free_letter(ZIP_MAILER* mailer, char* letter);
void l_free_letter(ZIP_MAILER* mailer, char* letter);
void z_free_letter(ZIP_MAILER* mailer, char* letter);
void g1_free_letter(ZIP_MAILER* mailer, char* letter);
void g2_free_letter(ZIP_MAILER* mailer, char* letter);
void g3_free_letter(ZIP_MAILER* mailer, char* letter);
/* The bytes of a letter; -1 after an error. */
int zip_length(ZIP_MAILER* mailer, char* letter);

/* A letter's envelope (figure 1), for examples: the fields in their order. (ours) */
typedef struct Zip_envelope {
  unsigned short zipcode;      /* the context_id */
  unsigned short mail_class;   /* determines length and meaning of the PO Box */
  unsigned short stamp;        /* the aligned length of the envelope */
  const unsigned char* po_box; /* box_bytes bytes of the class */
  int box_bytes;
  int padding_bytes;              /* up to the return postage */
  unsigned short return_postage;  /* equals the stamp; right in front of the body */
  const unsigned char* beginning; /* of the envelope; the body begins `stamp` bytes later */
} Zip_envelope;
int zip_envelope(ZIP_MAILER* mailer, char* letter, Zip_envelope* out);

/* --- Point-to-point (4.4.3) ----------------------------------------------------------------------------------------
 */

/* Sends are asynchronous: they never wait, and take the letter. */
void y_send(ZIP_MAILER* mailer, char* letter, int node, int pid, int tag);
void l_send(ZIP_MAILER* mailer, char* letter, int node, int pid, long tag);
void z_send(ZIP_MAILER* mailer, char* letter, int rank);
void g1_send(ZIP_MAILER* mailer, char* letter, int p);
void g2_send(ZIP_MAILER* mailer, char* letter, int p, int q);
void g3_send(ZIP_MAILER* mailer, char* letter, int p, int q, int r);
/* Receives yield the earliest letter of the given process, or tag. ..._recv is unblocked: it returns NULL if there is
 * none yet. ..._recvb waits; it returns NULL only after an error, such as the death of the sender. Y selects by a tag
 * of 16 bits, 0 to 32767; L by process and a tag of 32 bits. Both accept ZIP_ANY; node and pid are given together. */
char* y_recv(ZIP_MAILER* mailer, int tag);
char* y_recvb(ZIP_MAILER* mailer, int tag);
char* l_recv(ZIP_MAILER* mailer, int node, int pid, long tag);
char* l_recvb(ZIP_MAILER* mailer, int node, int pid, long tag);
char* z_recv(ZIP_MAILER* mailer, int rank);
char* z_recvb(ZIP_MAILER* mailer, int rank);
char* g1_recv(ZIP_MAILER* mailer, int p);
char* g1_recvb(ZIP_MAILER* mailer, int p);
char* g2_recv(ZIP_MAILER* mailer, int p, int q);
char* g2_recvb(ZIP_MAILER* mailer, int p, int q);
char* g3_recv(ZIP_MAILER* mailer, int p, int q, int r);
char* g3_recvb(ZIP_MAILER* mailer, int p, int q, int r);
/* The sender and the tag of a letter of class L that was received. (ours) */
int l_sender(ZIP_MAILER* mailer, char* letter, int* node, int* pid, long* tag);

/* --- Collective operations (4.4.4) ---------------------------------------------------------------------------------
 */

/* Called by all members of a mailer (not by a Postmaster outside of the grid), in one order. They return 0. Y has none.
 *
 *   combine      the combination of all buffers, in all of them
 *   fanout       the data of the origin, at all. Only the origin passes data and length. Others pass *data == NULL and
 *                get memory that they free by free(); or memory of *length bytes, which must suffice.
 *   fanout_exec  the same; the method runs on the data at each process, before they are passed on; with a cached
 *                fan-out (zip_cache_method) it runs at each process when the fan-out is over
 *   fanin        the combination of all buffers, at the destination; other buffers are undefined afterwards
 *   prefix       in each buffer the combination of the buffers of ranks 0 to its own
 *   sync         returns when all have called
 *
 * The methods are associative and commutative functions of kind ZIP_METHOD_COMBINE, over `items` items of `size` bytes;
 * of kind ZIP_METHOD_EXECUTE for fanout_exec. */
int z_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int l_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int g1_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int g2_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int g3_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int z_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig);
int l_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_node, int orig_pid);
int g1_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p);
int g2_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p, int orig_q);
int g3_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig_p, int orig_q, int orig_r);
int z_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig);
int l_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_node, int orig_pid);
int g1_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p);
int g2_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p, int orig_q);
int g3_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig_p, int orig_q, int orig_r);
int z_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* comb_method, int size, int items);
int l_fanin(ZIP_MAILER* mailer, int dest_node, int dest_pid, void* buffer, Method* comb_method, int size, int items);
int g1_fanin(ZIP_MAILER* mailer, int dest_p, void* buffer, Method* comb_method, int size, int items);
int g2_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, void* buffer, Method* comb_method, int size, int items);
int g3_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, int dest_r, void* buffer, Method* comb_method, int size,
             int items);
int zip_prefix(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int zip_sync(ZIP_MAILER* mailer);
#define z_prefix zip_prefix
#define l_prefix zip_prefix
#define g1_prefix zip_prefix
#define g2_prefix zip_prefix
#define g3_prefix zip_prefix
#define z_sync zip_sync
#define l_sync zip_sync
#define g1_sync zip_sync
#define g2_sync zip_sync
#define g3_sync zip_sync

/* Shorthands on the children (4.4.4). */
#define g2_row_combine(m, buffer, method, size, items) g1_combine(g2_row(m), (buffer), (method), (size), (items))
#define g2_col_combine(m, buffer, method, size, items) g1_combine(g2_col(m), (buffer), (method), (size), (items))
#define g2_row_fanout(m, data, length, orig_q) g1_fanout(g2_row(m), (data), (length), (orig_q))
#define g2_col_fanout(m, data, length, orig_p) g1_fanout(g2_col(m), (data), (length), (orig_p))
#define g2_row_fanin(m, dest_q, buffer, method, size, items) \
  g1_fanin(g2_row(m), (dest_q), (buffer), (method), (size), (items))
#define g2_col_fanin(m, dest_p, buffer, method, size, items) \
  g1_fanin(g2_col(m), (dest_p), (buffer), (method), (size), (items))
#define g3_PQ_combine(m, buffer, method, size, items) g2_combine(g3_PQ_plane(m), (buffer), (method), (size), (items))
#define g3_QR_combine(m, buffer, method, size, items) g2_combine(g3_QR_plane(m), (buffer), (method), (size), (items))
#define g3_PR_combine(m, buffer, method, size, items) g2_combine(g3_PR_plane(m), (buffer), (method), (size), (items))
#define g3_PQ_fanout(m, data, length, orig_p, orig_q) g2_fanout(g3_PQ_plane(m), (data), (length), (orig_p), (orig_q))
#define g3_QR_fanout(m, data, length, orig_q, orig_r) g2_fanout(g3_QR_plane(m), (data), (length), (orig_q), (orig_r))
#define g3_PR_fanout(m, data, length, orig_p, orig_r) g2_fanout(g3_PR_plane(m), (data), (length), (orig_p), (orig_r))
#define g3_PQ_fanin(m, dest_p, dest_q, buffer, method, size, items) \
  g2_fanin(g3_PQ_plane(m), (dest_p), (dest_q), (buffer), (method), (size), (items))
#define g3_QR_fanin(m, dest_q, dest_r, buffer, method, size, items) \
  g2_fanin(g3_QR_plane(m), (dest_q), (dest_r), (buffer), (method), (size), (items))
#define g3_PR_fanin(m, dest_p, dest_r, buffer, method, size, items) \
  g2_fanin(g3_PR_plane(m), (dest_p), (dest_r), (buffer), (method), (size), (items))

/* --- Classes of the program (3, 4.4.1) -----------------------------------------------------------------------------
 */

/* A class defines names of processes: `names` ints that a send or receive has, such as a direction in a ring. The two
 * functions resolve a name at a member of rank `rank` in a group of `size` processes. They return the rank of the other
 * process, or -1 for an invalid name, and write the PO Box, `box_bytes` bytes, 0 to 32. A letter is received where the
 * sender's and the receiver's PO Boxes are equal. (ours; the paper's users change Zipcode and recompile it) */
typedef int Zip_resolve(int rank, int size, const int* name, void* po_box, void* extra);
typedef struct Zip_mail_class {
  const char* title; /* for messages: "ring" */
  int names;         /* 1 to 8 */
  int box_bytes;
  Zip_resolve* send;
  Zip_resolve* receive;
  void* extra;
} Zip_mail_class;
/* Registers a class, for this process, and returns its number; -1 after an error. Processes that open a mailer of it
 * have registered the same classes in the same order, before or after Zip_init(). */
int zip_register_class(const Zip_mail_class* mail_class);
/* As z_open() and z_open_with(), for a class of the program; as z_send() ..., with a name of the class. */
ZIP_MAILER* zip_open(int mail_class, ZIP_ADDRESSEES* addressees);
ZIP_MAILER* zip_open_with(int mail_class, ZIP_ADDRESSEES* addressees, int context_id);
void zip_send(ZIP_MAILER* mailer, char* letter, const int* name);
char* zip_recv(ZIP_MAILER* mailer, const int* name);
char* zip_recvb(ZIP_MAILER* mailer, const int* name);
/* Collective operations by rank, for every class except Y. */
int zip_combine(ZIP_MAILER* mailer, void* buffer, Method* comb_method, int size, int items);
int zip_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig);
int zip_fanout_exec(ZIP_MAILER* mailer, void** data, int* length, Method* method, int orig);
int zip_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* comb_method, int size, int items);

/* --- Method caching (4.4.6) ----------------------------------------------------------------------------------------
 */

/* The operations of a mailer that can be replaced, and the types of the replacements. `state` is the method's. A
 * replacement returns what the operation returns; collective ones are cached by all members. `rank` is the number of
 * the other process in the mailer. */
typedef int Zip_combine_operation(ZIP_MAILER* mailer, void* buffer, Method* method, int size, int items, void* state);
typedef int Zip_fanout_operation(ZIP_MAILER* mailer, void** data, int* length, int orig, void* state);
typedef int Zip_fanin_operation(ZIP_MAILER* mailer, int dest, void* buffer, Method* method, int size, int items,
                                void* state);
typedef int Zip_sync_operation(ZIP_MAILER* mailer, void* state);
typedef void Zip_send_operation(ZIP_MAILER* mailer, char* letter, int rank, void* state);
typedef char* Zip_recv_operation(ZIP_MAILER* mailer, int rank, int blocked, void* state);
enum {
  ZIP_OP_COMBINE, /* Zip_combine_operation */
  ZIP_OP_FANOUT,  /* Zip_fanout_operation; also the fan-out of fanout_exec */
  ZIP_OP_FANIN,   /* Zip_fanin_operation */
  ZIP_OP_PREFIX,  /* Zip_combine_operation */
  ZIP_OP_SYNC,    /* Zip_sync_operation */
  ZIP_OP_SEND,    /* Zip_send_operation; classes Z, G1, G2 and G3 */
  ZIP_OP_RECV,    /* Zip_recv_operation; the same classes */
  ZIP_OPERATIONS
};
/* Caches a method of kind ZIP_METHOD_FUNCTION in a mailer, not in its children. `name` is for zip_operation_name().
 * method == NULL restores message passing. The method must live until it is replaced or the mailer is closed. Inside a
 * replacement, the operations of the mailer are those by message passing. */
int zip_cache_method(ZIP_MAILER* mailer, int operation, Method* method, const char* name);
/* The name of the operation's present implementation: "message passing", "shared memory", or that of the program's. */
const char* zip_operation_name(ZIP_MAILER* mailer, int operation);
/* Whether all members are on one node, so that they share memory (figures 5, 6). The same at all members. A Postmaster
 * outside of the grid is not a member; the call returns to it whether they are on its node. */
int zip_on_one_node(ZIP_MAILER* mailer);
/* Caches combine, fan-out, fan-in, prefix and sync by shared memory in a mailer whose members are on one node, which
 * all of them call. Fails for another mailer, with a nonzero value at all members and without an error; class Y is an
 * error. All members pass buffers of the same size and items to these operations; others are an error at all. */
int zip_use_shared_memory(ZIP_MAILER* mailer);

/* --- Attributes (4.4.6, wished; ours) ------------------------------------------------------------------------------
 */

/* Called when an attribute is replaced or deleted, or its mailer closed. */
typedef void Zip_delete_attribute(ZIP_MAILER* mailer, int key, void* value, void* extra);
/* A new key, for all mailers; delete_fn may be NULL. Returns -1 after an error. */
int zip_new_key(Zip_delete_attribute* delete_fn, void* extra);
int zip_set_attribute(ZIP_MAILER* mailer, int key, void* value);
/* Returns 1 and the value, or 0 if the mailer has none. */
int zip_attribute(ZIP_MAILER* mailer, int key, void** value);
int zip_delete_attribute(ZIP_MAILER* mailer, int key);

/* --- Errors (ours) -------------------------------------------------------------------------------------------------
 */

/* Called with the message of each error, before the call returns its error value. NULL: the default, which prints the
 * message and ends the job, as MPI's does. Returns the former handler. */
typedef void Zip_error_handler(const char* message);
Zip_error_handler* zip_set_error_handler(Zip_error_handler* handler);

/* The paper spells several names in two ways; both are accepted. */
#define zip_init Zip_init
#define zip_global_init Zip_global_init
#define zip_nohost_init Zip_nohost_init
#define zip_nohost_global_init Zip_nohost_global_init
#define Zip_exit zip_exit
#define Zip_spawn zip_spawn
#define Zip_kill zip_kill
#define Zip_length zip_length
#define Zip_malloc zip_malloc
#define Zip_free zip_free

#ifdef __cplusplus
}
#endif

#endif
