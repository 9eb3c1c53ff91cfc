// The limits for many classes: one PA-I epoch (the worst class against the true one) and nothing else. No checks, no
// statistics, no intercept. The weights of a feature lie together, lane by lane: w[column * lanes + class], so that
// the loop over the classes is one over neighbours. Zeros of a dense row are skipped, since most of an image is zero.
// Scores are sums in double; weights and values are double, or both float. Each function returns the number of updates.
// 10 classes are a loop of a known length, which the compiler keeps in registers; others are not.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// Compiled for AVX2 too where that can be chosen at run time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif
#define INLINE inline __attribute__((always_inline))

namespace {

template <class Real>
struct Dense {
    const Real* x;
    int64_t columns;
    struct Row {
        const Real* value;
        int64_t size;
        int64_t column(int64_t j) const { return j; }
        bool skips(int64_t j) const { return value[j] == 0; }
    };
    Row row(int64_t r) const { return {x + r * columns, columns}; }
};

template <class Real>
struct Sparse {
    const int32_t *starts, *indices;
    const Real* values;
    struct Row {
        const Real* value;
        int64_t size;
        const int32_t* index;
        int64_t column(int64_t j) const { return index[j]; }
        bool skips(int64_t) const { return false; }
    };
    Row row(int64_t r) const { return {values + starts[r], starts[r + 1] - starts[r], indices + starts[r]}; }
};

// Lanes > 0: that many, known to the compiler.
template <int Lanes, class Data, class Real>
INLINE int64_t epoch(const Data& data, int64_t rows, int64_t classes, const int64_t* y, double C, Real* w) {
    const int64_t lanes = Lanes > 0 ? Lanes : classes;
    std::vector<double> held(lanes);
    int64_t updates = 0;
    for (int64_t r = 0; r < rows; ++r) {
        const auto x = data.row(r);
        double fixed[Lanes > 0 ? Lanes : 1] = {}, square = 0;
        double* __restrict scores = Lanes > 0 ? fixed : held.data();
        if (Lanes == 0) std::fill_n(scores, lanes, 0.0);
        for (int64_t j = 0; j < x.size; ++j) {
            if (x.skips(j)) continue;
            const double value = x.value[j];
            const Real* __restrict weights = w + x.column(j) * lanes;
            for (int64_t k = 0; k < lanes; ++k) scores[k] += value * weights[k];
            square += value * value;
        }
        const int64_t truth = y[r];
        int64_t worst = truth == 0 ? 1 : 0;
        for (int64_t k = 0; k < classes; ++k)
            if (k != truth && scores[k] > scores[worst]) worst = k;
        const double loss = 1 - (scores[truth] - scores[worst]);
        if (loss <= 0 || square == 0) continue;
        const double step = std::fmin(C, loss / (2 * square));
        for (int64_t j = 0; j < x.size; ++j) {
            if (x.skips(j)) continue;
            Real* weights = w + x.column(j) * lanes;
            weights[truth] += static_cast<Real>(step * x.value[j]);
            weights[worst] -= static_cast<Real>(step * x.value[j]);
        }
        ++updates;
    }
    return updates;
}

template <class Data, class Real>
INLINE int64_t any(const Data& data, int64_t rows, int64_t classes, const int64_t* y, double C, Real* w) {
    if (classes == 10) return epoch<10>(data, rows, classes, y, C, w);
    return epoch<0>(data, rows, classes, y, C, w);
}

}  // namespace

#define DENSE(name, Real)                                                                                       \
    extern "C" CLONES int64_t name(int64_t rows, int64_t columns, const Real* x, int64_t classes,               \
                                   const int64_t* y, double C, Real* w) {                                       \
        return any(Dense<Real>{x, columns}, rows, classes, y, C, w);                                            \
    }
#define SPARSE(name, Real)                                                                                      \
    extern "C" CLONES int64_t name(int64_t rows, const int32_t* starts, const int32_t* indices,                 \
                                   const Real* values, int64_t classes, const int64_t* y, double C, Real* w) {  \
        return any(Sparse<Real>{starts, indices, values}, rows, classes, y, C, w);                              \
    }

DENSE(dense_double, double)
DENSE(dense_float, float)
SPARSE(sparse_double, double)
SPARSE(sparse_float, float)
