#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks of the Spack package, for .ci/run and by hand:
#   spack/check.sh style            ruff, installed into .deps/ruff where there is none
#   spack/check.sh package          audit, concretize; needs a Spack 1.0 or later at SPACK_ROOT
#   spack/check.sh install KOKKOS   also install against the Kokkos in the directory KOKKOS (C++20, Serial and OpenMP,
#                                   position independent), run the smoke test, and use the installation from outside
# Exit status 77: skipped, with a sentence that says why. Nothing is left outside .deps/ruff and build/spack.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "skipped: $1"
  exit 77
}

style() {
  local ruff
  if ! ruff=$(command -v ruff); then
    ruff=.deps/ruff/bin/ruff
    if [ ! -x "$ruff" ]; then
      command -v python3 >/dev/null || skip "no ruff and no python3 in PATH"
      rm -rf .deps/ruff
      if ! { python3 -m venv .deps/ruff && .deps/ruff/bin/pip install -q --disable-pip-version-check "ruff==0.15.11"; }; then
        rm -rf .deps/ruff
        skip "ruff is not in PATH and pip could not install it"
      fi
    fi
  fi
  "$ruff" --version
  "$ruff" check --no-cache spack
  "$ruff" format --no-cache --check spack
}

# new_environment NAME VIEW: a Spack environment in build/spack with this package repository and an
# installation tree of its own; what stdin holds goes into its spack.yaml.
new_environment() {
  local dir=build/spack/$1
  mkdir -p "$dir"
  {
    cat <<EOF
spack:
  specs: []
  view: $2
  repos:
    kokkos_softmax: $PWD/spack/spack_repo/kokkos_softmax
  config:
    install_tree:
      root: $PWD/build/spack/opt
    build_stage:
    - $PWD/build/spack/stage
    test_stage: $PWD/build/spack/test
EOF
    cat
  } >"$dir/spack.yaml"
}

find_spack() {
  [ -n "${SPACK_ROOT:-}" ] || skip "SPACK_ROOT is not set (the package needs a Spack 1.0 or later)"
  spack=$SPACK_ROOT/bin/spack
  [ -x "$spack" ] || { echo "SPACK_ROOT=$SPACK_ROOT is no Spack (it has no bin/spack); set it to one or unset it."; exit 1; }
  echo "Spack $("$spack" --version)"
  rm -rf build/spack
}

spec() { # spec SPEC...: it concretizes
  echo "-- $*"
  "$spack" -e build/spack/specs spec "$@" 2>&1 | tee build/spack/spec.txt | grep -E '[ ^](kokkos|cuda)[a-z-]*@|Error' ||
    { cat build/spack/spec.txt; return 1; }
}

refused() { # refused PATTERN SPEC...: it doesn't, and the message says why
  local pattern=$1
  shift
  echo "-- $*"
  if "$spack" -e build/spack/specs spec "$@" >build/spack/spec.txt 2>&1; then
    echo "'$*' concretizes (it should be refused: $pattern)"
    return 1
  fi
  grep -m 1 -e "$pattern" build/spack/spec.txt || { cat build/spack/spec.txt; return 1; }
}

package() {
  find_spack
  new_environment specs false </dev/null
  "$spack" -e build/spack/specs audit packages kokkos-softmax
  spec kokkos-softmax
  spec kokkos-softmax~shared+openmp ^kokkos@4.7
  spec kokkos-softmax+cuda cuda_arch=90
  refused 'Kokkos compiles for one GPU' kokkos-softmax+cuda
  refused 'written for Volta' kokkos-softmax+cuda cuda_arch=60
  refused 'choose one' kokkos-softmax+cuda+rocm cuda_arch=90 amdgpu_target=gfx90a
}

install() {
  local kokkos version
  kokkos=$(cd "$1" && pwd)
  package
  version=$(find "$kokkos" -name KokkosConfigVersion.cmake -exec sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' {} + | head -n 1)
  # What is committed, under the name of the package's branch
  git clone -q . build/spack/source
  git -C build/spack/source checkout -q -B main
  new_environment install true <<EOF
  packages:
    kokkos:
      buildable: false
      externals:
      - spec: kokkos@$version~cuda~rocm+openmp+pic+serial~shared cxxstd=20
        prefix: $kokkos
    kokkos-softmax:
      package_attributes:
        git: file://$PWD/build/spack/source
EOF
  "$spack" -e build/spack/install external find cmake gmake
  "$spack" -e build/spack/install add kokkos-softmax+openmp
  "$spack" -e build/spack/install install --no-cache --fail-fast
  "$spack" -e build/spack/install test run --alias smoke kokkos-softmax
  "$spack" -e build/spack/install test results -l smoke | tail -n 40
  echo "-- a program in the activated environment"
  (
    set +u
    eval "$("$spack" env activate --sh build/spack/install)"
    cmake -S spack/smoke_test -B build/spack/consumer -DCMAKE_BUILD_TYPE=Release
    cmake --build build/spack/consumer
    build/spack/consumer/smoke_test
  )
}

case "${1:-}" in
  style | package) "$1" ;;
  install) install "${2:?the directory of a Kokkos}" ;;
  *)
    echo "spack/check.sh style | package | install KOKKOS (no such check: '${1:-}'); see its first lines."
    exit 2
    ;;
esac
