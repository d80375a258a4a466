import Foundation

/// Where a command is to write what it has measured.
public enum Destination {
  /// Makes sure that a file can be written, and leaves what is in it as it is.
  ///
  /// - Parameter path: The file, which is there or not.
  /// - Throws: A sentence about what is in the way.
  public static func check(_ path: String) throws {
    var isFolder = false
    let exists = exists(path, &isFolder)
    let folder = URL(filePath: path).deletingLastPathComponent().path
    if exists && isFolder { throw DestinationError("\(path) is a folder; a file is needed") }
    if exists && !FileManager.default.isWritableFile(atPath: path) {
      throw DestinationError("\(path) cannot be written")
    }
    if !exists && !FileManager.default.isWritableFile(atPath: folder) {
      throw DestinationError("\(path) cannot be made: \(folder) is not there, or cannot be written to")
    }
  }

  private static func exists(_ path: String, _ isFolder: inout Bool) -> Bool {
    var flag: ObjCBool = false
    let result = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &flag)
    isFolder = flag.boolValue
    return result
  }
}

/// Why nothing can be written there.
public struct DestinationError: Error, CustomStringConvertible {
  /// A sentence.
  public let description: String
  init(_ description: String) { self.description = description }
}
