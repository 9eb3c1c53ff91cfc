#!/bin/sh
# Builds the fuzz targets of the readers with AddressSanitizer and UndefinedBehaviorSanitizer and runs them, all at the same
# time, for as many seconds as it is told (60). `make fuzz` calls it. With CXX=clang++ libFuzzer drives them.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
out=${2:-build/fuzz}
compiler=${CXX:-g++}
flags="-std=c++20 -O1 -g -Wall -Wextra -Werror -ffp-contract=off -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
sanitizers=address,undefined
targets="svmlight vw numbers"
mkdir -p "$out"

case $("$compiler" --version) in
*clang*)
  for target in $targets; do
    "$compiler" $flags -fsanitize=fuzzer,$sanitizers "tests/fuzz/$target.cpp" -o "$out/$target"
  done
  duration=-max_total_time=$seconds
  ;;
*)
  "$compiler" $flags -O2 -c tests/fuzz/driver.cpp -o "$out/driver.o"
  for target in $targets; do
    "$compiler" $flags -fsanitize=$sanitizers -fsanitize-coverage=trace-pc -D_GLIBCXX_ASSERTIONS \
      "tests/fuzz/$target.cpp" "$out/driver.o" -o "$out/$target"
  done
  duration=$seconds
  ;;
esac

running=
for target in $targets; do
  "$out/$target" "$duration" >"$out/$target.log" 2>&1 &
  running="$running $target:$!"
done
failed=0
for one in $running; do
  wait "${one#*:}" || failed=1
  echo "${one%:*}:"
  tail -n 60 "$out/${one%:*}.log"
done
exit $failed
