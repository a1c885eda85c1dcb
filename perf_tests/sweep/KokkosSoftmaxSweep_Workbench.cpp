// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Workbench.hpp>
#include <algorithm>
#include <limits>

namespace KokkosSoftmaxSweep {
namespace {

/// What a thread of the copy kernel moves: the widest access of a GPU.
struct alignas(16) Pack {
  std::uint32_t words[4];
};

template <class Exec>
using Elements = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// 64 well mixed bits for each index (the finalizer of splitmix64).
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

/// Room for a last incomplete Pack.
std::int64_t padded(std::int64_t elements) { return (elements + 15) / 16 * 16; }

template <class Buffer, class Exec>
Buffer allocate(const Exec& exec, const std::string& label, std::int64_t elements) {
  return Buffer(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), padded(elements));
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
double Workbench<Exec, T>::copy_seconds(std::int64_t elements) {
  const auto [position, is_new] = m_copy_seconds.try_emplace(elements, 0.0);
  if (is_new) position->second = measure_copy(elements);
  return position->second;
}

template <class Exec, class T>
double Workbench<Exec, T>::copy_seconds_again(std::int64_t elements) {
  double& seconds = m_copy_seconds.at(elements);
  return seconds = std::min(seconds, measure_copy(elements));
}

template <class Exec, class T>
double Workbench<Exec, T>::measure_copy(std::int64_t elements) const {
  const auto used = Kokkos::make_pair(std::int64_t(0), elements);
  const auto x = Kokkos::subview(m_x, used), y = Kokkos::subview(m_y, used);
  const auto* from = reinterpret_cast<const Pack*>(m_x.data());
  auto* to = reinterpret_cast<Pack*>(m_y.data());
  const std::int64_t packs = padded(elements) * sizeof(T) / sizeof(Pack);
  return std::min(median_seconds(
                      m_exec, [&] { Kokkos::deep_copy(m_exec, y, x); }, m_rest),
                  median_seconds(
                      m_exec, [&] { copy_packs(m_exec, from, to, packs); }, m_rest));
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
