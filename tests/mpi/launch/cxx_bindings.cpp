// A test of MPI's C++ functions, which MPI-3 removed and MPICH's libmpichcxx.so.12 still has: that library works on
// margay's.
#include <mpi.h>

#include <complex>
#include <iostream>

static void add_twice(const void* in, void* inout, int count, const MPI::Datatype& type) {
  if (type != MPI::INT) return;
  for (int i = 0; i < count; ++i) static_cast<int*>(inout)[i] += 2 * static_cast<const int*>(in)[i];
}

static int seen;
static void handle(MPI::Comm& comm, int* code, ...) {
  seen = 100 * comm.Get_size() + MPI::Get_error_class(*code);
}

static int copy_attribute(const MPI::Comm& comm, int, void* state, void* value, void* copy, bool& flag) {
  *static_cast<void**>(copy) = static_cast<char*>(value) + comm.Get_size();
  flag = state == &seen;
  return MPI::SUCCESS;
}
static int delete_attribute(MPI::Comm& comm, int, void*, void* state) {
  if (state == &seen) seen += comm.Get_size();
  return MPI::SUCCESS;
}

// Functions in C++ that the library calls.
static void own_functions() {
  const int mine = MPI::COMM_WORLD.Get_rank() + 1;
  int sum = 0;
  MPI::Op operation;
  operation.Init(add_twice, false);
  MPI::COMM_WORLD.Allreduce(&mine, &sum, 1, MPI::INT, operation);
  operation.Free();
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(handle);
  MPI::COMM_WORLD.Set_errhandler(handler);
  MPI::COMM_WORLD.Send(&mine, 1, MPI::INT, 99, 0);
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  handler.Free();
  const int handled = seen;
  int key = MPI::Comm::Create_keyval(copy_attribute, delete_attribute, &seen);
  char place[16];
  void* copied = nullptr;
  MPI::Intracomm first = MPI::COMM_WORLD.Dup();
  first.Set_attr(key, place);
  MPI::Intracomm second = first.Dup();
  const bool is_there = second.Get_attr(key, &copied);
  seen = 0;
  first.Free();
  second.Free();
  MPI::Comm::Free_keyval(key);
  if (MPI::COMM_WORLD.Get_rank() == 0) {
    std::cout << "sum " << sum << ", handled " << handled << ", copied " << is_there << " "
              << static_cast<char*>(copied) - place << ", deleted " << seen << std::endl;
  }
}

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank();
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  try {
    MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, 99, 0);
  } catch (MPI::Exception& exception) {
    if (rank == 0) std::cout << "exception of class " << exception.Get_error_class() << std::endl;
  }
  const std::complex<double> mine(rank + 1, 1);
  std::complex<double> product;
  MPI::COMM_WORLD.Allreduce(&mine, &product, 1, MPI::DOUBLE_COMPLEX, MPI::PROD);
  if (rank == 0) std::cout << "product " << product << std::endl;
  own_functions();
  MPI::Finalize();
  return 0;
}
