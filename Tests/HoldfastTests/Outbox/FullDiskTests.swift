#if os(Linux)
  import Foundation
  import LMDB
  import TestSupport
  import Testing

  @testable import Holdfast

  /// A disk that is really full: a small file system in memory, in a mount namespace that the test makes for a process of
  /// its own.
  @Suite struct FullDiskTests {
    private static let variable = "HOLDFAST_SMALL_DISK"
    private static let disk = ProcessInfo.processInfo.environment[variable]

    /// Runs the test below on a disk of its own, or says why not.
    @Test(.disabled(if: FullDiskTests.disk != nil)) func aFullDisk() throws {
      let directory = TemporaryDirectory()
      // Without rights over the machine, a user namespace gives those over mounts of one's own.
      let ways = [["--mount"], ["--user", "--map-root-user", "--mount"]]
      let mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", directory.path]
      let way = try ways.first { way in try Command("/usr/bin/env", ["unshare"] + way + mount).status == 0 }
      guard let way else { return print("skipped a full disk: this process may not mount one") }
      let program = [
        "sh", "-c", "\(mount.joined(separator: " ")) && exec \"$0\" --testing-library swift-testing --filter \"$1\"",
        CommandLine.arguments[0], "FullDiskTests/insideNothingIsHalfWritten",
      ]
      let command = try Command("/usr/bin/env", ["\(Self.variable)=\(directory.path)", "unshare"] + way + program)
      #expect(command.status == 0, "\(command.output)\(command.errors)")
      #expect((command.output + command.errors).contains("Test run with 1 test in 1 suite passed"))
    }

    /// All that a store tells of its outbox and state.
    private struct Picture: Equatable {
      var pending: [String]
      var dead: Int
      var journal: Int
      var records: Int
      var pauses: Int
      var files: Int

      init(_ store: Store) throws {
        let metrics = try store.outbox.metrics()
        pending = try store.outbox.pendingEntries(limit: .max).map { "\($0.id) \($0.phase) \($0.attempts)" }
        (dead, journal, pauses) = (metrics.dead, metrics.journalRecords, metrics.pauses)
        let database = try store.environment.database("state.record")
        records = try store.read { t in try t.count(of: database) }
        files = ((try? FileSystem.names(in: store.outbox.folder.path)) ?? []).count
      }
    }

    /// Leaves so many bytes of the disk.
    private static func fillUp(_ disk: String, leaving rest: Int) throws {
      let ballast = "\(disk)/ballast"
      try FileSystem.removeFile(ballast)
      let size = max(0, (FileSystem.availableBytes(disk) ?? 0) - rest)
      try Data(count: size).write(to: URL(fileURLWithPath: ballast))
    }

    @Test(
      "T13: whatever finds the disk full throws, and nothing is half-written", .enabled(if: FullDiskTests.disk != nil))
    func insideNothingIsHalfWritten() async throws {
      let disk = try #require(Self.disk)
      let store = try Store.open(at: "\(disk)/store")
      let text = String(repeating: "x", count: 3000)
      func add(_ n: Int) throws {
        try store.commit { t in
          try store.state.update(StateKey(type: "op", id: "\(n)"), ["state": "waiting", "text": .string(text)], in: &t)
          var request = OutboxRequest(kind: "k", lane: "\(n % 5)", payload: Array("\(n) \(text)".utf8))
          request.key = "\(n)"
          try store.outbox.enqueue(request, in: &t)
        }
      }
      let hooks = OutboxHooks(
        onCommit: { entry, _, t in
          try store.state.update(StateKey(type: "op", id: entry.key ?? ""), ["state": "sent"], in: &t)
        },
        onRollback: { entry, _, t in
          try store.state.update(StateKey(type: "op", id: entry.key ?? ""), ["state": "failed"], in: &t)
        })
      let sender = ScriptedSender { entry, _ in
        entry.id.rawValue % 4 == 0 ? .permanent(reason: "no") : .delivered(reply: [])
      }
      for n in 0..<40 { try add(n) }
      try await store.outbox.drain(with: sender, hooks: hooks, options: .init(goal: .once, pollInterval: nil))
      for n in 40..<80 { try add(n) }
      var (added, failures, successes) = (80, 0, 0)
      func attempt(_ what: String, _ body: () throws -> Void) throws {
        let before = try Picture(store)
        do {
          try body()
          successes += 1
        } catch let error as StoreError where error.code == .diskFull {
          failures += 1
          let after = try Picture(store)
          #expect(after == before, "\(what)")
        }
        let problems = try store.outbox.verify().problems
        #expect(problems == [], "\(what)")
        try store.state.verify()
      }
      for pages in [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24] {
        try Self.fillUp(disk, leaving: pages << 12)
        try attempt("enqueue") {
          try add(added)
          added += 1
        }
        try attempt("file") {
          _ = try store.outbox.stage([UInt8](repeating: 1, count: 30_000), name: "n", mediaType: "m")
        }
        try attempt("update") { try store.update("other:\(pages)", ["text": .string(text)]) }
        try attempt("pause") { try store.commit { t in try store.outbox.pause(.queue("\(pages)"), in: &t) } }
        if let letter = try store.outbox.deadEntries(limit: 1).first {
          try attempt("requeue") { try store.commit { t in _ = try store.outbox.requeue(letter.entry.id, in: &t) } }
        }
        let key = try store.outbox.pendingEntries(limit: 9).last?.entry.get().key ?? ""
        try attempt("cancel") {
          try store.commit { t in
            _ = try store.outbox.cancel(.key(key), in: &t)
            try store.state.update(StateKey(type: "op", id: key), ["state": "cancelled"], in: &t)
          }
        }
        do {
          try await store.outbox.drain(
            with: sender, hooks: hooks, options: .init(goal: .once, concurrency: 1, pollInterval: nil))
          successes += 1
        } catch let error as StoreError where error.code == .diskFull { failures += 1 }
        try attempt("nothing") {}
        for n in 0..<3 where try store.outbox.counts().pending < 12 {
          try Self.fillUp(disk, leaving: 1 << 20)
          try add(added + n)
        }
        added += 3
      }
      print("full disk: \(failures) operations found no room, \(successes) did")
      #expect(failures >= 10 && successes >= 10)
      try FileSystem.removeFile("\(disk)/ballast")
      try await store.outbox.drain(with: sender, hooks: hooks, options: .init(pollInterval: nil))
      // Each has one end, and the state agrees with it.
      #expect(try store.outbox.counts().pending == 0)
      let dead = Set(try store.outbox.deadEntries(limit: .max).compactMap(\.entry.key))
      for n in 0..<added {
        let state = try store.state.merged([StateKey(type: "op", id: "\(n)")])["state"]?.stringValue
        #expect(state != "waiting" && (state == "failed") == dead.contains("\(n)"), "\(n)")
      }
      #expect(try store.outbox.verify().problems == [])
    }
  }
#endif
