// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_H
#define KOKKOSSOFTMAX_H

/// \file
/// C interface, for callers in C, Fortran, Python (ctypes) and other languages without Kokkos. C99
/// or C++; docs/c_interface.md has examples.
///
/// \code
///   kokkossoftmax_initialize();
///   int64_t extents[2] = {rows, columns};
///   kokkossoftmax_tensor tx = {x, KOKKOSSOFTMAX_FLOAT, 2, extents, NULL};
///   kokkossoftmax_tensor ty = {y, KOKKOSSOFTMAX_FLOAT, 2, extents, NULL};
///   if (kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_DEVICE, NULL, &tx, &ty, NULL) ||
///       kokkossoftmax_fence(KOKKOSSOFTMAX_DEVICE, NULL))
///     fprintf(stderr, "%s\n", kokkossoftmax_last_error());
/// \endcode
///
/// Functions that can fail return a kokkossoftmax_status, 0 for success, and leave a message for
/// kokkossoftmax_last_error(). No C++ exception leaves them. All may be called from any thread.
/// Parameters and members that take a value of an enumeration are int.

#include <impl/KokkosSoftmax_Export.h>
#include <stddef.h>
#include <stdint.h>

/// \defgroup c_interface C interface
/// softmax, log_softmax and logsumexp of arrays, for callers without Kokkos. What they have in
/// common is said in kokkossoftmax.h; docs/c_interface.md has examples in C, Fortran and Python.
/// \{

