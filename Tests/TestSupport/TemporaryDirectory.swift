import Foundation

/// A directory that is removed when its owner goes away.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() {
    let parent = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = "\(parent)/holdfast-\(UUID().uuidString.prefix(8))"
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
