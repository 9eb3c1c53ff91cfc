#!/bin/sh
# Builds the fuzz targets of the readers with AddressSanitizer and UndefinedBehaviorSanitizer and runs them, all at the same
# time, for as many seconds as it is told (60). `make fuzz` calls it. With CXX=clang++ libFuzzer drives them.
set -eu
cd "$(dirname "$0")/../../.."
seconds=${1:-60}
out=${2:-build/fuzz}
compiler=${CXX:-g++}
flags="-std=c++20 -O1 -g1 -Wall -Wextra -Werror -ffp-contract=off -fno-omit-frame-pointer"
sanitized="-fsanitize=address,undefined -fno-sanitize-recover=undefined -D_GLIBCXX_ASSERTIONS"
mkdir -p "$out"

case $("$compiler" --version) in
*clang*)
  build() { "$compiler" $flags $sanitized -fsanitize=fuzzer "tests/core/fuzz/$@" -o "$out/${1%.cpp}"; }
  duration=-max_total_time=$seconds
  ;;
*)
  "$compiler" $flags -O2 -c tests/core/fuzz/driver.cpp -o "$out/driver.o"
  build() {
    "$compiler" $flags $sanitized -fsanitize-coverage=trace-pc "tests/core/fuzz/$@" "$out/driver.o" -o "$out/${1%.cpp}"
  }
  duration=$seconds
  ;;
esac
build vw.cpp &
built=$!
build svmlight.cpp
build json.cpp
build numbers.cpp -DHINGE_PORTABLE # what other processors run; the readers' targets run the vectors of this one
wait $built

running=
for target in svmlight vw json numbers; do
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
