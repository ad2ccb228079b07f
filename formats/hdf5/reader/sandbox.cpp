#include "sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "../src/wire.h"

namespace crescent::hdf5 {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "say which AUDIT_ARCH_ this machine has"
#endif

/// The system calls that libhdf5 needs for a file that is already mapped: memory, the socket, exit.
constexpr uint32_t kAllowedCalls[] = {
    SYS_read,       SYS_write,        SYS_sendto,         SYS_recvfrom,      SYS_munmap,
    SYS_mremap,     SYS_brk,          SYS_madvise,        SYS_futex,         SYS_exit,
    SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_lseek,         SYS_getpid,
    SYS_gettid,     SYS_tgkill,       SYS_getrandom,      SYS_clock_gettime, SYS_sched_yield,
    SYS_setitimer,
#if defined(SYS_alarm)
    SYS_alarm,
#endif
};
/// System calls that are allowed unless they would make pages executable.
constexpr uint32_t kMappingCalls[] = {SYS_mmap, SYS_mprotect};

constexpr uint32_t field_offset(size_t offset) { return static_cast<uint32_t>(offset); }
constexpr uint32_t kCallNumberField = field_offset(offsetof(seccomp_data, nr));
constexpr uint32_t kArchitectureField = field_offset(offsetof(seccomp_data, arch));
constexpr uint32_t kThirdArgumentField =
    field_offset(offsetof(seccomp_data, args) + 2 * sizeof(uint64_t));

std::vector<sock_filter> call_filter() {
  constexpr uint32_t kRefuseCall = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArchitectureField),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCallNumberField),
  };
  for (uint32_t call_number : kAllowedCalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call_number, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  for (uint32_t call_number : kMappingCalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call_number, 0, 4));
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kThirdArgumentField));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuseCall));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuseCall));
  return code;
}

void set_limit(int resource, uint64_t soft_limit) {
  rlimit limit;
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_cur = soft_limit < limit.rlim_max ? soft_limit : limit.rlim_max;
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

}  // namespace

void set_limits(uint64_t file_size, unsigned seconds) {
  constexpr uint64_t kWorkingMemory = uint64_t{1} << 30;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(kMemoryDescriptor + 1, ~0u, 0);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, processor_seconds(seconds));
  set_limit(RLIMIT_AS, file_size + kWorkingMemory);
  alarm(seconds);
}

bool lock_down() {
  std::vector<sock_filter> code = call_filter();
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace crescent::hdf5
