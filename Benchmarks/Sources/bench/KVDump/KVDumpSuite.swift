import Foundation
import Harness

/// The command-line tool beside LMDB's own: dump, load, copy; in CPU time, output thrown away.
func kvdumpSuite(_ bench: Bench) throws {
  try bench.withFolder("kvdump") { folder in
    let count = bench.choose(1_000_000, quick: 20_000)
    var random = Random(seed: 70)
    let path = try folder.path(of: "store")
    do {
      let store = try HoldfastStore(at: path, .processCrashSafe)
      let keys = KeyBlock((0..<count).shuffled(using: &random))
      try store.put(keys, 0..<count, ValueBlock(count, width: 100), from: 0, perCommit: 1000)
    }
    let text = "\(folder.path)/dump.txt"
    try Tool.run("mdb_dump -s records '\(path)' > '\(text)'")
    let kvdump = "'\(Tool.kvdump)'"
    let label = "\(count.named) records"
    try compare(
      bench, "dump, \(label)", "\(kvdump) dump '\(path)' records", ("mdb_dump", "mdb_dump -s records '\(path)'"))
    try compare(
      bench, "dump as text, \(label)", "\(kvdump) dump -p '\(path)' records",
      ("mdb_dump -p", "mdb_dump -p -s records '\(path)'"))
    let (ours, theirs) = (try folder.path(of: "ours"), try folder.path(of: "theirs"))
    try compare(
      bench, "load, \(label)", "rm -rf '\(ours)'; \(kvdump) load -f '\(text)' '\(ours)'",
      ("mdb_load", "rm -rf '\(theirs)'; mkdir '\(theirs)'; mdb_load -f '\(text)' '\(theirs)'"))
    let copy = try folder.path(of: "copy")
    try compare(
      bench, "copy and compact, \(label)", "rm -rf '\(ours)'; \(kvdump) copy --compact '\(path)' '\(ours)'",
      ("mdb_copy -c", "rm -rf '\(copy)'; mkdir '\(copy)'; mdb_copy -c '\(path)' '\(copy)'"))
    try compare(
      bench, "verify every page, \(label)", "\(kvdump) verify '\(path)'",
      ("mdb_stat -ef, which checks nothing", "mdb_stat -e -f -a '\(path)'"))
  }
}

private func compare(_ bench: Bench, _ name: String, _ ours: String, _ peer: (name: String, command: String)) throws {
  let workload = Workload(
    name: name, durability: .powerLossSafe, clock: .children, unit: .nanoseconds, size: .fixed(1),
    roundLimit: bench.choose(12, quick: 6), comparesSums: false)
  try bench.compare(
    workload,
    [(name: "kvdump", command: ours), peer].map { name, command in
      Contender(name) { _ in
        try Tool.run(command)
        return 0
      }
    })
}

/// Commands of the shell.
enum Tool {
  /// The tool lies beside this one: tools/bench builds both.
  static var kvdump: String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "kvdump").path
  }

  static func run(_ command: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw UsageError("this command has failed: \(command)") }
  }
}
