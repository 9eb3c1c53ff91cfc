// What Python holds is used from several threads: one that learns holds it alone, those that read share it.
//
// No thread waits for the mutex while it holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace hinge {

// ---- the end of the interpreter -----------------------------------------------------------------------------------

// Daemon threads outlive the interpreter. One that wants the GIL then is ended by Python (before 3.14) with pthread_exit,
// which unwinds its stack, through destructors that must not throw and through nanobind: the process would be aborted. It
// waits here for the end of the process instead, as it does in Python 3.14.
template <class Function>
decltype(auto) unless_ended(Function&& function) {
  try {
    return function();
  } catch (const std::exception&) {
    throw;
  } catch (...) {  // no exception of C++: the unwinding of pthread_exit
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}
inline bool has_ended() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    unless_ended([this] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};
class WithGil {
 public:
  WithGil() : state_(unless_ended([] { return PyGILState_Ensure(); })) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// ---- locks --------------------------------------------------------------------------------------------------------

// How many forks made this process what it is.
inline std::atomic<unsigned> forks = 0;
inline void watch_forks() {
#if !defined(_WIN32)
  pthread_atfork(nullptr, nullptr, [] { forks += 1; });
#endif
}

struct Locks {
  std::shared_mutex mutex;
  std::mutex turn;  // held by the thread that waits for the mutex: readers that keep coming wait behind a writer
};

struct Guarded {
  std::unique_ptr<Locks> locks = std::make_unique<Locks>();
  unsigned made_after = forks;  // so many forks were the locks made
  bool writing = false;
  bool torn = false;  // a copy that a fork made while another thread was writing
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

// After a fork the threads that held the locks do not exist: the child gets new ones (the old ones are never destroyed,
// they may be held). What a thread was writing when the process was forked is half-written for ever: it is rejected. A
// fork that waited for all rounds to end could wait for a thread that needs the GIL of the one that forks.
inline void notice_fork(Guarded& engine) {
  if (engine.made_after != forks) [[unlikely]] {
    engine.torn = engine.torn || engine.writing;
    (void)engine.locks.release();
    engine.locks = std::make_unique<Locks>();
    engine.made_after = forks;
  }
  if (engine.torn) [[unlikely]]
    throw std::runtime_error(
        "the process was forked while another thread was learning: this copy of the model is half-written. Fork while "
        "nobody learns, or load the model in the new process");
}

// A call from within a call (from a signal handler, or from the __float__ of a value) is rejected: it would wait for
// itself.
template <class Lock>
class Holding {
 public:
  static constexpr bool writes = std::is_same_v<Lock, std::unique_lock<std::shared_mutex>>;

  explicit Holding(Guarded& engine) : engine_(engine), held_{&engine, Held::innermost} {
    check_free(engine);
    notice_fork(engine);
    std::unique_lock turn(engine.locks->turn, std::try_to_lock);
    if (turn.owns_lock()) lock_ = Lock(engine.locks->mutex, std::try_to_lock);
    if (!lock_.owns_lock()) {
      if (has_ended()) throw std::runtime_error("another thread was using the learner when the interpreter ended");
      const WithoutGil released;
      if (!turn.owns_lock()) turn.lock();
      lock_ = Lock(engine.locks->mutex);
    }
    if constexpr (writes) engine.writing = true;
    Held::innermost = &held_;
  }
  ~Holding() {
    if constexpr (writes) engine_.writing = false;
    Held::innermost = held_.outer;
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  Guarded& engine_;
  Held held_;
  Lock lock_;
};
using Writing = Holding<std::unique_lock<std::shared_mutex>>;
using SharedReading = Holding<std::shared_lock<std::shared_mutex>>;

// For a thread that has released the GIL: it does not wait for the GIL while it holds the lock. `Holding` has been used for the
// same call before, and has made its checks. What changes under this lock is not the model.
template <class Lock>
class QuietHolding {
 public:
  explicit QuietHolding(Guarded& engine) : lock_(engine.locks->mutex, std::defer_lock) {
    const std::lock_guard turn(engine.locks->turn);
    lock_.lock();
  }

 private:
  Lock lock_;
};
using QuietWriting = QuietHolding<std::unique_lock<std::shared_mutex>>;
using QuietReading = QuietHolding<std::shared_lock<std::shared_mutex>>;

// Ctrl-C, while a batch runs without the GIL.
inline void answer_signals() {
  const WithGil acquired;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace hinge
