// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_POINT_HPP
#define KOKKOSSOFTMAXTUNE_POINT_HPP

#include <backend/Schedule.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <sstream>
#include <string>

namespace KokkosSoftmaxTune {

using KokkosSoftmax::Algorithm;
using KokkosSoftmax::Impl::Operation;
using KokkosSoftmax::Impl::Schedule;

/// The problem for which schedules are compared: a matrix whose rows lie along `axis` (1:
/// contiguous rows).
struct Point {
  Operation operation = Operation::softmax;
  std::string types = "float";  ///< as tables name them
  int axis = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t elements() const { return rows * columns; }
  std::string name() const {
    return std::string(to_string(operation)) + "," + types + "," + std::to_string(axis) + "," +
           std::to_string(rows) + "," + std::to_string(columns);
  }
};

/// One thing to measure.
struct Job {
  Point point;
  int variant = 0;
  Schedule schedule;
  bool is_taken = false;  ///< whether the library takes it without the table that is searched for

  /// Its columns in the record.
  std::string key() const {
    std::ostringstream text;
    text << point.name() << ",\"" << schedule << "\"";
    return text.str();
  }
};

struct Measurement {
  enum class Status { right, wrong, failed };
  Status status = Status::failed;
  double seconds = 0;  ///< of one launch in the median batch, if the result was right
};

constexpr const char* to_string(Measurement::Status status) {
  switch (status) {
    case Measurement::Status::right:
      return "right";
    case Measurement::Status::wrong:
      return "wrong";
    case Measurement::Status::failed:
      return "failed";
  }
  return "unknown";
}

}  // namespace KokkosSoftmaxTune

#endif
