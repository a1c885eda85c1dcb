// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_LadderSteps.hpp>

namespace KokkosSoftmaxSweep {

using Exec = Kokkos::DefaultExecutionSpace;
template Launch prepare_ladder_step(const std::string&, const Exec&, const Shape&, const float*,
                                    float*);

std::vector<std::string> ladder_step_names() {
  std::vector<std::string> names;
  for (const auto& step :
       KokkosSoftmaxLadder::steps<Exec, Matrix<Exec, const float>, Matrix<Exec, float>>())
    names.emplace_back(step.name);
  return names;
}

}  // namespace KokkosSoftmaxSweep
