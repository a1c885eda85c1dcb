// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HPP

/// \file
/// The shapes that are compiled: one list per schedule. The first shape of a list that can serve a
/// problem is taken, so that lists run from small to large and from fast to general.

#include <backend/Device.hpp>
#include <dispatch/Shapes_Backward.hpp>
#include <dispatch/Shapes_Columns.hpp>
#include <dispatch/Shapes_General.hpp>
#include <dispatch/Shapes_Host.hpp>
#include <dispatch/Shapes_Limited.hpp>
#include <dispatch/Shapes_LongRows.hpp>
#include <dispatch/Shapes_Loss.hpp>
#include <dispatch/Shapes_Registers.hpp>
#include <dispatch/Shapes_Search.hpp>
#include <dispatch/Shapes_Weighted.hpp>
#include <row/LossSource.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The shapes for GPUs.
template <class Exec, class V>
struct Shapes : RegisterShapes<V>, LongRowShapes<Exec, V>, ColumnShapes<V> {};

/// Whether a host space has schedules besides that of the algorithm `host`. Only builds with tests
/// or benchmarks and without a GPU need them (KokkosSoftmax_HOST_GPU_SCHEDULES), and they need them
/// on one space.
template <class Exec>
inline constexpr bool host_has_gpu_schedules =
#if defined(KOKKOSSOFTMAX_NO_GPU_SCHEDULES_ON_HOSTS)
    false;
#else
    std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
#endif

/// The shapes of the kernels of a source, on GPUs and on hosts: as many as are worth their time to
/// compile for PlainSource, and fewer for sources that read more than x.
template <class Exec, class Source, class V = typename Source::Types>
struct ShapesOfSource {
  using OnGpus = Shapes<Exec, V>;
  using OnHosts = HostShapes<V>;
};
template <class Exec, class Source, class V>
requires(knows_rows<Source> && !has_weights<Source>) struct ShapesOfSource<Exec, Source, V> {
  using OnGpus = GeneralShapes<V>;
  using OnHosts = HostGeneralShapes<V>;
};
template <class Exec, class Source, class V>
requires has_weights<Source>
struct ShapesOfSource<Exec, Source, V> {
  using OnGpus = WeightedShapes<V>;
  using OnHosts = HostWeightedShapes<V>;
};
template <class Exec, class Source, class V>
requires has_two_inputs<Source>
struct ShapesOfSource<Exec, Source, V> {
  using OnGpus = BackwardShapes<V>;
  using OnHosts = HostBackwardShapes<V>;
};
template <class Exec, class Source, class V>
requires has_labels<Source>
struct ShapesOfSource<Exec, Source, V> {
  using OnGpus = LossShapes<V>;
  using OnHosts = HostLossShapes<V>;
};
template <class Exec, class Source, class V = typename Source::Types>
using ShapesOf = std::conditional_t<
    !is_host_space<Exec>, typename ShapesOfSource<Exec, Source>::OnGpus,
    std::conditional_t<host_has_gpu_schedules<Exec> && is_full_precision<V>,
                       typename ShapesOfSource<Exec, Source>::OnHosts, NoShapes>>;

}  // namespace KokkosSoftmax::Impl

#endif
