// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_LadderSteps.hpp>

namespace KokkosSoftmaxSweep {

using Exec = Kokkos::DefaultExecutionSpace;
template Launch prepare_ladder_step(const std::string&, const Exec&, const Shape&, const double*,
                                    double*);

}  // namespace KokkosSoftmaxSweep
