// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_HostCopy.hpp>
#include <KokkosSoftmaxSweep_Workbench.hpp>
#include <algorithm>
#include <limits>
#include <stdexcept>

namespace KokkosSoftmaxSweep {
namespace {

/// What a thread of the copy kernel moves at one time: the widest access of a GPU.
struct alignas(16) Pack {
  std::uint32_t words[4];
};

template <class Exec>
using Elements = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// 64 well mixed bits per index (the finalizer of splitmix64).
KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The normal number of an index: Box and Muller's transform of its random bits.
KOKKOS_INLINE_FUNCTION float random_normal(std::uint64_t index) {
  const std::uint64_t bits = random_bits(index);
  const float unit = 1.0f / 4294967296.0f;
  const float u = (static_cast<float>(bits >> 32) + 0.5f) * unit;
  const float angle = static_cast<float>(bits & 0xffffffffu) * unit * 6.2831853f;
  return Kokkos::sqrt(-2.0f * Kokkos::log(u)) * Kokkos::cos(angle);
}

template <class Exec, class Buffer>
void fill_normal(const Exec& exec, const Buffer& buffer) {
  Kokkos::parallel_for(
      "KokkosSoftmaxSweep::fill", Elements<Exec>(exec, 0, buffer.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i) {
        buffer(i) = static_cast<typename Buffer::value_type>(random_normal(i));
      });
}

template <class Exec, class T>
std::vector<T> gather(const Exec& exec, const Kokkos::View<T*, Exec>& buffer, const Shape& shape,
                      std::int64_t row) {
  const std::int64_t columns = shape.columns(), stride = shape.stride(shape.axis);
  const std::int64_t offset = shape.row_offset(row);
  const Kokkos::View<T*, Exec> gathered("KokkosSoftmaxSweep::row", columns);
  Kokkos::parallel_for(
      "KokkosSoftmaxSweep::gather", Elements<Exec>(exec, 0, columns),
      KOKKOS_LAMBDA(std::int64_t i) { gathered(i) = buffer(offset + i * stride); });
  exec.fence();
  std::vector<T> host(columns);
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(host.data(), columns), gathered);
  return host;
}

template <class Exec>
void copy_packs(const Exec& exec, const Pack* from, Pack* to, std::int64_t count) {
  Kokkos::parallel_for(
      "KokkosSoftmaxSweep::copy", Elements<Exec>(exec, 0, count),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = from[i]; });
}

/// One slice per thread of `exec`, a host space. A plain lambda: nvcc compiles this file, too.
template <class Exec>
void copy_slices(const Exec& exec, HostCopy copy, const std::byte* from, std::byte* to,
                 std::size_t bytes) {
  using OneEach = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>;
  const int threads = exec.concurrency();
  Kokkos::parallel_for(
      "KokkosSoftmaxSweep::copy", OneEach(exec, 0, threads, Kokkos::ChunkSize(1)), [=](int thread) {
        const Slice slice = slice_of(bytes, thread, threads);
        copy_slice(copy, from + slice.begin, to + slice.begin, slice.end - slice.begin);
      });
}

/// Space for a last, incomplete Pack.
std::int64_t padded(std::int64_t elements) { return (elements + 15) / 16 * 16; }

template <class Buffer, class Exec>
Buffer allocate(const Exec& exec, const std::string& label, std::int64_t elements) {
  return Buffer(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), padded(elements));
}

/// The number of the first elements of y that differ from x; a NaN differs, too.
template <class Exec, class Buffer>
std::int64_t differences(const Exec& exec, const Buffer& x, const Buffer& y,
                         std::int64_t elements) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxSweep::differences", Elements<Exec>(exec, 0, elements),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & partial) { partial += y(i) == x(i) ? 0 : 1; },
      count);
  return count;
}

void sort_fastest_first(std::vector<CopyTime>& times) {
  std::sort(times.begin(), times.end(),
            [](const CopyTime& a, const CopyTime& b) { return a.seconds < b.seconds; });
}

}  // namespace

template <class Exec, class T>
Workbench<Exec, T>::Workbench(const Exec& exec, std::int64_t elements, Rest rest)
    : m_exec(exec),
      m_x(allocate<Buffer>(exec, "KokkosSoftmaxSweep::x", elements)),
      m_y(allocate<Buffer>(exec, "KokkosSoftmaxSweep::y", elements)),
      m_rest(rest) {
  fill_normal(m_exec, m_x);
  Kokkos::deep_copy(m_exec, m_y, T(0));  // touches every page
  m_exec.fence();
}

