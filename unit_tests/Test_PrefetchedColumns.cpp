// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a tile whose team keeps the bias and the mask that rows share in scratch memory,
// and copies x there before. The threads of the team take turns on the host. Rows begin at any
// address, and are divided into several segments.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <row/TileOf.hpp>
#include <schedules/cluster/PrefetchedColumns.hpp>
#include <string>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::strided_array;

template <class X_, int threads_, int items_, int width_, AccessMode access_>
struct TileConfig {
  using X = X_;
  static constexpr int threads = threads_, items = items_, width = width_;
  static constexpr AccessMode access = access_;
};

template <class C>
class PrefetchedColumns : public ::testing::Test {
 protected:
  using X = typename C::X;
  using V = KokkosSoftmax::Impl::ValueTypes<X>;
  using T = typename V::Compute;
  using Source = KokkosSoftmax::Impl::SharedInputsSource<V>;
  using Tile = KokkosSoftmax::Impl::TileOf<Source, C::items, C::width, C::threads, C::access>;
  using Inputs = KokkosSoftmax::Impl::PrefetchedColumns<Source, Tile>;
  using Arguments = KokkosSoftmax::Impl::GeneralArgs<V>;
  static constexpr std::size_t rows = 5;
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  struct Call {
    std::size_t columns;
    bool has_bias;
    bool has_mask;
    double scale = 1;
    bool scale_biases = false;
    T infinite_bias = T(0);  // that of each tenth column, if it isn't 0
  };

  /// The memory of a matrix whose first entry is `offset` entries after a cache line.
  class Matrix {
   public:
    Matrix(std::size_t columns, std::size_t offset)
        : m_columns(columns), m_memory("matrix", rows * columns + 256) {
      const auto address = reinterpret_cast<std::uintptr_t>(m_memory.data()) / sizeof(X);
      constexpr std::size_t line = 128 / sizeof(X);
      m_first = m_memory.data() + (line - address % line) % line + offset;
    }
    template <class Entry>
    auto view() const {
      return Kokkos::View<Entry**, Kokkos::LayoutRight, Kokkos::HostSpace,
                          Kokkos::MemoryTraits<Kokkos::Unmanaged>>(m_first, rows, m_columns);
    }
    X& operator()(std::size_t r, std::size_t c) const { return m_first[r * m_columns + c]; }

   private:
    std::size_t m_columns;
    Kokkos::View<X*, Kokkos::HostSpace> m_memory;
    X* m_first;
  };

