import CLMDB
import Foundation

/// Lets the process map only so many bytes more than it has mapped now.
func limitAddressSpace(toMore bytes: Int) throws {
  let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[0]
  let limit = rlim_t(Int(pages)! * Int(sysconf(Int32(_SC_PAGESIZE))) + bytes)
  var limits = rlimit(rlim_cur: limit, rlim_max: limit)
  precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0)
}

/// Lets the process write no file beyond a size, and survive trying.
func limitFileSize(to bytes: Int) {
  signal(SIGXFSZ, SIG_IGN)
  var limits = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t.max)
  precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0)
}

/// Lets the process have no descriptor from a number on.
func limitOpenFiles(to count: Int) {
  var limits = rlimit(rlim_cur: rlim_t(count), rlim_max: 4096)
  precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
}

/// Lets the process start no thread more: each would have a stack that is larger than any address space.
func askForThreadsThatFitNowhere() {
  typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> CInt
  let setDefault = unsafe unsafeBitCast(dlsym(nil, "pthread_setattr_default_np"), to: SetDefault.self)
  var attributes = pthread_attr_t()
  unsafe pthread_attr_init(&attributes)
  unsafe pthread_attr_setstacksize(&attributes, 1 << 50)
  precondition(unsafe setDefault(&attributes) == 0)
}
