// Reads doubles in hexadecimal, one per line, and writes e^x and log |x| of each.
#include <cstdio>

#include "../../cpp/memories/arithmetic/exponential.hpp"

int main() {
  double x = 0;
  while (std::scanf("%la", &x) == 1)
    std::printf("%a %a\n", hinge::exponential_anywhere(x), x == 0 ? 0.0 : hinge::logarithm(std::fabs(x)));
}
