// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_H
#define KOKKOSSOFTMAX_H

/// \file
/// The C interface, for callers in C, Fortran, Python (ctypes) and other languages without Kokkos.
/// This header can be included in C99 and C++. Examples are in docs/c_interface.md.
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
/// A function that can fail returns a kokkossoftmax_status: 0 for success, any other value for an
/// error, whose message kokkossoftmax_last_error() returns. No function throws a C++ exception. All
/// functions can be called from any thread. Parameters and members that hold a value of an
/// enumeration have the type int.

#include <impl/KokkosSoftmax_Export.h>
#include <stddef.h>
#include <stdint.h>

/// \defgroup c_interface C interface
/// softmax, log_softmax and logsumexp of arrays and of ragged rows, logsumexp along both axes, the
/// cross entropy, and backward passes, for callers without Kokkos. The conventions that all
/// functions share are described in kokkossoftmax.h. Examples in C, Fortran and Python are in
/// docs/c_interface.md.
/// \{

#ifdef __cplusplus
extern "C" {
#endif

/// The status that a call returns.
typedef enum kokkossoftmax_status {
  KOKKOSSOFTMAX_SUCCESS = 0,           ///< the work is done or enqueued
  KOKKOSSOFTMAX_INVALID_ARGUMENT = 1,  ///< wrong argument; nothing was enqueued or written
  KOKKOSSOFTMAX_UNSUPPORTED = 2,       ///< no kernels for these value types; nothing was enqueued
  KOKKOSSOFTMAX_NOT_INITIALIZED = 3,   ///< Kokkos is not initialized, or is finalized already
  KOKKOSSOFTMAX_FAILURE = 4            ///< error of Kokkos, of the GPU runtime or of the system
} kokkossoftmax_status;

/// The operation that kokkossoftmax_apply() computes for each row, with v = scale * x.
typedef enum kokkossoftmax_operation {
  KOKKOSSOFTMAX_SOFTMAX = 0,      ///< y_j = exp(v_j - max v) / sum_k exp(v_k - max v)
  KOKKOSSOFTMAX_LOG_SOFTMAX = 1,  ///< y_j = v_j - log(sum_k exp(v_k))
  KOKKOSSOFTMAX_LOGSUMEXP = 2     ///< y = log(sum_k exp(v_k))
} kokkossoftmax_operation;

/// Value types. x and y must have the same type, or x is HALF or BFLOAT16 and y is FLOAT. HALF and
/// BFLOAT16 are available if Kokkos has a GPU backend that provides them. Any other pair of types
/// gives KOKKOSSOFTMAX_UNSUPPORTED.
typedef enum kokkossoftmax_type {
  KOKKOSSOFTMAX_FLOAT = 0,     ///< 32 bits
  KOKKOSSOFTMAX_DOUBLE = 1,    ///< 64 bits
  KOKKOSSOFTMAX_HALF = 2,      ///< IEEE 754 binary16
  KOKKOSSOFTMAX_BFLOAT16 = 3,  ///< bfloat16, the upper 16 bits of a FLOAT
  KOKKOSSOFTMAX_BOOL = 4,      ///< one byte; 0 is false (for masks)
  KOKKOSSOFTMAX_INT32 = 5,     ///< int32_t (for lengths, labels and offsets)
  KOKKOSSOFTMAX_INT64 = 6      ///< int64_t (for lengths, labels and offsets)
} kokkossoftmax_type;

/// The execution space that does the work; x and y must be in memory that it can access.
typedef enum kokkossoftmax_space {
  KOKKOSSOFTMAX_DEVICE = 0,  ///< Kokkos::DefaultExecutionSpace: the GPU if Kokkos has a GPU backend
  KOKKOSSOFTMAX_HOST = 1     ///< Kokkos::DefaultHostExecutionSpace
} kokkossoftmax_space;

/// The result of softmax and log_softmax for a row in which every entry is -inf.
typedef enum kokkossoftmax_empty_rows {
  KOKKOSSOFTMAX_EMPTY_ROWS_NAN = 0,  ///< NaN in the whole row, as in SciPy and PyTorch
  KOKKOSSOFTMAX_EMPTY_ROWS_ZERO = 1  ///< 0 (softmax) or -inf (log_softmax) in the whole row
} kokkossoftmax_empty_rows;

/// The algorithm that computes the rows, with the values of KokkosSoftmax::Algorithm. Any value
/// except AUTOMATIC forces that algorithm, and the call fails if the algorithm can't compute the
/// shape.
typedef enum kokkossoftmax_algorithm {
  KOKKOSSOFTMAX_ALGORITHM_AUTOMATIC = 0,        ///< chosen by the library; computes every shape
  KOKKOSSOFTMAX_ALGORITHM_PACKED = 1,           ///< short rows staged in scratch, one row per lane
  KOKKOSSOFTMAX_ALGORITHM_SUBGROUP = 2,         ///< several rows per team, one per vector of lanes
  KOKKOSSOFTMAX_ALGORITHM_FUSED_REGISTERS = 3,  ///< a row in the registers of one team
  KOKKOSSOFTMAX_ALGORITHM_FUSED_SCRATCH = 4,    ///< a row in the registers and scratch of one team
  KOKKOSSOFTMAX_ALGORITHM_ONLINE = 5,           ///< tile by tile, with rescaling of (max, sum)
  KOKKOSSOFTMAX_ALGORITHM_SPLIT = 6,          ///< a row in the registers and scratch of many teams
  KOKKOSSOFTMAX_ALGORITHM_SPLIT_ONLINE = 7,   ///< a row split over many teams, tile by tile
  KOKKOSSOFTMAX_ALGORITHM_CLUSTER = 8,        ///< a row in a thread block cluster, on CUDA
  KOKKOSSOFTMAX_ALGORITHM_COLUMN = 9,         ///< rows along a strided axis
  KOKKOSSOFTMAX_ALGORITHM_SPLIT_COLUMN = 10,  ///< strided rows, each split over many teams
  KOKKOSSOFTMAX_ALGORITHM_HOST = 11,          ///< rows over threads, on host execution spaces
  KOKKOSSOFTMAX_ALGORITHM_CLUSTER_COLUMN = 12,  ///< strided rows in a thread block cluster, on CUDA
  KOKKOSSOFTMAX_ALGORITHM_TWO_PASS_COLUMN = 13  ///< strided rows, reduced and then written
} kokkossoftmax_algorithm;

/// The largest rank of an array.
#define KOKKOSSOFTMAX_MAX_RANK 8

/// The description of an array in the caller's memory. The struct, the extents and the strides are
/// read only during the call. The data must exist until the enqueued work is done.
typedef struct kokkossoftmax_tensor {
  /// The address of the first element, a multiple of the size of an element. It can have any value
  /// if an extent is 0. The data of x are not written.
  void* data;
  int type;  ///< kokkossoftmax_type
  int rank;  ///< 1 to KOKKOSSOFTMAX_MAX_RANK; 0 for one number per row if all axes of x are
             ///< reduced, and for operands that are broadcast
  const int64_t* extents;  ///< `rank` numbers of elements, not negative
  /// `rank` distances between neighbours along an axis, in elements (not bytes), not negative. A
  /// stride of x can be 0. NULL means that the array is contiguous with the last axis fastest (the
  /// order of C).
  const int64_t* strides;
} kokkossoftmax_tensor;

/// The options of a call. Call kokkossoftmax_options_init() first, then set members by name. Later
/// versions of the library can append members with the default 0. The library uses `size` to find
/// out which members the caller's header has.
typedef struct kokkossoftmax_options {
  size_t size;       ///< bytes of this struct in the caller's header; kokkossoftmax_options_init()
                     ///< sets it
  double scale;      ///< the function is applied to scale * x; must be finite; default 1
  int axis;          ///< the axis that is reduced, -rank to rank - 1; default -1, the last axis
  int empty_rows;    ///< kokkossoftmax_empty_rows; default NAN
  int algorithm;     ///< kokkossoftmax_algorithm; default AUTOMATIC
  int reproducible;  ///< if not 0, the bits of a row's result depend on the row alone; default 0
  /// `axis_count` axes that are reduced together, -rank to rank - 1, in any order. In each array
  /// they must merge to one: one stride must lead from entry to entry of a row. `axis` must keep
  /// its default then. NULL (the default): the axis is that of `axis`.
  const int* axes;
  int axis_count;  ///< 1 to KOKKOSSOFTMAX_MAX_RANK; 0, the default, if axes is NULL
  int reserved;    ///< must be 0; default 0
} kokkossoftmax_options;

/// A mask by position: the row with index i along an axis takes part with its columns j <= i +
/// offset.
typedef struct kokkossoftmax_causal {
  int64_t offset;  ///< any number
  int has_axis;    ///< 0: the axis is the last one that isn't the axis of the options
  int axis;        ///< if has_axis isn't 0: -rank to rank - 1
} kokkossoftmax_causal;

/// What a call has besides x and y, see kokkossoftmax_apply_with(). Later versions of the library
/// can append members; a member that is NULL has no effect. The library uses `size` to find out
/// which members the caller's header has, so set all members by name, or the struct to zero first.
typedef struct kokkossoftmax_operands {
  size_t size;  ///< sizeof(kokkossoftmax_operands)
  /// The log-sum-exp of each row, with the extents of x without the reduced axes, of type DOUBLE if
  /// x is DOUBLE, otherwise FLOAT. One stride must lead from row to row, in the order in which the
  /// rows lie in x. -inf for a row in which every value is -inf, NaN for a row with a NaN or +inf.
  /// NULL if it isn't needed. It must not overlap x, y or another operand.
  const kokkossoftmax_tensor* lse;
  /// The maximum of each row, with the same extents and type as lse and the same rules on strides
  /// and overlap. -inf for a row in which every value is -inf, +inf for a row with +inf, NaN for a
  /// row with a NaN and without +inf. NULL if it isn't needed.
  const kokkossoftmax_tensor* max;
  /// What is added to scale * x, of the type of x, or FLOAT if x is HALF or BFLOAT16. This tensor
  /// and the next two can have fewer elements than x: as in NumPy, their axes are aligned with the
  /// last axes of x, and an axis of extent 1 (or a missing one) is broadcast. Strides can be 0.
  /// They must not overlap what is written.
  const kokkossoftmax_tensor* bias;
  /// Which entries take part, of type BOOL. The others count for nothing, even if they are NaN or
  /// infinite, and their y is 0 (log_softmax: -inf).
  const kokkossoftmax_tensor* mask;
  /// How many columns of each row take part, from the first one on, of type INT32 or INT64,
  /// broadcast to x without the axis.
  const kokkossoftmax_tensor* lengths;
  /// Which columns take part by the index of the row.
  const kokkossoftmax_causal* causal;
  /// What is added to all entries of a row, of type DOUBLE if x is DOUBLE, otherwise FLOAT,
  /// broadcast to x without the axis.
  const kokkossoftmax_tensor* row_bias;
  /// Only for KOKKOSSOFTMAX_LOGSUMEXP: what the exponentials are multiplied by before they are
  /// added, of the type of x, or FLOAT if x is HALF or BFLOAT16, broadcast to x. The result is the
  /// logarithm of the absolute value of the sum. An entry with the weight 0 counts for nothing.
  const kokkossoftmax_tensor* weights;
  /// Only with weights: the sign of the sum (1, 0, -1 or NaN), with the type, the extents and the
  /// strides of the result. It is written. Without it, the result is NaN where the sum is negative.
  const kokkossoftmax_tensor* sign;
  int scale_biases;  ///< if not 0, bias and row_bias are multiplied by the scale, as x is; default
                     ///< 0
  int reserved;      ///< must be 0; default 0
} kokkossoftmax_operands;

/// Sets the size and the defaults, for callers that can't include this header (Fortran, ctypes). In
/// C and C++ use kokkossoftmax_options_init(), which passes the size itself.
///
/// \param options  the options to set; NULL is an error
/// \param size     the size of the caller's kokkossoftmax_options in bytes. No byte beyond it is
///                 written. The bytes of members that the library doesn't know are set to 0.
/// \return kokkossoftmax_status; KOKKOSSOFTMAX_INVALID_ARGUMENT if options is NULL or if no version
///         of the struct can have this size
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_options_init_sized(kokkossoftmax_options* options,
                                                          size_t size);

/// Sets the size and the defaults.
///
/// \param options  the options to set; NULL is an error
/// \return kokkossoftmax_status
static inline int kokkossoftmax_options_init(kokkossoftmax_options* options) {
  return kokkossoftmax_options_init_sized(options, sizeof(kokkossoftmax_options));
}

/// The options of kokkossoftmax_cross_entropy() and kokkossoftmax_cross_entropy_backward(). Call
/// kokkossoftmax_cross_entropy_options_init() first, then set members by name. Later versions of
/// the library can append members, as to kokkossoftmax_options.
typedef struct kokkossoftmax_cross_entropy_options {
  size_t size;             ///< bytes of this struct in the caller's header;
                           ///< kokkossoftmax_cross_entropy_options_init() sets it
  double scale;            ///< the function is applied to scale * x; must be finite; default 1
  double label_smoothing;  ///< the part of the probability that is spread evenly over all classes,
                           ///< 0 to 1; default 0
  int64_t ignore_index;    ///< the label of rows that count for nothing; default -100
  int axis;          ///< the axis of the classes, -rank to rank - 1; default -1, the last axis
  int algorithm;     ///< kokkossoftmax_algorithm; default AUTOMATIC
  int reproducible;  ///< if not 0, the bits of a row's result depend on the row alone; default 0
  int reserved;      ///< must be 0; default 0
} kokkossoftmax_cross_entropy_options;

/// Sets the size and the defaults, as kokkossoftmax_options_init_sized().
///
/// \param options  the options to set; NULL is an error
/// \param size     the size of the caller's kokkossoftmax_cross_entropy_options in bytes
/// \return kokkossoftmax_status, as kokkossoftmax_options_init_sized()
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_cross_entropy_options_init_sized(
    kokkossoftmax_cross_entropy_options* options, size_t size);

/// Sets the size and the defaults.
///
/// \param options  the options to set; NULL is an error
/// \return kokkossoftmax_status
static inline int kokkossoftmax_cross_entropy_options_init(
    kokkossoftmax_cross_entropy_options* options) {
  return kokkossoftmax_cross_entropy_options_init_sized(
      options, sizeof(kokkossoftmax_cross_entropy_options));
}

/// Returns the version of the library, which can differ from the version of the header.
///
/// \return for example "0.1.0"
KOKKOSSOFTMAX_EXPORT const char* kokkossoftmax_version(void);

/// Returns the message of the last call that failed in this thread: the problem, its reason and a
/// suggestion.
///
/// \return the message, or "" if no call has failed. The text remains valid until the next call in
///         this thread that fails
KOKKOSSOFTMAX_EXPORT const char* kokkossoftmax_last_error(void);

/// Initializes Kokkos, for callers that do not use Kokkos themselves. If Kokkos is initialized
/// already, by this function or by the application, the call is only counted for
/// kokkossoftmax_finalize(). Kokkos reads its settings from environment variables
/// (KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, ...). Kokkos can be initialized only once in a process.
///
/// \return kokkossoftmax_status; KOKKOSSOFTMAX_NOT_INITIALIZED if Kokkos is finalized already
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_initialize(void);

/// Must be called once for each successful call of kokkossoftmax_initialize(). The last of these
/// calls finalizes Kokkos if kokkossoftmax_initialize() has initialized it.
///
/// \return kokkossoftmax_status; KOKKOSSOFTMAX_NOT_INITIALIZED if there are more calls than of
///         kokkossoftmax_initialize()
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_finalize(void);

/// Tells whether Kokkos is initialized, by this library or by the application.
///
/// \return 1 if it is, 0 if not
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_is_initialized(void);

/// Returns the name that Kokkos gives to a space.
///
/// \param space  kokkossoftmax_space
/// \return for example "Cuda" or "OpenMP"; NULL if the space is unknown
KOKKOSSOFTMAX_EXPORT const char* kokkossoftmax_space_name(int space);

/// Enqueues an operation along one or more axes of x. The call does not fence: y is complete when
/// the work on `stream` is done (see kokkossoftmax_fence()), and the data of x and y must exist
/// until then.
///
/// \param operation  kokkossoftmax_operation
/// \param space      kokkossoftmax_space; x and y must be in memory that it can access
/// \param stream     a cudaStream_t or hipStream_t if the space is CUDA or HIP. NULL means the
///                   default instance of Kokkos, whose stream synchronizes with CUDA's legacy
///                   default stream. The default streams of CUDA and HIP themselves have the handle
///                   0 as well: pass NULL or, for these streams themselves, cudaStreamLegacy or
///                   cudaStreamPerThread. For other spaces it must be NULL.
/// \param x          the input, of rank 1 to KOKKOSSOFTMAX_MAX_RANK
/// \param y          the output, with the extents of x, or for logsumexp with the extents of x
///                   without the reduced axes. Except for logsumexp it can be x itself (same data,
///                   same strides). It must not overlap x in any other way
/// \param options    NULL for the defaults. It is an error if the options were not initialized by
///                   kokkossoftmax_options_init() (their size is wrong then), or if they have a
///                   member of a later version, unknown to this library, that is not 0
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of y are undefined
///
/// The first call with a stream makes a Kokkos instance for it and keeps the instance. This takes
/// about a millisecond and waits for the GPU, so the first call can't be made while the stream is
/// being captured into a graph: call kokkossoftmax_fence() with the stream before the capture
/// (docs/graphs.md). Call kokkossoftmax_release_stream() before you destroy the stream.
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_apply(int operation, int space, void* stream,
                                             const kokkossoftmax_tensor* x,
                                             const kokkossoftmax_tensor* y,
                                             const kokkossoftmax_options* options);

/// As kokkossoftmax_apply(), with more arrays that are read, and more that are written in the same
/// launch. With lse and max, y has the same bits as without.
///
/// \param operation  kokkossoftmax_operation; KOKKOSSOFTMAX_LOGSUMEXP writes no lse and no max
/// \param space      as for kokkossoftmax_apply()
/// \param stream     as for kokkossoftmax_apply()
/// \param x          as for kokkossoftmax_apply()
/// \param y          as for kokkossoftmax_apply()
/// \param options    as for kokkossoftmax_apply()
/// \param operands   NULL for none. It is an error if `size` is wrong or if there is a member of a
///                   later version, unknown to this library, that is not NULL
/// \return kokkossoftmax_status, as kokkossoftmax_apply()
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_apply_with(int operation, int space, void* stream,
                                                  const kokkossoftmax_tensor* x,
                                                  const kokkossoftmax_tensor* y,
                                                  const kokkossoftmax_options* options,
                                                  const kokkossoftmax_operands* operands);

/// Enqueues the log-sum-exps of all rows and of all columns of a matrix, with v = scale * x:
/// \code
///   row_lse_i    = log(sum_j exp(v_ij))
///   column_lse_j = log(sum_i exp(v_ij))
/// \endcode
/// On GPUs, x is read once; docs/both_axes.md names the exceptions and the memory that a call
/// needs. On hosts, x is read twice. Special values are those of KOKKOSSOFTMAX_LOGSUMEXP. A row or
/// column without entries has -inf. The same call gives the same bits each time. The call does not
/// fence: row_lse and column_lse are complete when the work on `stream` is done.
///
/// \param space       kokkossoftmax_space; all data must be in memory that it can access
/// \param stream      as for kokkossoftmax_apply()
/// \param x           the matrix, of rank 2 and of type FLOAT, DOUBLE, HALF or BFLOAT16
/// \param row_lse     the result of each row, of rank 1 with x.extents[0] elements, of type DOUBLE
///                    if x is DOUBLE, otherwise FLOAT. It must not overlap x
/// \param column_lse  the result of each column, of rank 1 with x.extents[1] elements, of the type
///                    of row_lse. It must not overlap x or row_lse
/// \param options     as for kokkossoftmax_apply(), with the scale. `axis`, `axes`, `algorithm` and
///                    `reproducible` must have their defaults; `empty_rows` has no effect
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of row_lse and column_lse are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_logsumexp_both_axes(int space, void* stream,
                                                           const kokkossoftmax_tensor* x,
                                                           const kokkossoftmax_tensor* row_lse,
                                                           const kokkossoftmax_tensor* column_lse,
                                                           const kokkossoftmax_options* options);

/// Enqueues the backward pass of softmax or log_softmax along an axis: from the derivative dy of a
/// loss by the output y, the derivative dx by the input x.
/// \code
///   softmax:      dx_j = scale * y_j * (dy_j - sum_k y_k * dy_k)
///   log_softmax:  dx_j = scale * (dy_j - exp(y_j) * sum_k dy_k)
/// \endcode
/// Masked entries are described in docs/backward.md, special values in docs/semantics.md. The call
/// does not fence: dx is complete when the work on `stream` is done.
///
/// \param operation  the operation whose output y is: KOKKOSSOFTMAX_SOFTMAX or
///                   KOKKOSSOFTMAX_LOG_SOFTMAX. Messages call the y of log_softmax log_y
/// \param space      kokkossoftmax_space; y, dy and dx must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param y          the output of the operation, of rank 1 to KOKKOSSOFTMAX_MAX_RANK and of type
///                   FLOAT, DOUBLE, HALF or BFLOAT16
/// \param dy         the derivative of the loss by y, with the extents and the type of y
/// \param dx         the result, with the extents and the type of y. It can be y or dy itself (same
///                   data, same strides), and must not overlap them in any other way
/// \param options    as for kokkossoftmax_apply(), with the axis and the scale of the operation;
///                   `empty_rows` has no effect
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of dx are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_backward(int operation, int space, void* stream,
                                                const kokkossoftmax_tensor* y,
                                                const kokkossoftmax_tensor* dy,
                                                const kokkossoftmax_tensor* dx,
                                                const kokkossoftmax_options* options);

/// Enqueues the backward pass of logsumexp along an axis: from the derivative dlse of a loss by the
/// log-sum-exps, the derivative dx_ij = scale * dlse_i * exp(v_ij - lse_i) by the input x. v is
/// that of the call of KOKKOSSOFTMAX_LOGSUMEXP. Special values are described in docs/semantics.md.
/// The call does not fence: dx is complete when the work on `stream` is done.
///
/// \param space      kokkossoftmax_space; all data must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param x          the input, of rank 1 to KOKKOSSOFTMAX_MAX_RANK and of type FLOAT, DOUBLE, HALF
///                   or BFLOAT16
/// \param lse        the log-sum-exp of each row, with the extents of x without the axis, of type
///                   DOUBLE if x is DOUBLE, otherwise FLOAT
/// \param dlse       the derivative of the loss by lse, with the extents and the type of lse
/// \param dx         the result, with the extents and the type of x. It can be x itself (same data,
///                   same strides). It must not overlap x in any other way, nor lse or dlse
/// \param options    as for kokkossoftmax_apply(), with the axis and the scale of the operation;
///                   `algorithm` must be AUTOMATIC; `empty_rows` has no effect
/// \param operands   NULL, or the bias, row_bias, scale_biases, mask, lengths and causal of the
///                   operation. Its lse, max, weights and sign must be NULL
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of dx are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_logsumexp_backward(
    int space, void* stream, const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* lse,
    const kokkossoftmax_tensor* dlse, const kokkossoftmax_tensor* dx,
    const kokkossoftmax_options* options, const kokkossoftmax_operands* operands);

/// Enqueues the cross entropy of softmax and labels along an axis of x: for the label l of row i,
/// n classes and the label smoothing e,
/// \code
///   lse_i  = log(sum_k exp(v_ik))                                      with v = scale * x
///   loss_i = lse_i - (1 - e) * v_il - e / n * sum_k v_ik
/// \endcode
/// The loss is 0 for an ignored label, and NaN for another label that is not a column. Special
/// values are described in docs/semantics.md. The call does not fence: loss and lse are complete
/// when the work on `stream` is done.
///
/// \param space      kokkossoftmax_space; all data must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param x          the input, of rank 1 to KOKKOSSOFTMAX_MAX_RANK and of type FLOAT, DOUBLE, HALF
///                   or BFLOAT16
/// \param labels     the label of each row, a column from 0 on, with the extents of x without the
///                   axis, of type INT32 or INT64
/// \param loss       the result, with the extents of labels, of type DOUBLE if x is DOUBLE,
///                   otherwise FLOAT. It must not overlap x or labels
/// \param lse        gets the log-sum-exp of each row, which the backward pass needs, with the
///                   extents and the type of loss. NULL if it isn't needed. It must not overlap x,
///                   labels or loss
/// \param options    NULL for the defaults. It is an error if the options were not initialized by
///                   kokkossoftmax_cross_entropy_options_init()
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of loss and lse are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_cross_entropy(
    int space, void* stream, const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* labels,
    const kokkossoftmax_tensor* loss, const kokkossoftmax_tensor* lse,
    const kokkossoftmax_cross_entropy_options* options);

/// Enqueues the backward pass of kokkossoftmax_cross_entropy(): from the derivative dloss of a
/// function by the losses, the derivative dx_ij = scale * dloss_i * (exp(v_ij - lse_i) - (1 - e) *
/// [j = l] - e / n) by x. dx is 0 in a row with an ignored label. The call does not fence: dx is
/// complete when the work on `stream` is done.
///
/// \param space      kokkossoftmax_space; all data must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param x          as for kokkossoftmax_cross_entropy()
/// \param labels     as for kokkossoftmax_cross_entropy()
/// \param lse        the log-sum-exp of each row, as kokkossoftmax_cross_entropy() writes it
/// \param dloss      the derivative by the losses, with the extents and the type of lse
/// \param dx         the result, with the extents and the type of x. It can be x itself (same data,
///                   same strides). It must not overlap x in any other way, nor labels, lse or
///                   dloss
/// \param options    those of kokkossoftmax_cross_entropy(); `algorithm` must be AUTOMATIC
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of dx are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_cross_entropy_backward(
    int space, void* stream, const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* labels,
    const kokkossoftmax_tensor* lse, const kokkossoftmax_tensor* dloss,
    const kokkossoftmax_tensor* dx, const kokkossoftmax_cross_entropy_options* options);

/// Enqueues an operation on ragged rows: rows of different lengths that lie one after the other in
/// one vector, as in the CSR format of sparse matrices. Row r has the entries offsets[r] to
/// offsets[r + 1] - 1. Each offset must be at least as large as the one before, the first one at
/// least 0, and the last one at most the extent of x. This isn't checked. Entries outside of all
/// rows are neither read nor written, and nothing is written for a row without entries, except -inf
/// to lse. The call does not fence: y is complete when the work on `stream` is done.
///
/// \param operation  kokkossoftmax_operation
/// \param space      kokkossoftmax_space; all data must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param x          the input, of rank 1 and contiguous, of type FLOAT, DOUBLE, HALF or BFLOAT16
/// \param offsets    of type INT32 or INT64, of rank 1 and contiguous, with one element per row and
///                   one more
/// \param y          the result, of rank 1 and contiguous. softmax and log_softmax: with the extent
///                   of x, of the type of x, or FLOAT if x is HALF or BFLOAT16. It can be x itself
///                   if it has the type of x. logsumexp: lse, with one element per row, of type
///                   DOUBLE if x is DOUBLE, otherwise FLOAT. It must not overlap x in any other
///                   way, nor offsets
/// \param options    NULL for the defaults. `scale` and `empty_rows` are as for
///                   kokkossoftmax_apply(). All other options must have their defaults
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of y are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_segment_apply(int operation, int space, void* stream,
                                                     const kokkossoftmax_tensor* x,
                                                     const kokkossoftmax_tensor* offsets,
                                                     const kokkossoftmax_tensor* y,
                                                     const kokkossoftmax_options* options);

/// Enqueues the backward pass of softmax or log_softmax on ragged rows: from y, the result of
/// kokkossoftmax_segment_apply(), and the derivative dy of a loss by y, the derivative dx by the
/// input x. In each row, with the sum over its entries:
/// \code
///   softmax:      dx_j = scale * y_j * (dy_j - sum_k y_k * dy_k)
///   log_softmax:  dx_j = scale * (dy_j - exp(y_j) * sum_k dy_k)
/// \endcode
/// The call does not fence: dx is complete when the work on `stream` is done.
///
/// \param operation  KOKKOSSOFTMAX_SOFTMAX or KOKKOSSOFTMAX_LOG_SOFTMAX
/// \param space      kokkossoftmax_space; all data must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param y          the result of the operation, of rank 1 and contiguous, of type FLOAT, DOUBLE,
///                   HALF or BFLOAT16
/// \param dy         the derivative by y, contiguous, with the extent and the type of y
/// \param offsets    as for kokkossoftmax_segment_apply()
/// \param dx         the result, contiguous, with the extent and the type of y. It can be y or dy
///                   itself, and must not overlap them in any other way, nor offsets
/// \param options    as for kokkossoftmax_segment_apply(), with the scale of the operation;
///                   `empty_rows` has no effect
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of dx are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_segment_backward(int operation, int space, void* stream,
                                                        const kokkossoftmax_tensor* y,
                                                        const kokkossoftmax_tensor* dy,
                                                        const kokkossoftmax_tensor* offsets,
                                                        const kokkossoftmax_tensor* dx,
                                                        const kokkossoftmax_options* options);

/// Enqueues the backward pass of logsumexp on ragged rows: from the derivative dlse of a loss by
/// the log-sum-exps, the derivative dx_j = scale * dlse_r * exp(v_j - lse_r) by the input x, for
/// each entry j of row r, with v = scale * x. The call does not fence: dx is complete when the work
/// on `stream` is done.
///
/// \param space      kokkossoftmax_space; all data must be in memory that it can access
/// \param stream     as for kokkossoftmax_apply()
/// \param x          as for kokkossoftmax_segment_apply()
/// \param lse        the log-sum-exp of each row, as kokkossoftmax_segment_apply() writes it,
///                   contiguous, with one element per row, of type DOUBLE if x is DOUBLE, otherwise
///                   FLOAT
/// \param dlse       the derivative of the loss by lse, with the extent and the type of lse,
///                   contiguous
/// \param offsets    as for kokkossoftmax_segment_apply()
/// \param dx         the result, contiguous, with the extent and the type of x. It can be x itself,
///                   and must not overlap x in any other way, nor offsets, lse or dlse
/// \param options    as for kokkossoftmax_segment_backward()
/// \return kokkossoftmax_status. If it is not 0, nothing was enqueued. After KOKKOSSOFTMAX_FAILURE,
///         however, the data of dx are undefined
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_segment_logsumexp_backward(
    int space, void* stream, const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* lse,
    const kokkossoftmax_tensor* dlse, const kokkossoftmax_tensor* offsets,
    const kokkossoftmax_tensor* dx, const kokkossoftmax_options* options);

/// Waits until all work that was enqueued with this space and stream is done.
///
/// \param space   kokkossoftmax_space
/// \param stream  as for kokkossoftmax_apply()
/// \return kokkossoftmax_status
KOKKOSSOFTMAX_EXPORT int kokkossoftmax_fence(int space, void* stream);

/// Waits for the work on the stream and frees what the library keeps for it: the execution space
/// instance, and the memory for rows that were split over teams, for long strided rows, for ragged
/// rows and for kokkossoftmax_logsumexp_both_axes(). The stream itself is not destroyed. The call
/// does nothing for a stream that was never passed to the library. Everything that is not released
/// by this function is freed when Kokkos is finalized.
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
