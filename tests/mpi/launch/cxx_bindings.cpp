// MPI's C++ functions, which MPI-3 took out and MPICH's libmpichcxx.so.12 still has: it works on margay's library.
#include <mpi.h>

#include <complex>
#include <iostream>

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
  MPI::Finalize();
  return 0;
}
