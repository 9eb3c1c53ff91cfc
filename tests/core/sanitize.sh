#!/bin/sh
# Builds the native module with AddressSanitizer and UndefinedBehaviorSanitizer, in build/sanitize, and runs
# the tests of the boundary on it: bad input, corrupt files, and the contracts. `make sanitize` calls it;
# arguments replace the tests, as in `sh tests/core/sanitize.sh tests/test_river.py -x`.
# With `thread` as the first argument: ThreadSanitizer, and the contracts of threads (`make sanitize-threads`).
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
bin=$root/.venv/bin
if [ "${1:-}" = thread ]; then
  shift
  kind=thread
  libraries="libtsan.so libstdc++.so"
  tests="tests/contracts/test_contracts_threads.py tests/contracts/test_contracts_calls.py tests/fleet/test_fleet_threads.py tests/fleet/test_fleet_moments.py tests/fleet/test_fleet_directories.py tests/fleet/test_fleet_cold.py tests/model/test_processes.py"
  workers=0 # one process: reports of several would interleave
else
  kind=address,undefined
  libraries="libasan.so libubsan.so libstdc++.so"
  tests="tests/rejections tests/fleet tests/streams/test_format_contract.py tests/streams/test_svmlight.py tests/streams/test_vw_text.py tests/model tests/contracts"
  workers=2
fi
out=$root/build/sanitize-$kind
mkdir -p "$out"

"$bin/cmake" -S . -B "$out/cmake" -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=Debug \
  -DHINGE_SANITIZE=$kind -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS -DPython_EXECUTABLE="$bin/python" \
  -Dnanobind_DIR="$("$bin/python" -m nanobind --cmake_dir)" >"$out.log" 2>&1 || { cat "$out.log"; exit 1; }
"$bin/cmake" --build "$out/cmake"

# The package with that module, first on the path. The editable install has an import hook of its own,
# which comes before the path: it is taken out as the interpreter starts.
rm -rf "$out/path"
mkdir -p "$out/path"
cp -R src/hinge "$out/path/hinge"
cp "$out"/cmake/_core*.so "$out/path/hinge/"
cat >"$out/path/sitecustomize.py" <<'HOOK'
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
HOOK

# The interpreter is not sanitized, so the libraries must be there before it starts; libstdc++ too, or the
# exceptions of the module are not found. Python keeps some memory until it ends: leaks are not reported.
# numpy and the interpreter are not seen by ThreadSanitizer, the GIL is (it is made of POSIX mutexes).
LD_PRELOAD=
for library in $libraries; do
  LD_PRELOAD="$LD_PRELOAD${LD_PRELOAD:+:}$(g++ -print-file-name="$library")"
done
ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
UBSAN_OPTIONS=print_stacktrace=1
TSAN_OPTIONS=halt_on_error=0:exitcode=66:report_signal_unsafe=0:ignore_noninstrumented_modules=1
PYTHONPATH=$out/path
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS PYTHONPATH
# ThreadSanitizer wants the addresses of a process where older kernels put them.
fixed=
[ $kind = thread ] && command -v setarch >/dev/null && fixed="setarch $(uname -m) -R"
run() { $fixed env LD_PRELOAD="$LD_PRELOAD" "$bin/python" "$@"; }

run -c "
import hinge._core
assert hinge._core.__file__.startswith('$out/path/'), hinge._core.__file__
assert hinge.__file__.startswith('$out/path/'), hinge.__file__
print('sanitized:', hinge._core.__file__)
"
[ $# -gt 0 ] || set -- $tests
run -m pytest -n $workers -p no:cacheprovider "$@"
