import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension FileSystem {
  /// Whether a path is on a file system that other machines may write as well.
  static func isOnNetwork(_ path: String) -> Bool {
    var status = statfs()
    guard unsafe statfs(path, &status) == 0 else { return false }
    #if canImport(Darwin)
      return status.f_flags & UInt32(MNT_LOCAL) == 0
    #else
      return isNetwork(type: UInt32(truncatingIfNeeded: status.f_type))
    #endif
  }

  /// Whether Linux uses this number (`statfs(2)`) for a network file system, or for one whose nature it cannot tell.
  static func isNetwork(type: UInt32) -> Bool {
    switch type {
    case 0x6969,  // NFS
      0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB2
      0x0102_1997,  // 9P
      0x5346_414F,  // AFS
      0x00C3_6400,  // Ceph
      0x6573_5546:  // FUSE
      true
    default: false
    }
  }
}
