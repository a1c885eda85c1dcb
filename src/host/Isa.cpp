// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
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

struct LastLevelCache {
  std::int64_t bytes;  // of each
  std::int64_t count;
};

/// The number of processors in a list like 0-7,96-103.
std::int64_t count_of_list(std::istream& list) {
  std::int64_t count = 0, first = 0, last = 0;
  while (list >> first) {
    last = first;
    if (list.peek() == '-') list.ignore() >> last;
    count += last - first + 1;
    if (list.peek() == ',') list.ignore();
  }
  return count;
}

/// More bytes of a last-level cache than a processor can use. A virtual machine can report the
/// whole cache, although it has few of the cores that share it. Intel's server processors have up
/// to 5 MiB per core, and AMD's with few cores per cache up to 32 MiB. (8 MiB made rows of 4 MiB
/// slower on a Xeon with 2 cores.)
std::int64_t most_bytes_per_processor() {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
#if defined(__x86_64__)
  if (__builtin_cpu_is("intel")) return 16 * mebibyte;
#endif
  return 32 * mebibyte;
}

/// The cache of the highest level that Linux reports for the first processor, in as many copies as
/// the processors need. Bytes of 0 if nothing is reported.
LastLevelCache cache_of_linux() {
  LastLevelCache cache{0, 1};
  int highest = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string directory =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    int level = 0;
    std::int64_t kilobytes = 0;
    std::ifstream(directory + "level") >> level;
    std::ifstream(directory + "size") >> kilobytes;
    std::ifstream list(directory + "shared_cpu_list");
    if (level <= highest || kilobytes == 0) continue;
    highest = level;
    const std::int64_t sharing = std::max<std::int64_t>(count_of_list(list), 1);
    const std::int64_t processors = sysconf(_SC_NPROCESSORS_ONLN);
    cache = {std::min(kilobytes << 10, sharing * most_bytes_per_processor()),
             std::max<std::int64_t>(processors / sharing, 1)};
  }
  return cache;
}

/// The C library may report all caches of a processor together, for one that has several, or of
/// the whole processor if a virtual machine has part of it. So Linux is asked first.
LastLevelCache last_level_cache() {
  if (const LastLevelCache cache = cache_of_linux(); cache.bytes > 0) return cache;
  constexpr std::int64_t if_unknown = std::int64_t{32} << 20;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const std::int64_t size = sysconf(level); size > 0) return {size, 1};
#endif
  return {if_unknown, 1};
}

}  // namespace

const HostIsa& host_isa() {
  static const HostIsa* const isa = [] {
    const char* name = std::getenv("KOKKOSSOFTMAX_ISA");
    return name == nullptr || *name == '\0' ? &fastest_isa() : &isa_of_environment(name);
  }();
  return *isa;
}

std::int64_t last_level_cache_bytes(std::int64_t threads) {
  static const LastLevelCache cache = last_level_cache();
  return cache.bytes * std::clamp<std::int64_t>(threads, 1, cache.count);
}

}  // namespace KokkosSoftmax::Impl
