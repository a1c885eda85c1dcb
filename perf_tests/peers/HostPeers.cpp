// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compare.py measures on a host besides the packages of Python, as C functions: copies, reads,
// exponentials and oneDNN. They run on the threads of OpenMP, which the library has, too.

#include <KokkosSoftmaxSweep_HostCopy.hpp>
#include <KokkosSoftmaxSweep_HostRead.hpp>
#include <KokkosSoftmaxSweep_OneDnn.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <host/Isa.hpp>
#include <string>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using namespace KokkosSoftmaxSweep;

/// Calls body(begin, end) in each thread, with a slice of [0, bytes) of its own.
template <class Body>
void for_each_slice(std::size_t bytes, const Body& body) {
#ifdef _OPENMP
#pragma omp parallel
  {
    const Slice slice = slice_of(bytes, omp_get_thread_num(), omp_get_num_threads());
    body(slice.begin, slice.end);
  }
#else
  body(std::size_t(0), bytes);
#endif
}

/// Computes `count` exponentials of numbers that stay in the first-level cache.
template <class T>
void compute_exponentials(bool only_for_sum, std::size_t count) {
  constexpr std::size_t block = 1024;
  alignas(64) T v[block], result[block];
  for (std::size_t i = 0; i < block; ++i) v[i] = -static_cast<T>(i) / 64;
  const auto& functions = KokkosSoftmax::Impl::host_isa().kernels<T, T>().functions;
  const auto exp = only_for_sum ? functions.exp_for_sum : functions.exp_accurate;
  for (std::size_t done = 0; done < count; done += block)
    exp(v, static_cast<std::int64_t>(std::min(block, count - done)), T(0), result);
}

/// The message of the last call that failed.
std::string message;

}  // namespace

extern "C" {

/// The number of threads that the functions below run on.
int kokkossoftmax_peers_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

int kokkossoftmax_peers_copies() { return static_cast<int>(host_copies().size()); }
int kokkossoftmax_peers_reads() { return static_cast<int>(host_reads().size()); }

const char* kokkossoftmax_peers_copy_name(int number) { return to_string(host_copies()[number]); }
const char* kokkossoftmax_peers_read_name(int number) { return to_string(host_reads()[number]); }

/// Copies memory that doesn't overlap in one of the ways.
void kokkossoftmax_peers_copy(int number, const void* from, void* to, std::size_t bytes) {
  const HostCopy copy = host_copies()[number];
  for_each_slice(bytes, [=](std::size_t begin, std::size_t end) {
    copy_slice(copy, static_cast<const std::byte*>(from) + begin,
               static_cast<std::byte*>(to) + begin, end - begin);
  });
}

/// Reads memory in one of the ways. Returns the exclusive or of its words of eight bytes.
std::uint64_t kokkossoftmax_peers_read(int number, const void* from, std::size_t bytes) {
  const HostRead read = host_reads()[number];
  std::atomic<std::uint64_t> result = 0;
  for_each_slice(bytes, [&](std::size_t begin, std::size_t end) {
    result ^= read_slice(read, static_cast<const std::byte*>(from) + begin, end - begin);
  });
  return result;
}

/// Computes `count` exponentials as the library does: those that softmax writes, or those that are
/// only added. Returns the number of the exponentials that were computed.
std::uint64_t kokkossoftmax_peers_exp(int is_double, int only_for_sum, std::size_t count) {
  std::atomic<std::uint64_t> computed = 0;
  for_each_slice(count, [&](std::size_t begin, std::size_t end) {
    computed += end - begin;
    if (is_double)
      compute_exponentials<double>(only_for_sum, end - begin);
    else
      compute_exponentials<float>(only_for_sum, end - begin);
  });
  return computed;
}

/// Why there is no oneDNN; empty if there is one.
const char* kokkossoftmax_peers_why_no_onednn() {
  message = why_no_onednn();
  return message.c_str();
}

/// The version of oneDNN; empty if there is none.
const char* kokkossoftmax_peers_onednn_version() {
  message = onednn_version();
  return message.c_str();
}

/// Returns what kokkossoftmax_peers_run() runs: softmax (is_log = 0) or log_softmax along an axis
/// of a matrix of float whose rows are contiguous. NULL if oneDNN doesn't support it.
void* kokkossoftmax_peers_prepare_onednn(int is_log, std::int64_t rows, std::int64_t columns,
                                         int axis, const float* x, float* y) {
  using Operation = OneDnnProblem::Operation;
  try {
    const OneDnnProblem problem{.operation = is_log ? Operation::log_softmax : Operation::softmax,
                                .extents = {rows, columns},
                                .strides = {columns, 1},
                                .axis = axis};
    return new std::function<void()>(prepare_onednn(problem, x, y));
  } catch (const std::exception& error) {
    message = error.what();
    return nullptr;
  }
}

/// Returns 0 if that failed.
int kokkossoftmax_peers_run(void* prepared) {
  try {
    (*static_cast<std::function<void()>*>(prepared))();
    return 1;
  } catch (const std::exception& error) {
    message = error.what();
    return 0;
  }
}

void kokkossoftmax_peers_free(void* prepared) {
  delete static_cast<std::function<void()>*>(prepared);
}

const char* kokkossoftmax_peers_last_error() { return message.c_str(); }
}
