import LMDB

/// The files of values that are too large for the data file, each written in full before a transaction names it.
struct DiskCacheFolder: Sendable {
  let path: String
  /// Whether a file must be on the device before a transaction names it.
  let isFlushed: Bool

  func path(of name: UInt64) -> String { "\(path)/\(name.bigEndianBytes.hexadecimal)" }

  /// Starts a file under a new name.
  func begin() throws(StoreError) -> DiskCacheStagedFile {
    try FileSystem.makeDirectory(path)
    for _ in 0..<16 {
      do throws(StoreError) {
        return try DiskCacheStagedFile(.random(in: 1...(.max)), in: self)
      } catch {
        // Another process looks for orphans, and was between the making of the file and its lock.
        guard error.code == .busy else { throw error }
      }
    }
    return try DiskCacheStagedFile(.random(in: 1...(.max)), in: self)
  }

  /// Removes files; one that cannot be removed is an orphan, which the next sweep finds.
  func remove(_ names: [UInt64]) {
    for name in names { try? FileSystem.removeFile(path(of: name)) }
  }

  /// Removes the files that no entry names and nobody is writing: what the end of a process between file and commit leaves.
  ///
  /// - Parameter isKept: Whether an entry names the file; asked once the file's lock is held, since its writer gives that
  ///   up after the commit.
  /// - Throws: `io` or `accessDenied` if the folder cannot be read or a file not be removed.
  func collectOrphans(_ isKept: (UInt64) throws -> Bool) throws {
    guard FileSystem.exists(path) else { return }
    for file in try FileSystem.names(in: path) {
      guard file.utf8.count == 16, let name = UInt64(file, radix: 16) else { continue }
      do {
        let handle = try File("\(path)/\(file)", .read)
        guard try handle.lock(waiting: false) else { continue }
        if try !isKept(name) { try FileSystem.removeFile("\(path)/\(file)") }
      } catch let error as StoreError where error.code == .notFound {
        continue  // Its entry has been removed meanwhile.
      }
    }
  }

  /// The bytes of a file; `nil` if it is gone or not what was written.
  func read(_ name: UInt64, length: Int, checksum: UInt64) throws(StoreError) -> [UInt8]? {
    guard let file = try open(name), try file.size() == length else { return nil }
    let bytes = try file.read(length, at: 0)
    return DiskCacheStagedFile.checksum(bytes) == checksum ? bytes : nil
  }

  /// A handle on a file; `nil` if it is gone.
  func open(_ name: UInt64) throws(StoreError) -> File? {
    do throws(StoreError) {
      return try File(path(of: name), .read)
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
  }
}

/// A file on its way into a cache. It is removed with its last reference, unless an entry names it by then.
final class DiskCacheStagedFile: @unchecked Sendable {
  // Sendable: written by one thread until it is finished, and only read after that.
  /// Its checksum is over pieces of this length, so that a file can be checked without reading it in one.
  static let pieceLength = 1 << 20

  let name: UInt64
  private(set) var length = 0
  private(set) var checksum: UInt64 = 0
  private let folder: DiskCacheFolder
  // Its lock, which ends with the process, tells the collector of orphans that the file is in use.
  private let file: File
  private var rest: [UInt8] = []
  private let isCommitted = Monitor(false)

  /// What an entry says of it, once it is finished.
  var reference: (name: UInt64, length: Int, checksum: UInt64) { (name, length, checksum) }

  init(_ name: UInt64, in folder: DiskCacheFolder) throws(StoreError) {
    self.name = name
    self.folder = folder
    file = try File(folder.path(of: name), .new)
    _ = try file.lock(waiting: true)
    guard try file.linkCount() > 0 else {
      throw StoreError(
        .busy, "The file \(folder.path(of: name)) was taken for an orphan before it was locked; try again.")
    }
  }

  deinit {
    if !isCommitted.update({ $0 }) { folder.remove([name]) }
  }

  /// Adds bytes at the end.
  func write(_ bytes: borrowing Span<UInt8>) throws(StoreError) {
    var offset = 0
    while offset < bytes.count {
      let part = min(Self.pieceLength - rest.count, bytes.count - offset)
      let piece = bytes.extracting(offset..<offset + part)
      if rest.isEmpty && part == Self.pieceLength {
        checksum = piece.checksum(checksum)
      } else {
        rest += [UInt8](copying: piece)
        if rest.count == Self.pieceLength { endPiece() }
      }
      offset += part
    }
    try file.write(bytes)
    length += bytes.count
  }

  /// Ends the file.
  func finish() throws(StoreError) {
    if !rest.isEmpty { endPiece() }
    guard folder.isFlushed else { return }
    try file.synchronize()
    try File(folder.path, .directory).synchronize()
  }

  /// Keeps the file, since an entry names it.
  func commit() { isCommitted.update { $0 = true } }

  private func endPiece() {
    checksum = rest.span.checksum(checksum)
    rest = []
  }

  /// The checksum that a file with these bytes has.
  static func checksum(_ bytes: [UInt8]) -> UInt64 {
    var sum: UInt64 = 0
    for start in stride(from: 0, to: bytes.count, by: pieceLength) {
      sum = bytes.span.extracting(start..<min(bytes.count, start + pieceLength)).checksum(sum)
    }
    return sum
  }
}
