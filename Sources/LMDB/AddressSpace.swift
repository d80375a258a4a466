#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Sizes for a memory map that this process has room for.
enum AddressSpace {
  /// The page size of a file that is made here: the system's, of which LMDB takes at most 32 KiB.
  static let page = min(max(sysconf(Int32(_SC_PAGESIZE)), 4096), 32768)

  /// Rounded up to 64 KiB, a multiple of every page size; down at the end of all numbers.
  static func rounded(_ size: Int) -> Int { (min(size, .max - 0xFFFF) + 0xFFFF) & ~0xFFFF }

  /// The largest of `wanted` and what halving the way to `least` gives that can be mapped beside what is mapped now.
  static func available(_ wanted: Int, atLeast least: Int) -> Int? {
    let least = rounded(least)
    var size = max(rounded(wanted), least)
    while true {
      if hasRoom(for: size) { return size }
      if size == least { return nil }
      size = size - least <= 1 << 20 ? least : rounded(least + (size - least) / 2)
    }
  }

  private static func hasRoom(for size: Int) -> Bool {
    let probe = unsafe mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0)
    guard unsafe probe != MAP_FAILED else { return false }
    unsafe munmap(probe, size)
    return true
  }
}
