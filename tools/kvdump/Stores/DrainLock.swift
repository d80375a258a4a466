import LMDBFile

/// The lock that a drain holds while it sends, as the system lists it: nothing is locked to find out.
struct DrainLock: CustomStringConvertible {
  /// The process that holds it; `nil` if none does that can be seen from here.
  let holder: Int32?

  /// Looks for the lock of a file in Linux's `/proc/locks`; `nil` where the system has no such list.
  ///
  /// A container has the processes of its own only.
  init?(of path: String) {
    guard var list = Self.list() else { return nil }
    let identity = try? ByteSource.status(of: path).identity
    var holder = identity.flatMap { Self.holder(of: $0, in: list) }
    // It is read in pieces, and lacks a lock where one before it has gone between two of them.
    for _ in 0..<4 where holder == nil && identity != nil {
      list = Self.list() ?? list
      holder = identity.flatMap { Self.holder(of: $0, in: list) }
    }
    self.holder = holder
  }

  /// Not by Foundation, which takes the first piece for all of a file that has no size.
  private static func list() -> String? {
    guard let source = try? ByteSource("/proc/locks") else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while let got = try? source.read(into: &piece, count: piece.count, at: bytes.count), got > 0 {
      bytes += piece.prefix(got)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A line is `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF`, with the device in hexadecimal; one of a process that
  /// waits has an arrow after its number.
  static func holder(of identity: ByteSource.Identity, in list: String) -> Int32? {
    for line in list.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count >= 6, fields[1] == "FLOCK", fields[3] == "WRITE" else { continue }
      let place = fields[5].split(separator: ":")
      guard place.count == 3, UInt32(place[0], radix: 16) == identity.major,
        UInt32(place[1], radix: 16) == identity.minor, UInt64(place[2]) == identity.inode
      else { continue }
      return Int32(fields[4])
    }
    return nil
  }

  var description: String {
    holder.map { "process \($0) drains it" } ?? "no process that can be seen from here drains it"
  }
}
