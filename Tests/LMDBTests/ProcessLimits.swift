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