#ifdef __cplusplus
extern "C" {
#endif

/// What a call came to.
typedef enum kokkossoftmax_status {
  KOKKOSSOFTMAX_SUCCESS = 0,           ///< done, or enqueued
  KOKKOSSOFTMAX_INVALID_ARGUMENT = 1,  ///< nothing was enqueued and nothing is written
  KOKKOSSOFTMAX_UNSUPPORTED = 2,       ///< value types without kernels; nothing was enqueued
  KOKKOSSOFTMAX_NOT_INITIALIZED = 3,   ///< Kokkos isn't initialized, or is finalized
  KOKKOSSOFTMAX_FAILURE = 4            ///< an error of Kokkos, the GPU's runtime or the system
} kokkossoftmax_status;

/// What kokkossoftmax_apply() computes.
typedef enum kokkossoftmax_operation {
  KOKKOSSOFTMAX_SOFTMAX = 0,      ///< y_j = exp(v_j - max v) / sum_k exp(v_k - max v)
  KOKKOSSOFTMAX_LOG_SOFTMAX = 1,  ///< y_j = v_j - log(sum_k exp(v_k))
  KOKKOSSOFTMAX_LOGSUMEXP = 2     ///< y = log(sum_k exp(v_k)); in all of them v = scale * x
} kokkossoftmax_operation;

/// Value types. Which pairs of them x and y can have: equal ones, and HALF or BFLOAT16 with y
/// FLOAT; HALF and BFLOAT16 where Kokkos has them, with a GPU backend. Any other pair gives
/// KOKKOSSOFTMAX_UNSUPPORTED.
typedef enum kokkossoftmax_type {
  KOKKOSSOFTMAX_FLOAT = 0,    ///< 32 bits
  KOKKOSSOFTMAX_DOUBLE = 1,   ///< 64 bits
  KOKKOSSOFTMAX_HALF = 2,     ///< IEEE 754 binary16
  KOKKOSSOFTMAX_BFLOAT16 = 3  ///< the upper half of a FLOAT
} kokkossoftmax_type;

/// Where the work is done and where x and y are.
typedef enum kokkossoftmax_space {
  KOKKOSSOFTMAX_DEVICE = 0,  ///< Kokkos::DefaultExecutionSpace: the GPU where Kokkos has one
  KOKKOSSOFTMAX_HOST = 1     ///< Kokkos::DefaultHostExecutionSpace
} kokkossoftmax_space;

/// What a row whose every entry is -inf gives.
typedef enum kokkossoftmax_empty_rows {
  KOKKOSSOFTMAX_EMPTY_ROWS_NAN = 0,  ///< NaN, as SciPy and PyTorch
  KOKKOSSOFTMAX_EMPTY_ROWS_ZERO = 1  ///< softmax 0 and log_softmax -inf in the whole row
} kokkossoftmax_empty_rows;

/// How the rows are computed; all but AUTOMATIC force one way, and are an error for a shape that it
/// can't serve. As KokkosSoftmax::Algorithm.
typedef enum kokkossoftmax_algorithm {
  KOKKOSSOFTMAX_ALGORITHM_AUTOMATIC = 0,        ///< the library's choice; serves every shape
  KOKKOSSOFTMAX_ALGORITHM_PACKED = 1,           ///< short rows through scratch, a row in each lane
  KOKKOSSOFTMAX_ALGORITHM_SUBGROUP = 2,         ///< several rows a team, a row in a vector's lanes
  KOKKOSSOFTMAX_ALGORITHM_FUSED_REGISTERS = 3,  ///< a row in the registers of a team
  KOKKOSSOFTMAX_ALGORITHM_FUSED_SCRATCH = 4,    ///< the same and the team's scratch memory
  KOKKOSSOFTMAX_ALGORITHM_ONLINE = 5,           ///< chunks with rescaling of (max, sum)
  KOKKOSSOFTMAX_ALGORITHM_SPLIT = 6,            ///< a row over many teams, in their registers
  KOKKOSSOFTMAX_ALGORITHM_SPLIT_ONLINE = 7,     ///< a row over many teams, in chunks
  KOKKOSSOFTMAX_ALGORITHM_CLUSTER = 8,          ///< a row over a cluster of thread blocks, on CUDA
  KOKKOSSOFTMAX_ALGORITHM_COLUMN = 9,           ///< along a strided axis
  KOKKOSSOFTMAX_ALGORITHM_SPLIT_COLUMN = 10,    ///< the same, with the columns over many teams
  KOKKOSSOFTMAX_ALGORITHM_HOST = 11             ///< threads over rows, on host execution spaces
} kokkossoftmax_algorithm;

/// The largest rank of x.
#define KOKKOSSOFTMAX_MAX_RANK 4

/// An array in the caller's memory; it is only looked at during the call that gets it, its data
/// until the work is done.
typedef struct kokkossoftmax_tensor {
  /// The first element, at a multiple of its size; may be anything if an extent is 0. x isn't
  /// written.
  void* data;
  int type;                ///< kokkossoftmax_type
  int rank;                ///< 1 to KOKKOSSOFTMAX_MAX_RANK; of a single logsumexp 0
  const int64_t* extents;  ///< `rank` numbers of elements, not negative
  /// `rank` distances between neighbours along an axis, in elements (not bytes), not negative; an x
  /// may have 0. NULL: elements follow one another, last axis fastest (the order of C).
  const int64_t* strides;
} kokkossoftmax_tensor;

/// Call kokkossoftmax_options_init() first, then set members by name. Later versions may append
/// members, whose default is 0; `size` says which of them the caller has.
typedef struct kokkossoftmax_options {
  size_t size;       ///< of this struct in the caller's header; set by kokkossoftmax_options_init()
  double scale;      ///< the function is applied to scale * x; finite; default 1
  int axis;          ///< what is reduced, -rank to rank - 1; default -1, the last
  int empty_rows;    ///< kokkossoftmax_empty_rows; default NAN
  int algorithm;     ///< kokkossoftmax_algorithm; default AUTOMATIC
  int reproducible;  ///< not 0: the same bits for a row whatever stands beside it; default 0
} kokkossoftmax_options;

/// Sets the defaults, for callers that can't include this header (Fortran, ctypes). In C and C++
/// use kokkossoftmax_options_init(), which gives the size itself.
///
/// \param options  what is set; NULL is an error
/// \param size     the size of the caller's kokkossoftmax_options in bytes. No byte beyond it is
///                 written, and bytes of members that the library doesn't know are set to 0.
/// \return kokkossoftmax_status; KOKKOSSOFTMAX_INVALID_ARGUMENT for a size that no version has
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_options_init_sized(kokkossoftmax_options* options,
                                                          size_t size);

/// Sets the size and the defaults.
///
/// \param options  what is set; NULL is an error
/// \return kokkossoftmax_status
static inline int kokkossoftmax_options_init(kokkossoftmax_options* options) {
  return kokkossoftmax_options_init_sized(options, sizeof(kokkossoftmax_options));
}

/// The version of the library, which may be another than that of the header.
///
/// \return for example "0.1.0"
KOKKOSSOFTMAX_EXPORT const char* kokkossoftmax_version(void);

/// What the last call that failed in this thread says is wrong, why, and what to do.
///
/// \return the message, "" if no call has failed; it stays until the next call in this thread that
///         fails
KOKKOSSOFTMAX_EXPORT const char* kokkossoftmax_last_error(void);

/// Initializes Kokkos, for callers that have none. Where Kokkos is initialized, by this function or
/// by the application, it does nothing but count its calls for kokkossoftmax_finalize(). Kokkos
/// takes its settings from the environment (KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, ...), and can be
/// initialized only once in a process.
///
/// \return kokkossoftmax_status
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_initialize(void);

/// To be called once for each successful kokkossoftmax_initialize(). The last of these calls
/// finalizes Kokkos if it was kokkossoftmax_initialize() that initialized it.
///
/// \return kokkossoftmax_status
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_finalize(void);

/// Whether Kokkos is initialized, by whomever.
///
/// \return 1 or 0
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_is_initialized(void);

/// The name that Kokkos gives to a space.
///
/// \param space  kokkossoftmax_space
/// \return for example "Cuda" or "OpenMP"; NULL for an unknown one
KOKKOSSOFTMAX_EXPORT const char* kokkossoftmax_space_name(int space);

/// Enqueues an operation along an axis of x. Without fence: y is complete once the work on `stream`
/// is (kokkossoftmax_fence()), and x and y must stay until then.
///
/// \param operation  kokkossoftmax_operation
/// \param space      kokkossoftmax_space; x and y must be in memory that it can access
/// \param stream     a cudaStream_t or hipStream_t where the space is CUDA or HIP; NULL: Kokkos'
///                   default instance, whose stream waits for CUDA's legacy default stream and is
///                   waited for by it. CUDA's and HIP's own default streams have the handle 0 too
///                   and are given as NULL or, themselves, as cudaStreamLegacy and
///                   cudaStreamPerThread. Other spaces take NULL only.
/// \param x          rank 1 to KOKKOSSOFTMAX_MAX_RANK
/// \param y          of the extents of x; for logsumexp of its extents without the axis. May be x
///                   itself (same data, same strides) except for logsumexp, and may not overlap it
///                   in any other way
/// \param options    NULL: the defaults. Of those that kokkossoftmax_options_init() hasn't
///                   initialized the size is wrong, which is an error; so is a member of a later
///                   version that this library doesn't know, unless it is 0
/// \return kokkossoftmax_status; where it is not 0 nothing was enqueued, but after
///         KOKKOSSOFTMAX_FAILURE the data of y are undefined
///
/// The first call with a stream makes a Kokkos instance of it, which takes a millisecond or so and
/// waits for the GPU; the instance is kept. So it can't be the first call if the stream is being
/// captured into a graph: call kokkossoftmax_fence() with the stream before (docs/graphs.md). Call
/// kokkossoftmax_release_stream() before you destroy the stream.
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_apply(int operation, int space, void* stream,
                                             const kokkossoftmax_tensor* x,
                                             const kokkossoftmax_tensor* y,
                                             const kokkossoftmax_options* options);

/// Waits until all work enqueued with this space and stream is done.
///
/// \param space   kokkossoftmax_space
/// \param stream  as for kokkossoftmax_apply()
/// \return kokkossoftmax_status
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_fence(int space, void* stream);

/// Waits for the work on the stream and gives back what is kept for it: the execution space
/// instance, and the workspaces for rows that were split over teams. The stream itself stays. Does
/// nothing for a stream that no call got. What is left is given back when Kokkos finalizes.
///
/// \param space   kokkossoftmax_space
/// \param stream  as for kokkossoftmax_apply()
/// \return kokkossoftmax_status
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_release_stream(int space, void* stream);

/// \}

#ifdef __cplusplus
}
#endif

#endif
