// The limits of a full covariance: AROW's update (S -= b g g', g = S x) on one half of the symmetric matrix, row after
// row of the upper triangle. No checks, no statistics. Each function goes through the rows of x and does nothing else.
//
// half_once    reads and writes the half once: what the memory allows.
// two_passes   the product, then the downdate: the half is read twice and written once. What one would write down.
// one_pass     the downdate of the round before while the product is made: the half is read and written once.

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

namespace {

typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));

Quad& quad(double* at) { return *reinterpret_cast<Quad*>(at); }
const Quad& quad(const double* at) { return *reinterpret_cast<const Quad*>(at); }
double total(const Quad& q) { return (q[0] + q[1]) + (q[2] + q[3]); }

double dot(const double* a, const double* b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

extern "C" {

WIDE void half_once(int64_t rows, int64_t n, double factor, double* half) {
    const int64_t size = n * (n + 1) / 2;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < size; ++i) half[i] *= factor;
}

WIDE void two_passes(int64_t rows, int64_t n, const double* x, const double* y, double r, double* half, double* w,
                     double* g) {
    for (int64_t t = 0; t < rows; ++t, x += n) {
        for (int64_t i = 0; i < n; ++i) g[i] = 0;
        const double* s = half;
        for (int64_t i = 0; i < n; s += n - i, ++i) {  // s[j] is S[i][i + j]
            const double* xi = x + i;
            double* gi = g + i;
            Quad sums = {};
            int64_t j = 1;
            for (; j + 4 <= n - i; j += 4) {
                const Quad value = quad(s + j);
                sums += value * quad(xi + j);
                quad(gi + j) += value * xi[0];
            }
            double sum = s[0] * xi[0] + total(sums);
            for (; j < n - i; ++j) {
                sum += s[j] * xi[j];
                gi[j] += s[j] * xi[0];
            }
            gi[0] += sum;
        }
        const double loss = 1 - y[t] * dot(w, x, n), b = 1 / (dot(g, x, n) + r);
        if (loss <= 0) continue;
        for (int64_t i = 0; i < n; ++i) w[i] += loss * b * y[t] * g[i];
        double* v = half;
        for (int64_t i = 0; i < n; v += n - i, ++i) {
            const double factor = b * g[i];
            for (int64_t j = 0; j < n - i; ++j) v[j] -= factor * g[i + j];
        }
    }
}

// Four rows of the triangle at a time, so that a part of x, g and the vector before is fetched once for all four.
// `work` has room for 2 n: the product of this round and that of the round before.
WIDE void one_pass(int64_t rows, int64_t n, const double* x, const double* y, double r, double* half, double* w,
                   double* work) {
    double *g = work, *before = work + n, b = 0;
    for (int64_t i = 0; i < n; ++i) before[i] = 0;
    for (int64_t t = 0; t < rows; ++t, x += n) {
        for (int64_t i = 0; i < n; ++i) g[i] = 0;
        double* s = half;  // s[i] is S[row][i], from the diagonal on
        const auto at = [&](int64_t row, int64_t i) {
            s[i] -= b * before[row] * before[i];
            g[row] += s[i] * x[i];
            if (i != row) g[i] += s[i] * x[row];
        };
        int64_t row = 0;
        for (; row + 4 <= n; row += 4) {
            double* line[4];
            for (int k = 0; k < 4; ++k) {
                line[k] = s;
                for (int64_t i = row + k; i < row + 4; ++i) at(row + k, i);
                s += n - row - k - 1;
            }
            Quad sum0 = {}, sum1 = {}, sum2 = {}, sum3 = {};
            double *s0 = line[0], *s1 = line[1], *s2 = line[2], *s3 = line[3];
            const double f0 = b * before[row], f1 = b * before[row + 1], f2 = b * before[row + 2], f3 = b * before[row + 3];
            const double x0 = x[row], x1 = x[row + 1], x2 = x[row + 2], x3 = x[row + 3];
            int64_t i = row + 4;
            for (; i + 4 <= n; i += 4) {
                const Quad old = quad(before + i), here = quad(x + i);
                const Quad a0 = quad(s0 + i) -= f0 * old, a1 = quad(s1 + i) -= f1 * old;
                const Quad a2 = quad(s2 + i) -= f2 * old, a3 = quad(s3 + i) -= f3 * old;
                sum0 += a0 * here;
                sum1 += a1 * here;
                sum2 += a2 * here;
                sum3 += a3 * here;
                quad(g + i) += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3);
            }
            g[row] += total(sum0);
            g[row + 1] += total(sum1);
            g[row + 2] += total(sum2);
            g[row + 3] += total(sum3);
            double* const after = s;
            for (int k = 0; k < 4; ++k) {
                s = line[k];
                for (int64_t j = i; j < n; ++j) at(row + k, j);
            }
            s = after;
        }
        for (; row < n; s += n - row - 1, ++row)
            for (int64_t i = row; i < n; ++i) at(row, i);
        const double loss = 1 - y[t] * dot(w, x, n), next = 1 / (dot(g, x, n) + r);
        b = loss > 0 ? next : 0;
        if (loss > 0)
            for (int64_t i = 0; i < n; ++i) w[i] += loss * b * y[t] * g[i];
        double* const swapped = before;
        before = g;
        g = swapped;
    }
}

}  // extern "C"
