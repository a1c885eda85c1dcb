# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class KokkosSoftmax(CMakePackage, CudaPackage, ROCmPackage):
    """Softmax, log-softmax and log-sum-exp along any axis of Kokkos Views."""

    homepage = "https://github.com/kokkos-softmax/kokkos-softmax"
    git = "https://github.com/kokkos-softmax/kokkos-softmax.git"

    # The stand-alone test compiles a program.
    test_requires_compiler = True

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("openmp", default=False, description="Ask for a Kokkos with OpenMP")
    variant(
        "value_types",
        default="float,double,half,half_float,bhalf,bhalf_float",
        values=("float", "double", "half", "half_float", "bhalf", "bhalf_float"),
        multi=True,
        description="Pairs of value types of x and y to build the library for",
    )
    variant(
        "kernels",
        default=False,
        description="Also build and run the example with Kokkos Kernels among the tests",
    )

    # A Kokkos has one GPU architecture.
    variant(
        "cuda_arch",
        default="none",
        values=("none",) + CudaPackage.cuda_arch_values,
        multi=False,
        sticky=True,
        when="+cuda",
        description="CUDA architecture",
    )
    variant(
        "amdgpu_target",
        default="none",
        values=("none",) + ROCmPackage.amdgpu_targets,
        multi=False,
        sticky=True,
        when="+rocm",
        description="AMD GPU architecture",
    )

    depends_on("cxx", type="build")
    depends_on("c", type="build")  # for the tests; Spack has no compilers for tests alone
    depends_on("cmake@3.22:", type="build")

    depends_on("kokkos@4.7:5")
    depends_on("kokkos+pic", when="+shared")
    depends_on("kokkos+openmp", when="+openmp")
    requires(
        "^kokkos cxxstd=20",
        "^kokkos cxxstd=23",
        policy="one_of",
        when="^kokkos@4",
        msg="Kokkos 4 is built for C++17 by default (KokkosSoftmax needs C++20); "
        "ask for ^kokkos cxxstd=20.",
    )

    with when("+kernels"):
        depends_on("kokkos-kernels@4.7:5", type="test")
        depends_on("kokkos-kernels+openmp", type="test", when="+openmp")

    depends_on("googletest@1.12:1", type="test")
    depends_on("benchmark@1.7:1", type="test")

    # CUDA and ROCm, as Kokkos has them
    for arch in CudaPackage.cuda_arch_values:
        cuda = f"+cuda cuda_arch={arch}"
        depends_on(f"kokkos {cuda}", when=cuda)
        depends_on(f"kokkos-kernels {cuda}", type="test", when=f"+kernels {cuda}")

    for arch in ROCmPackage.amdgpu_targets:
        rocm = f"+rocm amdgpu_target={arch}"
        depends_on(f"kokkos {rocm}", when=rocm)

    requires(
        "value_types=float",
        "value_types=double",
        policy="any_of",
        when="~cuda~rocm",
        msg="value_types has half types alone (which need a GPU); add float or double.",
    )
    conflicts(
        "cuda_arch=none",
        when="+cuda",
        msg="+cuda has no architecture (Kokkos compiles for one GPU); "
        "name it, for example cuda_arch=90.",
    )
    conflicts(
        "+cuda",
        when="+rocm",
        msg="+cuda and +rocm exclude each other (a Kokkos has one GPU backend); choose one.",
    )
    conflicts(
        "^kokkos+cuda",
        when="~cuda",
        msg="^kokkos+cuda does not go with ~cuda (the library is compiled for all backends of its "
        "Kokkos); ask for kokkos-softmax+cuda with the same cuda_arch.",
    )
    conflicts(
        "^kokkos+rocm",
        when="~rocm",
        msg="^kokkos+rocm does not go with ~rocm (the library is compiled for all backends of its "
        "Kokkos); ask for kokkos-softmax+rocm with the same amdgpu_target.",
    )
    for arch in CudaPackage.cuda_arch_values:
        if arch.isdigit() and int(arch) < 70:
            conflicts(
                f"cuda_arch={arch}",
                when="+cuda",
                msg=f"cuda_arch={arch} is not supported (KokkosSoftmax is written for Volta, 70, "
                "and later); use another GPU or ~cuda.",
            )

    requires(
        "^kokkos+wrapper",
        "^kokkos+cmake_lang",
        "%cxx=clang",
        policy="any_of",
        when="+cuda",
        msg="The C++ compiler cannot compile CUDA (Kokkos hands it neither nvcc_wrapper nor "
        "CMake's language CUDA); ask for ^kokkos+wrapper or ^kokkos+cmake_lang, or compile with "
        "Clang.",
    )
    requires(
        "^kokkos+cuda_lambda",
        when="+cuda ^kokkos@4",
        msg="Kokkos 4 has no lambdas for CUDA unless it is told (KokkosSoftmax is used from "
        "them); ask for ^kokkos+cuda_lambda.",
    )
    conflicts(
        "^cuda@13:",
        when="+cuda ^kokkos@:4.7.00",
        msg="Kokkos 4.7.0 does not work with CUDA 13 (its Views have another layout on the device "
        "than on the host, unless it is built with its legacy View); ask for ^kokkos@4.7.01: or "
        "^cuda@12.",
    )
    for compiled in ("^kokkos+wrapper", "^kokkos+cmake_lang %cxx=gcc"):
        conflicts(
            "^kokkos cxxstd=23",
            when=f"+cuda ^cuda@:13.0 {compiled}",
            msg="Kokkos for C++23 does not compile with nvcc (up to CUDA 13.0 it has no "
            "-std=c++23); ask for ^kokkos cxxstd=20.",
        )
    conflicts(
        "%cxx=gcc@:9",
        msg="GCC before 10 cannot compile KokkosSoftmax (it lacks concepts of C++20); "
        "use a later one.",
    )

    sanity_check_is_file = [
        join_path("include", "KokkosSoftmax.hpp"),
        join_path("include", "kokkossoftmax.h"),
    ]

    def setup_build_environment(self, env):
        if self.run_tests:  # several at a time, each with threads that wait for one another
            env.set("OMP_NUM_THREADS", "2")
            env.set("OMP_PROC_BIND", "false")

    def _kokkos_args(self):
        """What CMake is told so that it finds this Kokkos and compiles as it was compiled."""
        spec = self.spec
        args = [self.define("Kokkos_ROOT", spec["kokkos"].prefix)]
        clang = spec.satisfies("%cxx=clang") or spec.satisfies("%cxx=rocmcc")
        if spec.satisfies("^kokkos+wrapper"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        elif spec.satisfies("+cuda ^kokkos+cmake_lang"):
            compiler = self["cxx"].cxx if clang else spec["cuda"].prefix.bin.nvcc
            args += [
                self.define("CMAKE_CUDA_COMPILER", compiler),
                self.define("CMAKE_CUDA_ARCHITECTURES", spec.variants["cuda_arch"].value),
            ]
        elif spec.satisfies("+rocm ^kokkos+cmake_lang"):
            compiler = self["cxx"].cxx if clang else spec["llvm-amdgpu"].prefix.bin.join("clang++")
            args += [
                self.define("CMAKE_HIP_COMPILER", compiler),
                self.define("CMAKE_HIP_ARCHITECTURES", spec.variants["amdgpu_target"].value),
            ]
        elif spec.satisfies("+rocm") and not clang:
            args.append(self.define("CMAKE_CXX_COMPILER", spec["hip"].hipcc))
        return args

    def _builds_tests(self):
        """The tests call every pair of value types."""
        return self.run_tests and len(self.spec.variants["value_types"].value) == 6

    def cmake_args(self):
        args = [
            self.define("KokkosSoftmax_BOOTSTRAP", False),
            self.define("KokkosSoftmax_ENABLE_TESTS", self._builds_tests()),
            self.define("KokkosSoftmax_ENABLE_PERF_TESTS", self._builds_tests()),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("KokkosSoftmax_VALUE_TYPES", "value_types"),
            self.define("CMAKE_CXX_STANDARD", self.spec["kokkos"].variants["cxxstd"].value),
            # Whatever is missing is an error, not a download.
            self.define("FETCHCONTENT_FULLY_DISCONNECTED", True),
        ]
        if self.spec.satisfies("~kernels"):
            args.append(self.define("CMAKE_DISABLE_FIND_PACKAGE_KokkosKernels", True))
        return args + self._kokkos_args()

    smoke_test = join_path("spack", "smoke_test")

    @run_after("install")
    def keep_smoke_test(self):
        cache_extra_test_sources(self, self.smoke_test)

    def test_consumer(self):
        """compile a program that uses the installed library, and run it"""
        spec = self.spec
        if "double" not in spec.variants["value_types"].value:
            raise SkipTest("The program calls the library with doubles, which it is not built for")
        args = [
            "-S",
            join_path(self.test_suite.current_test_cache_dir, self.smoke_test),
            "-B",
            "build",
            self.define("KokkosSoftmax_ROOT", self.prefix),
            self.define("CMAKE_BUILD_TYPE", "Release"),
            self.define("CMAKE_CXX_STANDARD", spec["kokkos"].variants["cxxstd"].value),
            # The compiler itself: its wrapper is for what Spack installs.
            self.define("CMAKE_CXX_COMPILER", self["cxx"].cxx),
        ] + self._kokkos_args()
        if spec.satisfies("^kokkos+cmake_lang"):
            language = "CUDA" if spec.satisfies("+cuda") else "HIP"
            args.append(self.define("SMOKE_TEST_LANGUAGE", language))

        cmake = spec["cmake"].command
        cmake.add_default_env("NVCC_WRAPPER_DEFAULT_COMPILER", self["cxx"].cxx)
        cmake(*args)
        cmake("--build", "build")
        out = Executable(join_path("build", "smoke_test"))(output=str.split, error=str.split)
        assert "smoke test: passed" in out, f"the program printed: {out}"