  static void expect_right(const Call& call, std::size_t offset) {
    std::mt19937 random(static_cast<unsigned>(call.columns + offset));
    const auto number = [&] { return static_cast<X>(T(random() % 1000) / T(64) - T(8)); };
    const Matrix x(call.columns, offset), y(call.columns, offset);
    std::vector<X> bias(call.columns);
    std::vector<unsigned char> mask(call.columns);
    for (std::size_t c = 0; c < call.columns; ++c) {
      bias[c] =
          call.infinite_bias != T(0) && c % 10 == 9 ? static_cast<X>(call.infinite_bias) : number();
      mask[c] = random() % 4 == 0 ? 0 : 255;
      for (std::size_t r = 0; r < rows; ++r) x(r, c) = number();
      if (c % 3 == 0) x(1, c) = static_cast<X>(std::numeric_limits<T>::quiet_NaN());
      if (c % 3 == 1) x(1, c) = static_cast<X>(infinity);
    }
    const Arguments arguments = arguments_of(call, x, y, bias, mask);
    write_values(arguments);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < call.columns; ++c) {
        const T expected = call.has_mask && mask[c] == 0
                               ? -infinity
                               : value(call, static_cast<T>(x(r, c)),
                                       call.has_bias ? static_cast<T>(bias[c]) : T(0));
        const T written = static_cast<T>(y(r, c));
        const T rounded = static_cast<T>(static_cast<X>(expected));
        ASSERT_TRUE(written == rounded || (std::isnan(written) && std::isnan(rounded)))
            << written << " is not " << rounded << ", row " << r << ", column " << c << " of "
            << call.columns << ", offset " << offset << ", scale " << call.scale;
      }
  }

 private:
  static T value(const Call& call, T x, T bias) {
    const T scale = static_cast<T>(call.scale);
    return call.scale_biases ? scale * (x + bias) : scale * x + bias;
  }

  static Arguments arguments_of(const Call& call, const Matrix& x, const Matrix& y,
                                const std::vector<X>& bias,
                                const std::vector<unsigned char>& mask) {
    const auto x_array = strided_array(x.template view<const X>());
    KokkosSoftmax::Impl::InputArrays<const X, T> arrays;
    if (call.has_bias) {
      arrays.bias = x_array;
      arrays.bias->data = bias.data();
      arrays.bias->strides[0] = 0;
    }
    if (call.has_mask) {
      arrays.mask = strided_array(
          Kokkos::View<const unsigned char**, Kokkos::LayoutRight, Kokkos::HostSpace,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>(mask.data(), rows, call.columns));
      arrays.mask->strides[0] = 0;
    }
    arrays.scale_biases = call.scale_biases;
    const Arguments arguments(KokkosSoftmax::Impl::make_general_row_problem(
                                  x_array, strided_array(y.template view<X>()), 1,
                                  KokkosSoftmax::Impl::ArraysBeside<const X, X>{}, arrays),
                              Options{.scale = call.scale});
    EXPECT_EQ(arguments.rows_share_inputs(), call.has_bias || call.has_mask);
    return arguments;
  }

  /// Writes the values of all entries to y, segment by segment, as long as a row has chunks. The
  /// segments are a bit shorter than the tile.
  static void write_values(const Arguments& arguments) {
    constexpr std::int64_t chunks = Tile::chunks - 3;
    const Kokkos::View<char*, Kokkos::HostSpace> scratch("scratch", Inputs::scratch_bytes() + 64);
    const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
    std::vector<Inputs> threads(C::threads, Inputs(scratch.data() + (64 - address % 64)));
    const std::int64_t columns = arguments.problem.columns;
    for (std::int64_t begin = 0; begin == 0 || begin * C::width < columns; begin += chunks) {
      for (int t = 0; t < C::threads; ++t) threads[t].image().fill(arguments, begin, t);
      for (std::size_t r = 0; r < rows; ++r) {
        typename Tile::Row row(arguments, static_cast<std::int64_t>(r));
        row.end_at(begin + chunks);
        for (int t = 0; t < C::threads; ++t) threads[t].prefetch(arguments, row, begin, t);
        for (int t = 0; t < C::threads; ++t) {
          Tile tile;
          threads[t].load(tile, arguments, row, begin, t);
          tile.store(row, begin, t, [](T v) { return v; });
        }
      }
    }
  }
};

/// float, if Kokkos has no such type on hosts
using Bhalf = Kokkos::Experimental::bhalf_t;
constexpr int bhalfs_per_chunk = 16 / static_cast<int>(sizeof(Bhalf));
using TileConfigs =
    ::testing::Types<TileConfig<float, 64, 2, 4, AccessMode::peeled_vectors>,
                     TileConfig<float, 8, 4, 4, AccessMode::peeled_vectors>,
                     TileConfig<float, 16, 2, 4, AccessMode::guarded_vectors>,
                     TileConfig<double, 64, 2, 2, AccessMode::peeled_vectors>,
                     TileConfig<Bhalf, 128, 2, bhalfs_per_chunk, AccessMode::peeled_vectors>,
                     TileConfig<Bhalf, 32, 2, bhalfs_per_chunk, AccessMode::guarded_vectors>>;
TYPED_TEST_SUITE(PrefetchedColumns, TileConfigs);

TYPED_TEST(PrefetchedColumns, HasTheValuesOfRows) {
  constexpr bool is_aligned = TypeParam::access == AccessMode::guarded_vectors;
  constexpr std::size_t unit = is_aligned ? TypeParam::width : 1;
  using T = typename TestFixture::T;
  constexpr T infinity = TestFixture::infinity;
  for (const std::size_t units : {1, 2, 3, 7, 31, 100, 333, 1501, 3000})
    for (const std::size_t offset : {0, 1, 3, 30}) {
      if (is_aligned && offset > 0) continue;
      const std::size_t columns = units * unit;
      using Call = typename TestFixture::Call;
      for (const Call& call :
           {Call{columns, true, false}, Call{columns, false, true}, Call{columns, true, true},
            Call{columns, true, true, -0.5}, Call{columns, true, true, -0.5, true},
            Call{columns, true, false, 2.0, false, infinity},
            Call{columns, true, true, -0.5, true, -infinity}})
        TestFixture::expect_right(call, offset);
    }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
