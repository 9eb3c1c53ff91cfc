// The limits: the whole of one PA-I epoch and nothing else. No checks, no statistics, no labels, no intercept.
// plain is the loop one would write down. four keeps four independent sums, as two pairs of doubles, so that an
// addition need not wait for the one before it; the pairs are spelled out because g++ 12 does not find them.
// Neither needs -ffast-math or more than SSE2. Each function returns the number of updates.

#include <cmath>
#include <cstdint>

namespace {

typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

struct Sums {
    double dot, square;
};

struct Plain {
    template <class Weight>
    static Sums sums(const double* value, int n, Weight weight) {
        double dot = 0, square = 0;
        for (int i = 0; i < n; ++i) {
            dot += value[i] * weight(i);
            square += value[i] * value[i];
        }
        return {dot, square};
    }
};

struct Four {
    template <class Weight>
    static Sums sums(const double* value, int n, Weight weight) {
        Pair dot[2] = {}, square[2] = {};
        int i = 0;
        for (; i + 4 <= n; i += 4) {
            const Pair a = *reinterpret_cast<const Pair*>(value + i), b = *reinterpret_cast<const Pair*>(value + i + 2);
            dot[0] += a * Pair{weight(i), weight(i + 1)};
            dot[1] += b * Pair{weight(i + 2), weight(i + 3)};
            square[0] += a * a;
            square[1] += b * b;
        }
        const Sums rest = Plain::sums(value + i, n - i, [&](int j) { return weight(i + j); });
        const Pair d = dot[0] + dot[1], s = square[0] + square[1];
        return {d[0] + d[1] + rest.dot, s[0] + s[1] + rest.square};
    }
};

template <class Way>
int64_t classify(int64_t rows, const int32_t* starts, const int32_t* indices, const double* values, const double* y,
                 double C, double* w) {
    int64_t updates = 0;
    for (int64_t r = 0; r < rows; ++r) {
        const int32_t* index = indices + starts[r];
        const double* value = values + starts[r];
        const int n = starts[r + 1] - starts[r];
        const Sums got = Way::sums(value, n, [=](int i) { return w[index[i]]; });
        const double loss = 1 - y[r] * got.dot;
        if (loss <= 0 || got.square == 0) continue;
        const double step = y[r] * std::fmin(C, loss / got.square);
        for (int i = 0; i < n; ++i) w[index[i]] += step * value[i];
        ++updates;
    }
    return updates;
}

template <class Way>
int64_t regress(int64_t rows, int64_t columns, const double* x, const double* y, double C, double epsilon, double* w) {
    int64_t updates = 0;
    const int n = static_cast<int>(columns);
    for (int64_t r = 0; r < rows; ++r, x += columns) {
        const Sums got = Way::sums(x, n, [=](int i) { return w[i]; });
        const double error = y[r] - got.dot, loss = std::fabs(error) - epsilon;
        if (loss <= 0 || got.square == 0) continue;
        const double step = std::copysign(std::fmin(C, loss / got.square), error);
        for (int i = 0; i < n; ++i) w[i] += step * x[i];
        ++updates;
    }
    return updates;
}

}  // namespace

#define SPARSE(name, way)                                                                                    \
    extern "C" int64_t name(int64_t rows, const int32_t* starts, const int32_t* indices, const double* values, \
                            const double* y, double C, double* w) {                                          \
        return classify<way>(rows, starts, indices, values, y, C, w);                                        \
    }
#define DENSE(name, way)                                                                                    \
    extern "C" int64_t name(int64_t rows, int64_t columns, const double* x, const double* y, double C,      \
                            double epsilon, double* w) {                                                    \
        return regress<way>(rows, columns, x, y, C, epsilon, w);                                            \
    }

SPARSE(sparse_plain, Plain)
SPARSE(sparse_four, Four)
DENSE(dense_plain, Plain)
DENSE(dense_four, Four)
