import Foundation

/// What figures depend on: only ratios carry over to another machine.
public struct Machine: Codable, Sendable {
  /// The processor.
  public var processor: String
  /// How many of them.
  public var processors: Int
  /// Main memory in bytes.
  public var memory: UInt64
  /// The system and its version.
  public var system: String
  /// The load average of the last minute when the run began; above the number of processors, others were at work.
  public var load: Double
  /// The versions of the engines.
  public var engines: [String: String]
  /// When the run began, UTC.
  public var date: String
  /// How it was started.
  public var command: String

  /// Describes this machine.
  ///
  /// - Parameters:
  ///   - engines: The versions of the engines.
  ///   - command: How the run was started.
  public init(engines: [String: String], command: String) {
    let info = ProcessInfo.processInfo
    let processorInfo = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let model = processorInfo?.split(separator: "\n").first { $0.hasPrefix("model name") }
    let loads = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
    processor = model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown"
    processors = info.activeProcessorCount
    memory = info.physicalMemory
    system = info.operatingSystemVersionString
    load = (loads?.split(separator: " ").first).flatMap { Double($0) } ?? 0
    date = Date().formatted(.iso8601)
    self.engines = engines
    self.command = command
  }
}
