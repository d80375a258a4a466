#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the two header pages of an LMDB 0.9 file say, read without mapping it.
///
/// LMDB trusts its header: a page size of zero is a division trap, a root beyond the end a bus error. So it is
/// checked before LMDB sees the file. Layout: 16 bytes of page header, then the `MDB_meta` of LMDB 0.9's `mdb.c`,
/// with 64-bit words in the machine's byte order.
struct FileHeader {
  let pageSize: Int
  /// The number of the last commit.
  let transactionID: UInt64

  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let metaLength = 152

  /// Checks both header pages.
  ///
  /// - Parameters:
  ///   - file: An open file.
  ///   - path: Its path, for the message.
  /// - Throws: `notADatabase`, `unsupportedVersion` or `damaged`, with a sentence.
  init(reading file: borrowing File, path: String) throws(StoreError) {
    let first = try file.read(Self.metaLength, at: 0)
    guard !first.isEmpty else {
      throw StoreError(
        .damaged, "\(path) is empty, although no crash can leave it so; restore it, or remove it to start anew.")
    }
    guard first.count == Self.metaLength, first.load32(16) == Self.magic else {
      throw StoreError(.notADatabase, "\(path) is not an LMDB file; choose another directory.")
    }
    try Self.checkVersion(first.load32(20), path)
    let pageSize = Int(first.load32(40))
    guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else {
      throw Self.damaged(path, "its page size is \(pageSize)")
    }
    let second = try file.read(Self.metaLength, at: pageSize)
    // LMDB takes the page size from the newer one.
    guard second.count == Self.metaLength, second.load32(16) == Self.magic, second.load32(40) == first.load32(40) else {
      throw Self.damaged(path, "its second header page is broken")
    }
    try Self.checkVersion(second.load32(20), path)
    // After the header: another process may be making the file longer, and writes the header last.
    let size = try file.size()
    let newest = first.load64(144) >= second.load64(144) ? first : second
    for offset in [80, 128] {
      let root = newest.load64(offset)
      guard root == .max || root < UInt64(size / pageSize) else {
        throw Self.damaged(path, "a root page (\(root)) lies beyond its end; it has been cut off")
      }
    }
    // The flags of the main database, after its unused page size.
    guard newest.load32(92) & 0xFF81 == 0 else {
      throw Self.damaged(path, "the flags of its main database are unknown")
    }
    self.pageSize = pageSize
    transactionID = newest.load64(144)
  }

  /// Adds a number to those of the last two commits.
  static func addToTransactionIDs(
    _ offset: UInt64, of file: borrowing File, pageSize: Int
  ) throws(StoreError) {
    for page in [0, pageSize] {
      let number = try file.read(8, at: page + 144).load64(0) + offset
      let bytes = unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
      try file.write(bytes.span, at: page + 144)
    }
  }

  private static func checkVersion(_ version: UInt32, _ path: String) throws(StoreError) {
    switch version {
    case 1: return
    case 2, 3:
      throw StoreError(
        .unsupportedVersion,
        "\(path) was made by LMDB 1.x (data version \(version)); move it with that version's mdb_dump and load it here."
      )
    default:
      throw StoreError(
        .unsupportedVersion, "\(path) has the unknown data version \(version); open it with the program that made it.")
    }
  }

  private static func damaged(_ path: String, _ what: String) -> StoreError {
    StoreError(.damaged, "\(path) is damaged: \(what); keep the file and restore a copy.")
  }
}

extension Array<UInt8> {
  fileprivate func load32(_ offset: Int) -> UInt32 {
    unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  }

  fileprivate func load64(_ offset: Int) -> UInt64 {
    unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
  }
}
