! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! The parts of kokkossoftmax.h that a Fortran program needs, through iso_c_binding. Copy this module
! into your program.
module kokkossoftmax
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: op_softmax = 0, op_log_softmax = 1, op_logsumexp = 2
  integer(c_int), parameter :: space_device = 0, space_host = 1
  integer(c_int), parameter :: type_float = 0, type_double = 1

  type, bind(c) :: tensor_t
    type(c_ptr) :: data
    integer(c_int) :: type
    integer(c_int) :: rank
    type(c_ptr) :: extents
    type(c_ptr) :: strides
  end type

  !> Call kokkossoftmax_options_init first. It also sets the size.
  type, bind(c) :: options_t
    integer(c_size_t) :: size
    real(c_double) :: scale
    integer(c_int) :: axis
    integer(c_int) :: empty_rows
    integer(c_int) :: algorithm
    integer(c_int) :: reproducible
    type(c_ptr) :: axes  !< axes that are reduced together, counted from 0 as in C
    integer(c_int) :: axis_count
    integer(c_int) :: reserved
  end type

  interface
    integer(c_int) function kokkossoftmax_initialize() bind(c)
      import :: c_int
    end function
    integer(c_int) function kokkossoftmax_finalize() bind(c)
      import :: c_int
    end function
    integer(c_int) function kokkossoftmax_options_init_sized(options, size) bind(c)
      import :: c_int, c_size_t, options_t
      type(options_t), intent(out) :: options
      integer(c_size_t), value :: size
    end function
    integer(c_int) function kokkossoftmax_apply(operation, space, stream, x, y, options) bind(c)
      import :: c_int, c_ptr, tensor_t, options_t
      integer(c_int), value :: operation, space
      type(c_ptr), value :: stream
      type(tensor_t), intent(in) :: x, y
      type(options_t), intent(in) :: options
    end function
    integer(c_int) function kokkossoftmax_fence(space, stream) bind(c)
      import :: c_int, c_ptr
      integer(c_int), value :: space
      type(c_ptr), value :: stream
    end function
    type(c_ptr) function kokkossoftmax_last_error() bind(c)
      import :: c_ptr
    end function
  end interface

contains

  !> Sets the defaults.
  integer(c_int) function kokkossoftmax_options_init(options)
    type(options_t), intent(out) :: options
    kokkossoftmax_options_init = kokkossoftmax_options_init_sized(options, c_sizeof(options))
  end function

  !> The message of the last call that failed.
  function last_error() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: length
    call c_f_pointer(kokkossoftmax_last_error(), letters, [4096])
    length = 0
    do while (letters(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(len=length) :: text)
    text = transfer(letters(1:length), text)
  end function

end module
