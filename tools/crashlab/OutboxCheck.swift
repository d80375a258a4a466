import Foundation
import Holdfast
import LMDB

/// Opens one state that a crash may have left, and looks whether all is there that was durable, and whole.
struct OutboxCheck {
  let directory: String

  /// `correct`, or what is wrong.
  func verdict() async -> String {
    do {
      let facts = try CrashFacts(of: directory)
      let store = try Store.open(at: directory)
      let problems = try store.outbox.verify().problems
      guard problems.isEmpty else { return "WRONG: \(problems)" }
      try store.state.verify()
      let states = try OutboxWorkload.states(store, through: OutboxWorkload.steps)
      if let wrong = agreement(states, facts) { return "WRONG: \(wrong)" }
      let pending = try store.outbox.pendingEntries(limit: .max).map { try $0.entry.get() }
      let dead = try store.outbox.deadEntries(limit: .max).map(\.entry)
      for (entries, name) in [(pending, "waiting"), (dead, "failed")] {
        guard Set(entries.map(\.number)) == Set(states.filter { $0.value == name }.keys) else {
          return "WRONG: what is \(name) is not what the records say"
        }
      }
      for entry in pending + dead {
        for file in entry.attachments {
          guard let size = Int(file.name), size == file.size,
            let content = FileManager.default.contents(atPath: file.path),
            Array(content) == OutboxWorkload.file(entry.number, size)
          else { return "WRONG: the file of \(entry.number) is not whole" }
        }
      }
      return try await goesOn(store) ?? "correct"
    } catch {
      return "WRONG: \(error)"
    }
  }

  /// What was durable is there, and what no step has begun is not.
  private func agreement(_ states: [Int: String], _ facts: CrashFacts) -> String? {
    if let newest = states.keys.max(), newest >= (facts.begun + 1) * OutboxWorkload.perStep {
      return "\(newest) is there before its step"
    }
    for (number, state) in facts.content {
      let found = states[number]
      if found == nil { return "\(number) is lost" }
      // Nothing is under way, so that nothing can have changed since.
      if facts.ended == facts.begun && found != state { return "\(number) is \(found ?? ""), not \(state)" }
      if state == "sent" && found != "sent" { return "\(number) was sent, and is \(found ?? "") again" }
    }
    return nil
  }

  /// Whatever was found, the store goes on: everything is delivered, and no file is left.
  private func goesOn(_ store: Store) async throws -> String? {
    let sender = DeliveringSender()
    try await store.outbox.drain(with: sender)
    let counts = try store.outbox.counts()
    guard counts.pending == 0 else { return "WRONG: \(counts.pending) entries cannot be delivered" }
    let kept = try store.outbox.deadEntries(limit: .max).flatMap(\.entry.attachments).count
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/attachments")) ?? []
    return files.count == kept ? nil : "WRONG: \(files.count) files are there for \(kept)"
  }
}

private struct DeliveringSender: OutboxSender {
  func send(_ entry: OutboxEntry) async -> SendOutcome { .delivered(reply: []) }
}

/// What is known about a state: whether the power was cut, how far the program was, and what it had by then.
struct CrashFacts {
  let isPowerCut: Bool
  /// The last step that had begun.
  let begun: Int
  /// The last step that had ended.
  let ended: Int
  /// What was there at the end of that step: numbers and what was said of them.
  let content: [(Int, String)]

  init(of directory: String) throws {
    let lines = try String(contentsOfFile: "\(directory).facts", encoding: .utf8).split(separator: "\n")
    isPowerCut = lines[0] == "power"
    begun = Int(lines[1]) ?? 0
    ended = Int(lines[2]) ?? 0
    content = lines[3...].map { line in
      let words = line.split(separator: " ")
      return (Int(words[0]) ?? -1, String(words[1]))
    }
  }
}