template <class Exec, class T>
void Workbench<Exec, T>::poison_y(std::int64_t elements) const {
  const auto used = Kokkos::subview(m_y, Kokkos::make_pair(std::int64_t(0), elements));
  Kokkos::deep_copy(m_exec, used, static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
}

template <class Exec, class T>
double Workbench<Exec, T>::checksum_of_y(std::int64_t elements) const {
  const Buffer y = m_y;
  double sum = 0;
  Kokkos::parallel_reduce(
      "KokkosSoftmaxSweep::checksum", Elements<Exec>(m_exec, 0, elements),
      KOKKOS_LAMBDA(std::int64_t i, double& partial) {
        const double weight = 1 + static_cast<double>(random_bits(i) >> 40) / (1 << 24);
        partial += weight * static_cast<double>(y(i));
      },
      sum);
  return sum;
}

template <class Exec, class T>
std::vector<T> Workbench<Exec, T>::row_of_x(const Shape& shape, std::int64_t row) const {
  return gather(m_exec, m_x, shape, row);
}

template <class Exec, class T>
std::vector<T> Workbench<Exec, T>::row_of_y(const Shape& shape, std::int64_t row) const {
  return gather(m_exec, m_y, shape, row);
}

template <class Exec, class T>
const std::vector<CopyTime>& Workbench<Exec, T>::copy_times(std::int64_t elements) {
  const auto [position, is_new] = m_copy_times.try_emplace(elements);
  if (is_new || position->second.empty()) position->second = measure_copies(elements);
  return position->second;
}

template <class Exec, class T>
const std::vector<CopyTime>& Workbench<Exec, T>::copy_times_again(std::int64_t elements) {
  std::vector<CopyTime>& kept = m_copy_times.at(elements);
  for (const CopyTime& again : measure_copies(elements)) {
    const auto same = std::find_if(kept.begin(), kept.end(),
                                   [&](const CopyTime& copy) { return copy.name == again.name; });
    if (again.seconds < same->seconds) *same = again;
  }
  sort_fastest_first(kept);
  return kept;
}

template <class Exec, class T>
std::vector<typename Workbench<Exec, T>::Copy> Workbench<Exec, T>::copies(
    std::int64_t elements) const {
  const auto used = Kokkos::make_pair(std::int64_t(0), elements);
  const auto x = Kokkos::subview(m_x, used), y = Kokkos::subview(m_y, used);
  const Exec exec = m_exec;
  std::vector<Copy> all = {{"deep_copy", [=] { Kokkos::deep_copy(exec, y, x); }}};
  if constexpr (is_host<Exec>) {
    const auto* from = reinterpret_cast<const std::byte*>(m_x.data());
    auto* to = reinterpret_cast<std::byte*>(m_y.data());
    const std::size_t bytes = elements * sizeof(T);
    for (const HostCopy copy : host_copies())
      all.push_back({to_string(copy), [=] { copy_slices(exec, copy, from, to, bytes); }});
  } else {
    const auto* from = reinterpret_cast<const Pack*>(m_x.data());
    auto* to = reinterpret_cast<Pack*>(m_y.data());
    const std::int64_t packs = padded(elements) * sizeof(T) / sizeof(Pack);
    all.push_back({"kernel", [=] { copy_packs(exec, from, to, packs); }});
  }
  return all;
}

template <class Exec, class T>
std::vector<CopyTime> Workbench<Exec, T>::measure_copies(std::int64_t elements) const {
  std::vector<CopyTime> times;
  for (const auto& [name, launch] : copies(elements)) {
    poison_y(elements);
    launch();
    if (const std::int64_t wrong = differences(m_exec, m_x, m_y, elements); wrong > 0)
      throw std::runtime_error("the copy by " + name + " has " + std::to_string(wrong) +
                               " wrong elements of " + std::to_string(elements));
    const std::vector<double> batches = seconds_of_batches(m_exec, launch, m_rest);
    times.push_back({name, time_of<Exec>(batches), scatter(batches)});
  }
  sort_fastest_first(times);
  return times;
}

template class Workbench<Kokkos::DefaultExecutionSpace, float>;
template class Workbench<Kokkos::DefaultExecutionSpace, double>;
#if !KOKKOS_HALF_T_IS_FLOAT
template class Workbench<Kokkos::DefaultExecutionSpace, Kokkos::Experimental::half_t>;
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
template class Workbench<Kokkos::DefaultExecutionSpace, Kokkos::Experimental::bhalf_t>;
#endif

}  // namespace KokkosSoftmaxSweep
