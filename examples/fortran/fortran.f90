! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! The posterior of a mixture model, on the host. For each sample, the probabilities of the components
! are the softmax over the first index of log_weight(components, samples), and the log-likelihood is
! its log-sum-exp. Returns 0 if both are right.
program posterior
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use kokkossoftmax
  implicit none

  integer, parameter :: components = 37, samples = 20000
  real(c_double), target :: log_weight(components, samples), probability(components, samples)
  real(c_double), target :: log_likelihood(samples)
  integer(c_int64_t), target :: extents(2) = [components, samples]
  integer(c_int64_t), target :: strides(2) = [1, components]  ! Fortran's order: first index fastest
  integer(c_int64_t), target :: one_extent(1) = [samples]
  type(tensor_t) :: x, y, z
  type(options_t) :: options
  integer(int64) :: start, finish, rate
  logical :: good

  call random_number(log_weight)
  log_weight = 2000 * log_weight - 3000  ! exp() of these values is 0
  x = tensor_t(c_loc(log_weight), type_double, 2, c_loc(extents), c_loc(strides))
  y = tensor_t(c_loc(probability), type_double, 2, c_loc(extents), c_loc(strides))
  z = tensor_t(c_loc(log_likelihood), type_double, 1, c_loc(one_extent), c_null_ptr)

  call check(kokkossoftmax_initialize())
  call check(kokkossoftmax_options_init(options))
  options%axis = 0  ! the first index
  call system_clock(start, rate)
  call check(kokkossoftmax_apply(op_softmax, space_host, c_null_ptr, x, y, options))
  call check(kokkossoftmax_apply(op_logsumexp, space_host, c_null_ptr, x, z, options))
  call check(kokkossoftmax_fence(space_host, c_null_ptr))
  call system_clock(finish)
  call check(kokkossoftmax_finalize())

  good = is_right()
  print '(i0,a,i0,a,f0.1,a)', samples, ' samples of ', components, ' components: ', &
    1e-6_real64 * components * samples * rate / max(1_int64, finish - start), ' million entries a second'
  if (good) print '(a)', 'PASSED: as the formulas'
  if (.not. good) print '(a)', 'FAILED: not as the formulas'
  if (.not. good) error stop 1

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == 0) return
    print '(a)', last_error()
    error stop 2
  end subroutine

  logical function is_right()
    real(c_double) :: largest, total
    integer :: s
    is_right = .true.
    do s = 1, samples
      largest = maxval(log_weight(:, s))
      total = sum(exp(log_weight(:, s) - largest))
      is_right = is_right .and. abs(log_likelihood(s) - largest - log(total)) < 1e-12_c_double * 3000
      is_right = is_right .and. &
        all(abs(probability(:, s) - exp(log_weight(:, s) - largest) / total) < 1e-13_c_double)
    end do
  end function

end program
