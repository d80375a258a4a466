import Foundation
import Holdfast
import LMDB

/// The two programs of the crash lab: one that writes, under the recorder, and one that opens what a crash may have left.
@main
enum CrashLab {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "write" where arguments.count == 5:
      let seed = UInt64(arguments[4]) ?? 0
      if arguments[2] == "cache" {
        var workload = CacheWorkload(seed: seed)
        try workload.run(at: arguments[3])
      } else {
        var workload = OutboxWorkload(seed: seed)
        try await workload.run(at: arguments[3])
      }
    case "check" where arguments.count == 6:
      // check WHAT DIRECTORY FIRST COUNT: the states DIRECTORY/FIRST and so on, each with a file of facts beside it.
      let (first, count) = (Int(arguments[4]) ?? 0, Int(arguments[5]) ?? 0)
      for index in first..<first + count {
        // Before and after, so that whoever reads this knows which state has killed the process.
        say("\(index) ")
        let directory = "\(arguments[3])/\(index)"
        say(
          arguments[2] == "cache"
            ? "\(CacheCheck(directory: directory).verdict())\n"
            : "\(await OutboxCheck(directory: directory).verdict())\n")
      }
    default:
      FileHandle.standardError.write(
        Data("usage: crashlab write WHAT DIRECTORY SEED | check WHAT DIRECTORY FIRST COUNT\n".utf8))
      exit(64)
    }
  }

  /// Writes at once, unlike `print`.
  private static func say(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

  /// The machine before and after its power was cut.
  static func system(bootID: String) -> CacheSystem {
    var system = CacheSystem.real
    system.bootID = { () throws(StoreError) in Array(bootID.utf8) }
    return system
  }
}
