import Foundation
import TestSupport

/// Runs `kvdump`, and finds the fixtures.
enum Tool {
  static let fixtures = "\(Place.root)/Tests/LMDBFileTests/Fixtures"

  static func kvdump(_ arguments: String...) throws -> Command { try kvdump(arguments) }

  static func kvdump(_ arguments: [String]) throws -> Command { try Command(Place.product("kvdump"), arguments) }

  /// Runs a script whose `$0` is `kvdump`.
  static func shell(_ script: String, _ arguments: String...) throws -> Command {
    try Command("/bin/sh", ["-c", script, Place.product("kvdump")] + arguments)
  }

  static func fixture(_ name: String) -> String { "\(fixtures)/\(name)" }

  static func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(fixtures)/\(folder)")) ?? []).sorted()
  }

  /// The text of a file.
  static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  /// Everything in a directory, as a list that shows any change.
  static func listing(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
      return "\(name) \(attributes[.size] ?? "") \(attributes[.modificationDate] ?? "")"
    }
  }
}
