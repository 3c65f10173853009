// The C part of sentinels.F90: the arguments that Fortran's MPI_Comm_spawn passes to C. No program is started: these
// functions replace those of the library, as a profiling tool's would.
#include <mpi.h>
#include <stddef.h>

// The arguments of the last call.
static struct { int argv_null, codes_null; } spawned;

void c_spawned_(MPI_Fint* argv_null, MPI_Fint* codes_null);
void c_spawned_(MPI_Fint* argv_null, MPI_Fint* codes_null) {
  *argv_null = spawned.argv_null;
  *codes_null = spawned.codes_null;
}

static int note(const void* argv, const void* absent, MPI_Comm* intercomm, const int* codes) {
  spawned.argv_null = argv == absent;
  spawned.codes_null = codes == MPI_ERRCODES_IGNORE;
  *intercomm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm* intercomm, int codes[]) {
  (void)command, (void)maxprocs, (void)info, (void)root, (void)comm;
  return note(argv, MPI_ARGV_NULL, intercomm, codes);
}
int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm* intercomm, int codes[]) {
  return MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, codes);
}
int MPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[], const int maxprocs[], const MPI_Info infos[],
                            int root, MPI_Comm comm, MPI_Comm* intercomm, int codes[]) {
  (void)count, (void)commands, (void)maxprocs, (void)infos, (void)root, (void)comm;
  return note(argvs, MPI_ARGVS_NULL, intercomm, codes);
}
int PMPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[], const int maxprocs[], const MPI_Info infos[],
                             int root, MPI_Comm comm, MPI_Comm* intercomm, int codes[]) {
  return MPI_Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes);
}
