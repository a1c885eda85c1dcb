// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <cstdlib>
#include <host/Isa.hpp>
#include <stdexcept>
#include <string>

namespace KokkosSoftmax::Impl {
namespace {

const HostIsa& fastest_isa() {
  for (const HostIsa& isa : compiled_isas())
    if (isa.runs_here()) return isa;
  return compiled_isas().back();
}

const HostIsa& isa_of_environment(std::string_view name) {
  std::string names;
  for (const HostIsa& isa : compiled_isas()) {
    names += (names.empty() ? "" : ", ") + std::string(isa.name);
    if (isa.name != name) continue;
    if (isa.runs_here()) return isa;
    throw std::invalid_argument("KokkosSoftmax: KOKKOSSOFTMAX_ISA=" + std::string(name) +
                                " doesn't run here (this processor lacks its instructions): unset "
                                "it, or give a smaller instruction set");
  }
  throw std::invalid_argument("KokkosSoftmax: KOKKOSSOFTMAX_ISA=" + std::string(name) +
                              " is unknown (this library is compiled for " + names +
                              "): give one of these, or unset it");
}

}  // namespace

const HostIsa& host_isa() {
  static const HostIsa& isa = [&]() -> const HostIsa& {
    const char* name = std::getenv("KOKKOSSOFTMAX_ISA");
    return name == nullptr || *name == '\0' ? fastest_isa() : isa_of_environment(name);
  }();
  return isa;
}

std::int64_t last_level_cache_bytes() {
  static const std::int64_t bytes = [] {
    constexpr std::int64_t if_unknown = std::int64_t{32} << 20;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
      if (const std::int64_t size = sysconf(level); size > 0) return size;
#endif
    return if_unknown;
  }();
  return bytes;
}

}  // namespace KokkosSoftmax::Impl
