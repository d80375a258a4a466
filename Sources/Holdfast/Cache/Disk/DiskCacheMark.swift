import LMDB

/// The file that says whether the data file holds writes that were never flushed, and since which start of the machine.
///
/// It is on the device before the first such write. If it still stands after the machine was started anew, the data
/// file may be any mixture of old and new pages.
final class DiskCacheMark: Sendable {
  private let path: String
  private let file: File

  /// Opens the file, or makes one that says all is well.
  init(in directory: String) throws(StoreError) {
    path = "\(directory)/cache.mark"
    if !FileSystem.exists(path) {
      try Self.write([0], to: path)
      try File(directory, .directory).synchronize()
    }
    file = try File(path, .read)
  }

  /// Whether writes have not been flushed.
  func isSet() throws(StoreError) -> Bool { try file.byte(at: 0) ?? 0 != 0 }

  /// The start of the machine since which that is so.
  func bootID() throws(StoreError) -> [UInt8] { Array(try file.read(64, at: 0).dropFirst()) }

  /// Says that writes follow which are not flushed; on the device when it returns.
  func set(_ bootID: [UInt8]) throws(StoreError) { try Self.write([1] + bootID, to: path) }

  /// Says that everything has been flushed.
  func clear() throws(StoreError) { try Self.write([0], to: path) }

  private static func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
    let file = try File(path, .lock)
    try file.write(bytes.span)
    try file.synchronize()
  }
}
