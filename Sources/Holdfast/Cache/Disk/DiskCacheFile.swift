public import LMDB

/// The value of an entry as an open file, for what takes files or reads in parts.
///
/// The bytes stay readable until it is gone, whatever happens to the entry meanwhile.
public struct DiskCacheFile: ~Copyable {
  private let file: File
  /// The length of the value in bytes.
  public let count: Int

  init(_ file: consuming File, count: Int) {
    self.file = file
    self.count = count
  }

  /// A path under which this process can open the bytes, for a player or a web view; valid as long as this is. Other
  /// processes cannot.
  public var path: String { "/dev/fd/\(file.descriptor)" }

  /// The file descriptor, for reading; it is closed with this.
  public var descriptor: Int32 { file.descriptor }

  /// Some of the bytes.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - offset: Where to start.
  /// - Returns: The bytes; fewer at the end of the value.
  /// - Throws: `io` if the device refuses.
  public borrowing func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try file.read(max(0, count), at: max(0, offset))
  }
}

/// A value that is being written in parts.
public struct DiskCacheWriter: ~Copyable {
  let file: DiskCacheStagedFile

  /// Adds bytes at the end.
  ///
  /// - Parameter bytes: Any number of them.
  /// - Throws: `diskFull` or `io`; then nothing of the value is stored.
  public mutating func write(_ bytes: borrowing Span<UInt8>) throws(StoreError) { try file.write(bytes) }

  /// Adds bytes at the end.
  ///
  /// - Parameter bytes: Any number of them.
  /// - Throws: `diskFull` or `io`; then nothing of the value is stored.
  public mutating func write(_ bytes: [UInt8]) throws(StoreError) { try file.write(bytes.span) }
}
