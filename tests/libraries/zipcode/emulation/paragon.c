/* A program as it was written for the Paragon: pi by the midpoint rule, and a ring. Only its include line is changed.
 */
#include <margay/zipcode_nx.h>
#include <stdio.h>

#define RING 100
#define INTERVALS 10000

double f(x)
double x;
{ return 4.0 / (1.0 + x * x); }

int main(argc, argv)
int argc;
char** argv;
{
  long me = mynode(), nodes = numnodes(), i, token, left;
  double sum = 0.0, work, start = dclock();
  (void)argc;
  (void)argv;
  for (i = me; i < INTERVALS; i += nodes) sum += f((i + 0.5) / INTERVALS);
  sum /= INTERVALS;
  gdsum(&sum, 1, &work);
  left = (me + nodes - 1) % nodes;
  if (me == 0) {
    token = 1;
    csend(RING, (char*)&token, sizeof(token), (me + 1) % nodes, mypid());
    crecv(RING, (char*)&token, sizeof(token));
    if (infonode() != left || infocount() != sizeof(token) || infotype() != RING || infopid() != 0) token = -1;
    if (dclock() < start) token = -2;
    printf("pi %.6f, token %ld of %ld\n", sum, token, nodes);
  } else {
    crecv(RING, (char*)&token, sizeof(token));
    ++token;
    csend(RING, (char*)&token, sizeof(token), (me + 1) % nodes, mypid());
  }
  gsync();
  return 0;
}
