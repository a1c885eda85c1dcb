// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation of the tests' own through every schedule.

#include <seams/SeamTests.hpp>
#include <seams/SquareSumOp.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// SquareSumOp with the library's source.
struct WithSquareSumOp {
  static constexpr const char* name = "SquareSumOp";
  template <class V>
  using Source = PlainSource<V>;
  template <class V>
  using FirstOp = OpList<SquareSumOp<V>>;
  template <class V>
  using AllOps = FirstOp<V>;

  template <class T, class Exec>
  static ::testing::AssertionResult check(const Case& c, const Rows<T>& rows,
                                          const Field<T, Exec>& y) {
    const std::vector<T> results = tensor_to_rows(y.template read<T>(), c.extents, c.options.axis);
    for (std::size_t r = 0; r < rows.count; ++r) {
      long double sum = 0;
      for (std::size_t j = 0; j < rows.columns; ++j) {
        const long double v = c.options.scale * rows.values[r * rows.columns + j];
        sum += v * v;
      }
      const long double bound = 16 * std::numeric_limits<T>::epsilon() * sum;
      for (std::size_t j = 0; j < rows.columns; ++j)
        if (!(std::abs(results[r * rows.columns + j] - sum) <= bound))
          return ::testing::AssertionFailure()
                 << "row " << r << ", column " << j << ": " << results[r * rows.columns + j]
                 << ", expected " << sum;
    }
    return y.gaps_are_unchanged() ? ::testing::AssertionSuccess()
                                  : ::testing::AssertionFailure() << "wrote beside y";
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Op, Seams, SeamConfigs<WithSquareSumOp>, SeamName);

}  // namespace
}  // namespace KokkosSoftmax::Test
