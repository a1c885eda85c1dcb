// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_TILESEGMENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_TILESEGMENT_HPP

#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <row/TileOf.hpp>
#include <schedules/cluster/StagedInputs.hpp>

namespace KokkosSoftmax::Impl {

/// How a team reads what belongs to its tile besides x.
template <class Source, class Tile>
using InputsOfTile = std::conditional_t<stages_biases<Source>, StagedInputs<Source, Tile>,
                                        InputsInRegisters<Source, Tile>>;

/// A segment of a row, like AsyncSegment, for sources that read more than x. x is in registers, and
/// biases pass through scratch memory.
template <class Exec, class Op, class Source, class Shape,
          class Inputs_ = InputsOfTile<Source, TeamTile<Source, Shape>>>
class TileSegment {
 public:
  using Inputs = Inputs_;
  using V = typename Source::Types;
  using T = typename V::Compute;
  using State = typename Op::State;
  using RowTile = TeamTile<Source, Shape>;
  using Row = typename RowTile::Row;
  static_assert(Op::writes_entries, "nothing would have to be held");

  static constexpr double comfortable_part = 1;
  static constexpr double roomy_part = 1;

  KOKKOS_FORCEINLINE_FUNCTION TileSegment(char* scratch, std::int64_t /*chunks*/)
      : m_inputs(scratch) {}

  KOKKOS_FORCEINLINE_FUNCTION Inputs& inputs() { return m_inputs; }

  /// Reads the chunks from number `begin` to the end of the row. Returns this lane's state.
  /// `then` is called when they have been read.
  template <class Then>
  KOKKOS_FORCEINLINE_FUNCTION State load(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id, const Then& then) {
    m_inputs.load(m_tile, arguments, row, begin, thread_id);
    then();
    return with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      OnlineSum<typename Output::Exp, State> sum;
      sum.template start<Output::keeps_exponentials>(m_tile);
      m_reference = sum.reference();
      return sum.state();
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION State load(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id) {
    return load(arguments, row, begin, thread_id, [] {});
  }

  /// Writes the output of the same chunks. `all` is the state of the row.
  KOKKOS_FORCEINLINE_FUNCTION void store(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id, const State& all) {
    store_output<Op>(m_tile, arguments, row, begin, thread_id, all,
                     rescale_factor(m_reference, reference_of_state(all)));
  }

  static std::size_t scratch_bytes(const ArgumentsOf<Source>& arguments) {
    return Inputs::scratch_bytes(arguments);
  }

  /// The largest number of chunks of a segment.
  static std::int64_t most_chunks(std::size_t /*scratch*/) { return RowTile::chunks; }

 private:
  Inputs m_inputs;
  RowTile m_tile;
  T m_reference;
};

}  // namespace KokkosSoftmax::Impl

#endif
