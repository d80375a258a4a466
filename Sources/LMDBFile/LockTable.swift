#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The table of readers in a lock file, read and not joined.
package struct LockTable: Sendable {
  package struct Reader: Sendable, Hashable {
    package let processID: Int32
    /// The commit it holds; `nil` for a slot that is kept for later.
    package let transactionID: UInt64?
    /// Whether the process is there. Only this machine, and this container, can tell.
    package let isAlive: Bool
  }

  /// How many slots there are.
  package let capacity: Int
  package let readers: [Reader]

  /// A lock file starts with two blocks of 64 bytes, then has 64 bytes a reader: the commit, and the process.
  private static let headerSize = 128
  private static let slotSize = 64

  /// Reads the lock file of a data file; `nil` if there is none, or it is of another kind.
  ///
  /// - Throws: `denied` or `io`.
  package init?(of file: DataFile) throws(ReadError) {
    let source: ByteSource
    do throws(ReadError) {
      source = try ByteSource(file.lockPath)
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
    let bytes = try source.bytes(at: 0, count: min(try source.status().size, 1 << 22))
    let span = bytes.span
    let layout = file.layout
    guard layout.wordSize == 8, bytes.count >= Self.headerSize + Self.slotSize,
      layout.load32(span, 0) == Meta.magic
    else { return nil }
    capacity = (bytes.count - Self.headerSize) / Self.slotSize
    var found: [Reader] = []
    for slot in 0..<capacity {
      let start = Self.headerSize + slot * Self.slotSize
      let process = Int32(truncatingIfNeeded: layout.load32(span, start + 8))
      if process <= 0 { continue }
      let transaction = layout.loadUnsignedWord(span, start)
      let isAlive = kill(process, 0) == 0 || errno == EPERM
      found.append(Reader(processID: process, transactionID: transaction == .max ? nil : transaction, isAlive: isAlive))
    }
    readers = found
  }

  /// How many readers an LMDB of version 0.9 would say there may be: its table grows with the file, and never shrinks.
  package static func readerLimit(of file: DataFile) -> Int {
    guard let status = try? ByteSource.status(of: file.lockPath), status.size > 192 else { return 126 }
    return max(126, (status.size - 192) / 64 + 1)
  }
}
