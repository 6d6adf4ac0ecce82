# SPDX-License-Identifier: BSD-3-Clause
"""lat for Spack: put this folder's package.py into packages/lat of a repository of yours, then, with the tarball of `make dist`
beside you, `spack install --no-checksum lat +mpi +cuda cuda_arch=90`: the tarball holds this file, which cannot know its checksum."""
import os

from spack.package import *

try:  # Spack 1.0 and later; before, they are in spack.package
    from spack_repo.builtin.build_systems.cuda import CudaPackage
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:
    pass


class Lat(MakefilePackage, CudaPackage):
    """Lattice QCD as a pipeline of small tools."""

    manual_download = True
    url = f"file://{os.getcwd()}/lat-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("mpi", default=False, description="Share a lattice among the ranks of MPI")
    variant("openmp", default=True, description="Threads")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("expat@2.4:")
    depends_on("fftw@3:~mpi", when="~mpi")
    depends_on("fftw@3:", when="+mpi")
    depends_on("gsl@2.2:")
    depends_on("random123")  # headers alone, but the wrapped compiler is told only of what may be linked
    depends_on("zlib-api")
    depends_on("libdeflate")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPUs, as in cuda_arch=90")
    for old in ("10", "11", "12", "13", "20", "21", "30", "32", "35", "37", "50", "52", "53", "60", "61", "62"):
        conflicts(f"cuda_arch={old}", msg="lat needs compute capability 7.0 or later")

    @property
    def build_targets(self):
        def switch(name):
            return int(self.spec.satisfies(f"+{name}"))

        targets = [f"CC={spack_cc}", f"CUDA={switch('cuda')}", f"MPI={switch('mpi')}", f"OPENMP={switch('openmp')}"]
        if self.spec.satisfies("+cuda"):
            targets.append("GPU_GROUPS=16")
            targets.append("GPU_ARCH=" + " ".join(self.spec.variants["cuda_arch"].value))
        return targets

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}", *self.build_targets)
