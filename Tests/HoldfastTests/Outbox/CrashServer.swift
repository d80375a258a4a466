import LMDB

@testable import Holdfast

/// A server that survives its clients: what it has done is in an environment of its own, and it recognises keys.
struct CrashServer {
  struct Effect: Equatable {
    var key: String
    var entry: UInt64
    var lane: String
    var text: String
  }

  private let environment: Environment
  private let effects: Database
  private let order: Database

  init(_ path: String) throws {
    environment = try Environment.open(
      at: path, databases: ["effects", "order"], options: .init(durability: .unsafeNoSync))
    effects = try environment.database("effects")
    order = try environment.database("order")
  }

  /// Does the work of an entry, once for a key.
  func take(_ entry: OutboxEntry) throws {
    try environment.write { t in
      let key = entry.idempotencyKey.bytes
      guard try t.value(forKey: key.span, in: effects) == nil else { return }
      let row = "\(entry.idempotencyKey)|\(entry.id)|\(entry.lane)|\(entry.text)"
      try t.set(Array(row.utf8), forKey: key, in: effects)
      let number = UInt64(try t.reader.count(of: order))
      try t.set(Array(row.utf8), forKey: number.bigEndianBytes, in: order)
    }
  }

  /// What it has done, in order.
  func log() throws -> [Effect] {
    try environment.read { t in
      var found: [Effect] = []
      var cursor = try t.cursor(in: order)
      while try cursor.next() {
        let parts = String(decoding: [UInt8](copying: cursor.value), as: UTF8.self).split(separator: "|")
        found.append(
          Effect(
            key: String(parts[0]), entry: UInt64(parts[1])!, lane: String(parts[2]), text: String(parts[3])))
      }
      return found
    }
  }
}
