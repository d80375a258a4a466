import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// A store in a directory of its own, with a clock that stands still until it is moved.
final class StateFixture: Sendable {
  let directory = TemporaryDirectory()
  private let clock = Monitor<Int64>(1_000_000)
  private let sleepers = Monitor<[CheckedContinuation<Void, Never>]>([])

  var path: String { "\(directory.path)/store" }
  var now: Int64 { clock.update { $0 } }

  func advance(_ milliseconds: Int64) { clock.update { $0 += milliseconds } }

  var time: SystemTime {
    SystemTime(
      now: { self.now },
      sleep: { _ in await withCheckedContinuation { sleeper in self.sleepers.update { $0.append(sleeper) } } })
  }

  /// Lets whoever sleeps wake up, once somebody does.
  func wake() async {
    while true {
      let woken = sleepers.update { sleepers in
        defer { sleepers = [] }
        return sleepers
      }
      for sleeper in woken { sleeper.resume() }
      if !woken.isEmpty { return }
      await Task.yield()
    }
  }

  func open(_ options: StateOptions = StateOptions()) throws -> Store {
    try Store.open(at: path, state: options, time: time)
  }
}

extension StateStore {
  /// All keys of a type, in pages.
  func allKeys(ofType type: String, limit: Int) throws -> [StateKey] {
    var keys: [StateKey] = []
    while true {
      let page = try self.keys(ofType: type, after: keys.last, limit: limit)
      if page.isEmpty { return keys }
      try #require(page.count <= limit && page.last != keys.last)
      keys += page
    }
  }
}

extension Store {
  /// Flips a bit of what a record holds.
  func damage(_ key: StateKey) throws {
    let (stored, records) = (key.storedBytes, state.rows.records)
    var bytes = try read { t in
      guard let record = try t.value(forKey: stored.span, in: records) else { return [UInt8]() }
      return [UInt8](copying: record)
    }
    bytes[bytes.count - 9] ^= 1
    try commit { [bytes] t in try t.set(bytes, forKey: stored, in: records) }
  }

  /// Updates one record in a transaction of its own.
  func update(_ key: StateKey, _ changes: FieldChanges, expires: StateExpiry = .unchanged) throws {
    try commit { try state.update(key, changes, expires: expires, in: &$0) }
  }

  /// The blocking write, also where the other one is preferred.
  @discardableResult
  func commit<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R { try write(body) }
}
