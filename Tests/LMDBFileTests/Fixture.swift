import Foundation
import LMDBFile
import TestSupport

/// The files of `Fixtures`.
enum Fixture {
  static let root = "\(Place.root)/Tests/LMDBFileTests/Fixtures"

  static func names(_ folder: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
    return (names ?? []).sorted()
  }

  static func path(_ folder: String, _ name: String) -> String { "\(root)/\(folder)/\(name)" }

  static func bytes(_ folder: String, _ name: String) throws -> [UInt8] {
    let path = try DataFile.dataPath(path(folder, name))
    return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}
