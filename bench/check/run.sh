#!/bin/sh
# Checks the GPU of this machine: whether Firstlight's kernels are right on it, and how fast they are. Needs sh and
# coreutils, an NVIDIA driver and the CUDA 13 runtime library, nothing else. All that is beside it came with it.
#
#   sh run.sh [--seconds N] [--json FILE] [--gpu N] [--small] [--model FILE --reference FILE [--runs N]]
#
# FIRSTLIGHT_CUDA_LIB may name the folder of libcudart.so.13 (and of libcuda.so.1) where it is not a usual one.
# Ends with 0 if all kernels were right, 1 if not, 2 if nothing could be said, 124 if it had to be stopped,
# and with what Java itself ends with where that is broken.
set -u

here="$(cd "$(dirname "$0")" && pwd)"

libraries=
add() { # a folder that has one of the libraries
  for library in libcudart.so.13 libcuda.so.1; do
    if [ -e "$1/$library" ]; then
      libraries="$libraries${libraries:+:}$1"
      return
    fi
  done
}

purelib=
if command -v python3 > /dev/null; then
  purelib="$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2> /dev/null)"
fi
for folder in "${FIRSTLIGHT_CUDA_LIB:-}" \
    /usr/local/cuda*/lib64 /usr/local/cuda*/targets/x86_64-linux/lib /usr/local/nvidia/lib64 \
    "$purelib/nvidia/cu13/lib" \
    /usr/local/lib/python3*/*-packages/nvidia/cu13/lib /usr/lib/python3*/*-packages/nvidia/cu13/lib \
    /opt/*/lib/python3*/site-packages/nvidia/cu13/lib "${HOME:-/root}"/.local/lib/python3*/site-packages/nvidia/cu13/lib \
    /usr/lib/x86_64-linux-gnu /usr/lib64; do
  add "$folder"
done
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+${libraries:+:}$LD_LIBRARY_PATH}"

limit=260 # a kernel that hangs can be stopped from outside alone
before=
for argument in "$@"; do
  if [ "$before" = --seconds ] && [ "$argument" -gt 0 ] 2> /dev/null; then
    limit=$((argument + 60))
  fi
  before="$argument"
done

classpath=
for jar in "$here"/lib/*.jar; do
  classpath="$classpath${classpath:+:}$jar"
done

work="$(mktemp -d)" || exit 2
timeout -k 10 "$limit" "$here/jre/bin/java" \
  --add-modules jdk.incubator.vector \
  --enable-native-access=ALL-UNNAMED \
  -Dorg.bytedeco.javacpp.cachedir="$work" \
  -Dslf4j.internal.verbosity=ERROR \
  -cp "$classpath" firstlight.gpu.GpuCheck "$@"
status=$?
rm -rf "$work"
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  echo "gpu-check: stopped after $limit s; what was found until then is in the JSON file" >&2
  status=124
fi
exit "$status"
