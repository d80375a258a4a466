import Foundation
import Holdfast
import HoldfastHTTP
import Synchronization

/// Sends the recorded comments, and notes in the state what became of each.
struct Replay {
  private let store: Store
  private let sender: HTTPSender
  private let options: Options

  /// What the server says about a comment that it has taken.
  private struct Answer: Decodable {
    let serverId: Int64
  }

  init(_ store: Store, _ url: String, _ options: Options) throws {
    self.store = store
    self.options = options
    do {
      sender = try HTTPSender(baseURL: url.hasSuffix("/") ? url : url + "/", timeout: .seconds(10))
    } catch {
      throw UsageError(error.message)
    }
  }

  func run() async throws {
    let total = try store.outbox.counts().pending
    let progress = Mutex((shown: Progress("sending", of: total), count: 0))
    // Quick retries, since the example's server is near and its failures are short.
    let schedule = RetrySchedule(base: .milliseconds(50), cap: .seconds(1), floor: .milliseconds(10), maxAttempts: 200)
    try await store.outbox.drain(
      with: sender, hooks: hooks,
      options: .init(
        concurrency: options.concurrency, schedule: schedule,
        onEvent: { event in
          guard case .delivered = event else { return }
          progress.withLock { progress in
            progress.count += 1
            progress.shown.advance(to: progress.count)
          }
        }))
    progress.withLock { $0.shown.finish() }
  }

  private var hooks: OutboxHooks {
    OutboxHooks(
      onCommit: { [store, options] entry, reply, transaction in
        let comment = try Self.comment(of: entry)
        let answer = try JSONDecoder().decode(Answer.self, from: Data(reply))
        try store.state.update(
          comment.key, ["state": "delivered", "serverId": .int(answer.serverId)], in: &transaction)
        try store.state.add(-1, to: "waiting", of: StateKey(entry.lane), in: &transaction)
        try store.state.add(1, to: "delivered", of: StateKey(entry.lane), in: &transaction)
        if options.printsIDs {
          transaction.afterCommit { FileHandle.standardOutput.write(Data("\(comment.id)\n".utf8)) }
        }
      },
      onRollback: { [store] entry, reason, transaction in
        let comment = try Self.comment(of: entry)
        try store.state.update(comment.key, ["state": "refused", "reason": .string(reason)], in: &transaction)
        for field in ["comments", "waiting"] {
          try store.state.add(-1, to: field, of: StateKey(entry.lane), in: &transaction)
        }
      })
  }

  /// The comment that an entry carries, from its payload.
  private static func comment(of entry: OutboxEntry) throws -> (id: String, key: StateKey) {
    struct Content: Decodable { let id: String }
    let operation = try HTTPOperation(payload: entry.payload)
    let json: String =
      switch operation.body {
      case .json(let text): text
      case .form(let fields): fields.first?.value ?? ""
      case .empty: ""
      }
    let content = try JSONDecoder().decode(Content.self, from: Data(json.utf8))
    return (content.id, StateKey(type: "comment", id: content.id))
  }
}
