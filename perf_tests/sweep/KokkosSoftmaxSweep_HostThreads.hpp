// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_HOSTTHREADS_HPP
#define KOKKOSSOFTMAXSWEEP_HOSTTHREADS_HPP

#include <string>

namespace KokkosSoftmaxSweep {

/// Makes each OpenMP thread of a host stay on a processor, and makes threads sleep during long
/// waits. Settings that the user has made in the environment are kept.
///
/// Both matter if other programs run. By default, a thread that waits at the end of a kernel spins
/// for milliseconds. If the processor of another thread is taken, it spins until the end of its
/// slice of the scheduler, and each kernel takes such slices. So threads spin only for a moment
/// (GOMP_SPINCOUNT=1000 in the OpenMP of GCC, some tens of microseconds). This is longer than the
/// gap between two launches, so that a small kernel doesn't pay for waking threads, and far shorter
/// than a slice. But Linux tends to wake a thread on the processor of the thread that wakes it, and
/// the two then take turns on it. So each thread has a processor of its own (OMP_PROC_BIND=spread,
/// OMP_PLACES=threads).
///
/// OpenMP reads its environment before main(), so this function restarts the program. It does so
/// only on Linux, and only if Kokkos' default execution space is OpenMP. Call it first in main().
void set_up_host_threads(char** arguments);

/// The variables of these settings that are set, such as "OMP_PROC_BIND=spread OMP_PLACES=threads",
/// or "".
std::string host_thread_settings();

}  // namespace KokkosSoftmaxSweep

#endif
