// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_OneDnn.hpp>
#include <stdexcept>
#if defined(KOKKOSSOFTMAXSWEEP_HAS_ONEDNN)
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace KokkosSoftmaxSweep {

#if defined(KOKKOSSOFTMAXSWEEP_HAS_ONEDNN)

namespace {

#if DNNL_VERSION_MAJOR >= 3
using Softmax = dnnl::softmax_forward;
#else
using Softmax = dnnl::softmax_v2_forward;
#endif

const dnnl::engine& processor() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::desc memory_of(const OneDnnProblem& problem) {
  return {problem.extents, dnnl::memory::data_type::f32, problem.strides};
}

Softmax::primitive_desc choose(const OneDnnProblem& problem) {
  const auto memory = memory_of(problem);
  const auto purpose = dnnl::prop_kind::forward_inference;
  const auto operation = problem.operation == OneDnnProblem::Operation::softmax
                             ? dnnl::algorithm::softmax_accurate
                             : dnnl::algorithm::softmax_log;
  try {
#if DNNL_VERSION_MAJOR >= 3
    return {processor(), purpose, operation, memory, memory, problem.axis};
#else
    return {Softmax::desc(purpose, operation, memory, memory, problem.axis), processor()};
#endif
  } catch (const dnnl::error& error) {
    throw std::invalid_argument(std::string("oneDNN doesn't support this: ") + error.what());
  }
}

/// Reference implementations are refused. They call functions per entry and take up to hundreds of
/// times as long as the others.
Softmax::primitive_desc describe(const OneDnnProblem& problem) {
  const Softmax::primitive_desc chosen = choose(problem);
  const std::string name = chosen.impl_info_str();
  if (name.rfind("ref", 0) == 0)
    throw std::invalid_argument("oneDNN has only a reference implementation for this (" + name +
                                ")");
  return chosen;
}

}  // namespace

std::string why_no_onednn() { return ""; }

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::function<void()> prepare_onednn(const OneDnnProblem& problem, const float* x, float* y) {
  const Softmax softmax(describe(problem));
  const auto memory = memory_of(problem);
  const dnnl::memory from(memory, processor(), const_cast<float*>(x)), to(memory, processor(), y);
  return [softmax, from, to, stream = dnnl::stream(processor())]() mutable {
    softmax.execute(stream, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    stream.wait();
  };
}

std::string onednn_choice(const OneDnnProblem& problem) {
  return "oneDNN " + onednn_version() + ", " + describe(problem).impl_info_str();
}

#else

std::string why_no_onednn() {
  return "this program was built without oneDNN (CMake found none for OpenMP, or the backend is "
         "not "
         "OpenMP): install it (Debian: libdnnl-dev) and configure again";
}

std::string onednn_version() { return ""; }

std::function<void()> prepare_onednn(const OneDnnProblem&, const float*, float*) {
  throw std::invalid_argument(why_no_onednn());
}

std::string onednn_choice(const OneDnnProblem&) { throw std::invalid_argument(why_no_onednn()); }

#endif

}  // namespace KokkosSoftmaxSweep
