import Foundation

/// A program that a test runs and waits for.
public struct Command {
  public let status: Int32
  public let output: String
  public let errors: String

  /// Runs a program to its end.
  public init(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let folder = TemporaryDirectory()
    // Files, not pipes: a pipe that nobody reads would block the program.
    let files = try ["out", "err"].map { name in
      let path = "\(folder.path)/\(name)"
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      return try FileHandle(forUpdating: URL(fileURLWithPath: path))
    }
    process.standardOutput = files[0]
    process.standardError = files[1]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    let texts = try files.map { file in
      try file.seek(toOffset: 0)
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
    output = texts[0]
    errors = texts[1]
  }
}

/// Paths that tests need.
public enum Place {
  /// The root of the package.
  public static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// A program of the package, beside the tests.
  public static func product(_ name: String) -> String {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent(name).path
  }
}
