// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source of the tests' own through every schedule.

#include <seams/ColumnSource.hpp>
#include <seams/SeamTests.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// The library's operations with ColumnSource.
struct WithColumnSource {
  static constexpr const char* name = "ColumnSource";
  template <class V>
  using Source = ColumnSource<V>;
  template <class V>
  using FirstOp = OpList<SoftmaxOp<V>>;
  template <class V>
  using AllOps = OpList<SoftmaxOp<V>, LogSumExpOp<V>>;

  template <class T, class Exec>
  static ::testing::AssertionResult check(const Case& c, const Rows<T>& rows,
                                          const Field<T, Exec>& y) {
    Rows<T> values = rows;
    for (std::size_t i = 0; i < values.values.size(); ++i)
      values.values[i] =
          static_cast<T>(c.options.scale) * rows.values[i] + static_cast<T>(i % rows.columns);
    return check_output(c, values, reference(values, 1), y);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Source, Seams, SeamConfigs<WithColumnSource>, SeamName);

}  // namespace
}  // namespace KokkosSoftmax::Test
