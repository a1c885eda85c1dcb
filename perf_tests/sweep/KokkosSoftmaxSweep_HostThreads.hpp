// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_HOSTTHREADS_HPP
#define KOKKOSSOFTMAXSWEEP_HOSTTHREADS_HPP

#include <string>

namespace KokkosSoftmaxSweep {

/// Has the OpenMP threads of a host each stay on a processor, and sleep when they wait for long.
/// What the user has set in the environment stays as it is.
///
/// Both matter where other programs run. By default a thread that waits at the end of a kernel
/// spins for milliseconds. If the processor of the other thread is taken, it spins until the end of
/// its slice of the scheduler, and each kernel takes such slices. So threads spin for a moment only
/// (GOMP_SPINCOUNT=1000, some tens of microseconds, of the OpenMP of GCC): longer than the gap
/// between two launches, so that a small kernel doesn't pay for waking threads, and far shorter
/// than a slice. But Linux likes to wake a thread on the processor of the thread that wakes it, on
/// which they take turns; hence a processor for each (OMP_PROC_BIND=spread, OMP_PLACES=threads).
///
/// OpenMP reads its environment before main(): this starts the program afresh. Does so only if
/// Kokkos' default execution space is OpenMP, and on Linux. Call it first in main().
void set_up_host_threads(char** arguments);

/// The variables for that which are set, such as "OMP_PROC_BIND=spread OMP_PLACES=threads", or "".
std::string host_thread_settings();

}  // namespace KokkosSoftmaxSweep

#endif
