import Foundation

extension Bench {
  /// Runs a measurement with a folder for its stores, which is removed afterwards.
  ///
  /// - Parameters:
  ///   - name: A name for the folder.
  ///   - body: The measurement; its stores must be closed when it returns.
  /// - Throws: What `body` throws, or an error of the file system.
  public func withFolder(_ name: String, _ body: (WorkFolder) throws -> Void) throws {
    let path = "\(runFolder)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(WorkFolder(path: path))
  }

  /// What the names of this tool's folders begin with, so that it never takes a folder of somebody else for one of its
  /// own: `--directory` may name any folder, and in some there are others whose names are numbers.
  private static let prefix = "holdfast-bench-"

  /// Where all stores of this run are.
  public var runFolder: String { "\(directory)/\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)" }

  /// Removes what runs that were ended have left.
  ///
  /// - Throws: An error of the file system.
  public func removeLeftovers() throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      guard name.hasPrefix(Self.prefix), let process = pid_t(name.dropFirst(Self.prefix.count)) else { continue }
      // Processes of other users cannot be signalled, but they run.
      guard kill(process, 0) != 0, errno == ESRCH else { continue }
      try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
    }
  }
}

/// A folder for the stores of one measurement.
public struct WorkFolder: Sendable {
  /// Where it is.
  public let path: String

  /// A folder in it, which is made if it is missing.
  ///
  /// - Parameter name: Its name.
  /// - Returns: The folder.
  /// - Throws: An error of the file system.
  public func folder(_ name: String) throws -> WorkFolder { WorkFolder(path: try path(of: name)) }

  /// The path of a folder in it, which is made if it is missing.
  ///
  /// - Parameter name: Its name.
  /// - Returns: Its path.
  /// - Throws: An error of the file system.
  public func path(of name: String) throws -> String {
    let inner = "\(path)/\(name)"
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
    return inner
  }

  /// The bytes that a folder takes on the disk: allocated blocks, so that holes are not counted.
  ///
  /// - Parameter path: The folder.
  /// - Returns: Bytes.
  public static func diskBytes(_ path: String) -> Int {
    guard let files = FileManager.default.enumerator(atPath: path) else { return 0 }
    return files.reduce(0) { sum, name in
      var status = stat()
      guard let name = name as? String, unsafe lstat("\(path)/\(name)", &status) == 0 else { return sum }
      return sum + Int(status.st_blocks) * 512
    }
  }
}
