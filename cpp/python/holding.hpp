// What Python holds is used from several threads: one that learns holds it alone, those that read share it.
//
// No thread waits for the mutex while it holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <shared_mutex>
#include <stdexcept>

namespace hinge {

struct Guarded {
  std::shared_mutex mutex;
  std::mutex turn;  // held by who waits for the mutex: readers that keep coming wait behind a writer
};

struct Held {
  const Guarded* engine;
  const Held* outer;
  static inline thread_local const Held* innermost = nullptr;
};

// Throws if this thread is within a call of the same engine.
inline void check_free(const Guarded& engine) {
  for (const Held* held = Held::innermost; held != nullptr; held = held->outer)
    if (held->engine == &engine)
      throw std::runtime_error("the learner is busy: it was called from within one of its own calls");
}

// A call from within a call (from a signal handler, or from the __float__ of a value) is refused: it would wait for
// itself.
template <class Lock>
class Holding {
 public:
  explicit Holding(Guarded& engine) : held_{&engine, Held::innermost} {
    check_free(engine);
    std::unique_lock turn(engine.turn, std::try_to_lock);
    if (turn.owns_lock()) lock_ = Lock(engine.mutex, std::try_to_lock);
    if (!lock_.owns_lock()) {
      const nanobind::gil_scoped_release released;
      if (!turn.owns_lock()) turn.lock();
      lock_ = Lock(engine.mutex);
    }
    Held::innermost = &held_;
  }
  ~Holding() { Held::innermost = held_.outer; }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  Held held_;
  Lock lock_;
};
using Writing = Holding<std::unique_lock<std::shared_mutex>>;
using SharedReading = Holding<std::shared_lock<std::shared_mutex>>;

// Ctrl-C, while a batch runs without the GIL.
inline void answer_signals() {
  const nanobind::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace hinge
