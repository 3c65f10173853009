/* A program that leaks one object of each kind, or ("clean") frees all of them. Two ranks. With "late" an info object
   and error handlers are created before MPI begins and freed after its end, with "lost" they are not freed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static int refuse(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm;
  (void)key;
  (void)extra;
  (void)in;
  (void)out;
  *flag = 0;
  return MPI_ERR_OTHER;
}

/* Objects that a call creates for itself, or creates before it fails, it frees: none of them is a leak of the program.
 */
static void by_the_way(int rank) {
  MPI_Comm with_attribute, none, inter;
  MPI_Group world, mine, theirs;
  int key, other = 1 - rank;
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &with_attribute);
  MPI_Comm_set_errhandler(with_attribute, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(with_attribute, key, NULL);
  if (MPI_Comm_dup(with_attribute, &none) == MPI_SUCCESS || none != MPI_COMM_NULL) printf("a dup that must fail\n");
  MPI_Comm_free(&with_attribute);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &rank, &mine);
  MPI_Group_incl(world, 1, &other, &theirs);
  MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "leaks", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
  MPI_Comm_free(&inter);
  MPI_Group_free(&world);
  MPI_Group_free(&mine);
  MPI_Group_free(&theirs);
}

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static void handle_session(MPI_Session* session, int* code, ...) {
  (void)session;
  (void)code;
}

static int around(int* argc, char*** argv, int lost) {
  MPI_Info info;
  MPI_Errhandler of_sessions, of_communicators;
  MPI_Session session;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Session_create_errhandler(handle_session, &of_sessions);
  MPI_Session_init(info, of_sessions, &session);
  MPI_Session_finalize(&session);
  MPI_Init(argc, argv);
  MPI_Comm_create_errhandler(handle, &of_communicators);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_communicators);
  MPI_Finalize();
  if (lost) return 0;
  MPI_Info_free(&info);
  MPI_Errhandler_free(&of_sessions);
  MPI_Errhandler_free(&of_communicators);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == 'l') return around(&argc, &argv, argv[1][1] == 'o');
  const int clean = argc > 1 && strcmp(argv[1], "clean") == 0;
  int numbers[4] = {1, 2, 3, 4};
  int more[4];
  int unwanted[4];
  MPI_Comm copy;
  MPI_Win window;
  MPI_Datatype vector;
  MPI_Datatype freed;
  MPI_Group group;
  MPI_Op op;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request send, gone;
  MPI_Request receive;
  MPI_Request kept;
  int key;
  int rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "library");
  MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, copy, &window);
  MPI_Win_set_name(window, "numbers");
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_set_name(vector, "every other");
  MPI_Type_commit(&vector);
  MPI_Type_contiguous(3, MPI_INT, &freed);
  MPI_Type_free(&freed);
  MPI_Comm_group(copy, &group);
  MPI_Op_create(sum, 1, &op);
  MPI_Info_create(&info);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  /* These objects are freed first, so that the leaked ones are not the first of their kind. */
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(more, 4, MPI_INT, rank, 1, MPI_COMM_WORLD, &receive);
    MPI_Isend(numbers, 4, MPI_INT, rank, 1, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(more, 4, MPI_INT, rank, 7, MPI_COMM_WORLD, &receive);
  /* The send completes at once, and is received; its handle is leaked nevertheless. */
  MPI_Isend(numbers, 2, MPI_INT, rank, 6, MPI_COMM_WORLD, &gone);
  MPI_Recv(unwanted, 2, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* Both remain unmatched: a matched one might be complete before MPI_Finalize, or not. */
  MPI_Issend(numbers, 3, MPI_INT, rank, 8, MPI_COMM_WORLD, &send);
  MPI_Send_init(numbers, 2, MPI_INT, rank, 9, copy, &kept);
  if (clean) {
    by_the_way(rank);
    MPI_Send(numbers, 4, MPI_INT, rank, 7, MPI_COMM_WORLD);
    MPI_Recv(unwanted, 3, MPI_INT, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&gone, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&kept);
    MPI_Win_free(&window);
    MPI_Comm_free_keyval(&key);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&info);
    MPI_Op_free(&op);
    MPI_Group_free(&group);
    MPI_Type_free(&vector);
    MPI_Comm_free(&copy);
  }
  MPI_Finalize();
  return 0;
}
