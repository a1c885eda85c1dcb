// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

namespace Tools = Kokkos::Tools::Experimental;

Events* current = nullptr;  // global, because the callbacks are functions without state

void begin_kernel(const char* label, std::uint32_t device, std::uint64_t*) {
  current->kernels.push_back({label, device});
}

void push_region(const char* label) { current->regions.push_back(label); }

void begin_fence(const char* label, std::uint32_t, std::uint64_t*) {
  // Not fences of the library: Kokkos fences before each callback so that tools get correct times,
  // and Kokkos::Threads fences in each launch.
  const std::string name = label;
  if (name.find("Tool Fence") != std::string::npos) return;
  if (name.find("Kokkos::ThreadsInternal::fence") != std::string::npos) return;
  current->fences.push_back(name);
}

void allocate(Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t bytes) {
  // On CUDA, Kokkos 4 reports an allocation of 0 bytes of level-1 scratch at each launch of a team
  // kernel.
  if (bytes > 0) current->allocations.push_back(label);
}

void begin_copy(Kokkos_Profiling_SpaceHandle, const char* to, const void*,
                Kokkos_Profiling_SpaceHandle, const char* from, const void*, std::uint64_t) {
  current->copies.push_back(std::string(from) + " to " + to);
}

}  // namespace

Recorder::Recorder(Events& events) : m_before(Tools::get_callbacks()) {
  current = &events;
  Tools::set_begin_parallel_for_callback(begin_kernel);
  Tools::set_begin_parallel_reduce_callback(begin_kernel);
  Tools::set_begin_parallel_scan_callback(begin_kernel);
  Tools::set_push_region_callback(push_region);
  Tools::set_begin_fence_callback(begin_fence);
  Tools::set_allocate_data_callback(allocate);
  Tools::set_begin_deep_copy_callback(begin_copy);
}

Recorder::~Recorder() {
  Tools::set_callbacks(m_before);
  current = nullptr;
}

}  // namespace KokkosSoftmax::Test
