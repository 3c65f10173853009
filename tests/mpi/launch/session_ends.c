// A process with only a session, which ends as its argument states.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// Sessions beside the world model, which ends first ("types_first") or last ("types_last"; in "types_again" another
// session follows), or a session that never ends ("types_open").
static int leave_others(MPI_Session* session, const char* way) {
  MPI_Datatype type;
  MPI_Info info;
  MPI_Init(NULL, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Info_create(&info);
  if (strcmp(way, "types_last") == 0 || strcmp(way, "types_again") == 0) MPI_Session_finalize(session);
  MPI_Finalize();
  if (strcmp(way, "types_again") == 0) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    MPI_Session_finalize(session);
  }
  if (strcmp(way, "types_first") == 0) MPI_Session_finalize(session);
  return 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "session_ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Barrier(comm);
  if (strncmp(way, "types", 5) == 0) return leave_others(&session, way);
  if (strcmp(way, "left") == 0) return 0;
  if (strcmp(way, "leaks") == 0) {
    MPI_Session_finalize(&session);
    return 0;
  }
  if (strcmp(way, "world") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "set") == 0) MPI_Group_from_session_pset(session, "mpi://NOBODY", &group);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  if (strcmp(way, "again") == 0) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    return 0;
  }
  if (strcmp(way, "late") == 0) MPI_Comm_free(&comm);
  if (strcmp(way, "status") == 0) return 5;
  if (way[0] != '\0') printf("returned\n");
  return 0;
}
