// Tests of packing: units packed one by one, sent as MPI_PACKED and unpacked, or received with their types; and
// external32, byte by byte.
// ranks: 2
#include <stddef.h>

#include "check.h"

enum { kTag = 6, kRoom = 4096 };

static unsigned char room[kRoom];

static void units(int partner) {
  int number = 17, position = 0, bytes = 0, part = 0;
  double values[20], got[20];
  MPI_Datatype odd;
  MPI_Type_vector(5, 1, 2, MPI_DOUBLE, &odd);
  MPI_Type_commit(&odd);
  for (int i = 0; i < 20; ++i) values[i] = i * 1.5;
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &part), bytes += part;
  MPI_Pack_size(2, odd, MPI_COMM_WORLD, &part), bytes += part;
  MPI_Pack_size(3, MPI_CHAR, MPI_COMM_WORLD, &part), bytes += part;
  CHECK(bytes >= 4 + 80 + 3, "%d bytes for all", bytes);
  if (world_rank() < partner) {
    MPI_Pack(&number, 1, MPI_INT, room, kRoom, &position, MPI_COMM_WORLD);
    MPI_Pack(values, 2, odd, room, kRoom, &position, MPI_COMM_WORLD);
    MPI_Pack("abc", 3, MPI_CHAR, room, kRoom, &position, MPI_COMM_WORLD);
    CHECK(position <= bytes, "packed %d of %d", position, bytes);
    MPI_Send(room, position, MPI_PACKED, partner, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Status status;
    char text[4] = "";
    number = 0;
    for (int i = 0; i < 20; ++i) got[i] = -1;
    MPI_Recv(room, kRoom, MPI_PACKED, partner, kTag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &part);
    MPI_Unpack(room, part, &position, &number, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(room, part, &position, got, 2, odd, MPI_COMM_WORLD);
    MPI_Unpack(room, part, &position, text, 3, MPI_CHAR, MPI_COMM_WORLD);
    CHECK(position == part, "unpacked %d of %d", position, part);
    CHECK(number == 17 && strcmp(text, "abc") == 0, "%d and %s", number, text);
    // Elements of 9 doubles: 0 2 4 6 8, then 9 11 13 15 17.
    for (int i = 0; i < 18; ++i) {
      const int sent = i < 9 ? i % 2 == 0 : i % 2 == 1;
      CHECK(got[i] == (sent ? values[i] : -1), "double %d is %g", i, got[i]);
    }
  }
  MPI_Type_free(&odd);
}

static void dump(const char* what, const unsigned char* bytes, MPI_Aint count) {
  if (world_rank() != 0) return;
  printf("%s:", what);
  for (MPI_Aint i = 0; i < count; ++i) printf(" %02x", bytes[i]);
  printf("\n");
}

static void external(void) {
  struct Mixed {
    short a;
    double b;
    int c[3];
  } mixed = {-2, 1.0 / 3, {1, 256, -65536}}, back;
  const int lengths[3] = {1, 1, 3};
  const MPI_Aint at[3] = {offsetof(struct Mixed, a), offsetof(struct Mixed, b), offsetof(struct Mixed, c)};
  const MPI_Datatype parts[3] = {MPI_SHORT, MPI_DOUBLE, MPI_INT};
  MPI_Datatype type;
  MPI_Aint size = 0, position = 0;
  MPI_Type_create_struct(3, lengths, at, parts, &type);
  MPI_Type_commit(&type);
  // MPICH 4.0.2 fails internally if the type is not predefined.
  if (on_margay()) {
    MPI_Pack_external_size("external32", 2, type, &size);
    CHECK(size == 44, "two take %ld bytes", (long)size);
    MPI_Pack_external("external32", &mixed, 1, type, room, kRoom, &position);
  } else {
    MPI_Pack_external("external32", &mixed.a, 1, MPI_SHORT, room, kRoom, &position);
    MPI_Pack_external("external32", &mixed.b, 1, MPI_DOUBLE, room, kRoom, &position);
    MPI_Pack_external("external32", mixed.c, 3, MPI_INT, room, kRoom, &position);
  }
  const float real = -1.25F;
  const long long_one = 77;
  const long long long_long = -5;
  MPI_Pack_external("external32", &real, 1, MPI_FLOAT, room, kRoom, &position);
  MPI_Pack_external("external32", &long_one, 1, MPI_LONG, room, kRoom, &position);
  MPI_Pack_external("external32", &long_long, 1, MPI_LONG_LONG, room, kRoom, &position);
  dump("external32", room, position);
  float real_back = 0;
  long long_back = 0;
  position = 0;
  memset(&back, 0, sizeof back);
  if (on_margay()) {
    MPI_Unpack_external("external32", room, kRoom, &position, &back, 1, type);
  } else {
    MPI_Unpack_external("external32", room, kRoom, &position, &back.a, 1, MPI_SHORT);
    MPI_Unpack_external("external32", room, kRoom, &position, &back.b, 1, MPI_DOUBLE);
    MPI_Unpack_external("external32", room, kRoom, &position, back.c, 3, MPI_INT);
  }
  MPI_Unpack_external("external32", room, kRoom, &position, &real_back, 1, MPI_FLOAT);
  MPI_Unpack_external("external32", room, kRoom, &position, &long_back, 1, MPI_LONG);
  CHECK(back.a == mixed.a && back.b == mixed.b && memcmp(back.c, mixed.c, sizeof back.c) == 0, "the struct came back");
  CHECK(real_back == real && long_back == long_one, "%g and %ld", real_back, long_back);
  CHECK(position == 30, "read %ld bytes", (long)position);
  MPI_Type_free(&type);
}

static void refused(void) {
  int position = 0, number = 1;
  MPI_Aint place = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Pack(&number, -1, MPI_INT, room, 3, &position, MPI_COMM_WORLD)) == MPI_ERR_COUNT, "-1 elements");
  // MPICH packs the elements that fit, and fails internally in the unpack.
  if (on_margay()) {
    CHECK(class_of(MPI_Pack(&number, 1, MPI_INT, room, 3, &position, MPI_COMM_WORLD)) == MPI_ERR_ARG,
          "packed 4 into 3");
    CHECK(class_of(MPI_Unpack(room, 3, &position, &number, 1, MPI_INT, MPI_COMM_WORLD)) == MPI_ERR_ARG, "4 of 3");
    CHECK(position == 0 && number == 1, "a refused call moved on");
    CHECK(class_of(MPI_Pack_external("native", &number, 1, MPI_INT, room, 3, &place)) == MPI_ERR_ARG, "native");
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  units(partner_of(world_rank()));
  external();
  refused();
  return suite_end("datatypes_pack");
}
