// The limit of W4: PA-I over events that are Python dicts of name to float, and nothing else: no checks, no calls from
// Python (a whole list of events at once), a vocabulary that is known beforehand. A key is first compared with the one
// that stood in its place in the event before; only where that fails is it looked up.

#include <Python.h>

#include <cstdint>
#include <cstring>

namespace {

constexpr int MOST = 64;  // features an event
PyObject* last_key[MOST];  // borrowed from the vocabulary
int64_t last_column[MOST];

bool same(PyObject* a, PyObject* b) {
    if (a == b) return true;
    return b && PyUnicode_GET_LENGTH(a) == PyUnicode_GET_LENGTH(b) && PyUnicode_KIND(a) == PyUnicode_KIND(b) &&
           !std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), PyUnicode_GET_LENGTH(a) * PyUnicode_KIND(a));
}

struct Event {
    int n = 0;
    int64_t column[MOST];
    double value[MOST], score, square = 1;

    Event(PyObject* x, PyObject* vocabulary, PyObject* names, const double* w) : score(w[PyList_GET_SIZE(names)]) {
        PyObject *key, *number;
        for (Py_ssize_t at = 0; PyDict_Next(x, &at, &key, &number); ++n) {
            if (!same(key, last_key[n])) {
                last_column[n] = PyLong_AsLongLong(PyDict_GetItemWithError(vocabulary, key));
                last_key[n] = PyList_GET_ITEM(names, last_column[n]);
            }
            column[n] = last_column[n];
            value[n] = PyFloat_AS_DOUBLE(number);
            score += value[n] * w[column[n]];
            square += value[n] * value[n];
        }
    }
};

}  // namespace

// events: a list of (dict, bool); vocabulary: name to column; names: column to name; w: a weight a column, intercept last.
extern "C" int64_t predict_and_learn(PyObject* events, PyObject* vocabulary, PyObject* names, double* w) {
    int64_t mistakes = 0;
    for (PyObject*& key : last_key) key = nullptr;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(events); ++i) {
        PyObject* x = PyTuple_GET_ITEM(PyList_GET_ITEM(events, i), 0);
        const double y = PyTuple_GET_ITEM(PyList_GET_ITEM(events, i), 1) == Py_True ? 1 : -1;
        mistakes += (Event(x, vocabulary, names, w).score > 0) != (y > 0);
        const Event e(x, vocabulary, names, w);
        const double loss = 1 - y * e.score;
        if (loss <= 0) continue;
        const double step = y * (loss < e.square ? loss / e.square : 1);
        for (int j = 0; j < e.n; ++j) w[e.column[j]] += step * e.value[j];
        w[PyList_GET_SIZE(names)] += step;
    }
    return mistakes;
}
