import Foundation
import LMDB
import TestSupport
import Testing

/// Random operations, told to the environment and to a dictionary, which must agree at each step.
@Suite struct ModelTests {
  /// HOLDFAST_SEED repeats a run; HOLDFAST_STEPS makes it longer.
  @Test(arguments: [64 << 10, 1 << 30]) func agreesWithADictionary(_ mapSize: Int) throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("seed \(seed)")
    var model = Model(seed: seed, options: .init(durability: .unsafeNoSync, mapSize: mapSize))
    for step in 0..<setting("HOLDFAST_STEPS", or: 600) {
      let action = try model.step()
      try #require(try model.agrees(), "seed \(seed), step \(step): \(action)")
    }
    try model.environment.verify()
  }
}

/// An environment, and what it should hold.
private struct Model {
  struct Refusal: Error {}

  let scratch = TemporaryDirectory()
  let options: Environment.Options
  var environment: Environment
  var database: Database
  var expected: [[UInt8]: [UInt8]] = [:]
  var generator: SeededGenerator

  init(seed: UInt64, options: Environment.Options) {
    self.options = options
    generator = SeededGenerator(seed: seed)
    (environment, database) = try! Environment.make(at: scratch(), options)
  }

  /// Does something, to both.
  mutating func step() throws -> String {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<12: return try write(nesting: 0)
    case 12..<14: return try rollBack()
    case 14: return try removeRange()
    case 15: return try reopen()
    case 16:
      try environment.compact()
      return "compact"
    case 17: return try walk()
    case 18: return try seek()
    default: return try readMany()
    }
  }

  /// The whole content, forwards.
  func agrees() throws -> Bool {
    var rest = expected.sorted { $0.key.lexicographicallyPrecedes($1.key) }[...]
    return try environment.read { t in
      var cursor = try t.cursor(in: database)
      while try cursor.next() {
        guard let next = rest.popFirst(), next.key == [UInt8](copying: cursor.key) else { return false }
        guard next.value == [UInt8](copying: cursor.value) else { return false }
      }
      return rest.isEmpty
    }
  }

  private mutating func key() -> [UInt8] {
    let length = Int.random(in: 0..<20, using: &generator) == 0 ? 511 : Int.random(in: 1...3, using: &generator)
    return (0..<length).map { _ in [0, 1, 0x61, 0xFF].randomElement(using: &generator)! }
  }

  private mutating func value() -> [UInt8] {
    let sizes = [0, 1, 7, 100, 2026, 5000, 20_000]
    return [UInt8](
      repeating: UInt8.random(in: 0...255, using: &generator), count: sizes.randomElement(using: &generator)!)
  }

  /// Operations are drawn before the transaction, which may run twice.
  private mutating func changes() -> [(key: [UInt8], value: [UInt8]?)] {
    (0..<Int.random(in: 1...30, using: &generator)).map { _ in
      (key(), Int.random(in: 0..<3, using: &generator) == 0 ? nil : value())
    }
  }

  private static func apply(
    _ changes: [(key: [UInt8], value: [UInt8]?)], to database: Database, in t: inout WriteTransaction
  ) throws {
    for (key, value) in changes {
      if let value {
        try t.set(value.span, forKey: key.span, in: database)
      } else {
        try t.removeValue(forKey: key.span, in: database)
      }
    }
  }

  private mutating func write(nesting: Int) throws -> String {
    let outer = changes()
    let inner = changes()
    let refused = changes()
    try environment.write { t in
      try Model.apply(outer, to: database, in: &t)
      try t.nested { try Model.apply(inner, to: database, in: &$0) }
      do {
        try t.nested { n in
          try Model.apply(refused, to: database, in: &n)
          throw Refusal()
        }
      } catch is Refusal {}
    }
    for (key, value) in outer + inner { expected[key] = value }
    return "write \(outer.count) + \(inner.count)"
  }

  private mutating func rollBack() throws -> String {
    let refused = changes()
    do {
      try environment.write { t in
        try Model.apply(refused, to: database, in: &t)
        throw Refusal()
      }
    } catch is Refusal {}
    return "roll back"
  }

  private mutating func range() -> KeyRange {
    func bound(_ key: [UInt8]) -> KeyRange.Bound {
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: .unbounded
      case 1: .included(key)
      default: .excluded(key)
      }
    }
    let ends = [key(), key()].sorted { $0.lexicographicallyPrecedes($1) }
    return Bool.random(using: &generator)
      ? .prefix(Array(key().prefix(2))) : KeyRange(lower: bound(ends[0]), upper: bound(ends[1]))
  }

  private func keys(in range: KeyRange) -> [[UInt8]] {
    expected.keys.filter { key in
      let isAbove =
        switch range.lower {
        case .unbounded: true
        case .included(let end): !key.lexicographicallyPrecedes(end)
        case .excluded(let end): end.lexicographicallyPrecedes(key)
        }
      let isBelow =
        switch range.upper {
        case .unbounded: true
        case .included(let end): !end.lexicographicallyPrecedes(key)
        case .excluded(let end): key.lexicographicallyPrecedes(end)
        }
      return isAbove && isBelow
    }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private mutating func removeRange() throws -> String {
    let range = range()
    let doomed = keys(in: range)
    let removed = try environment.write { try $0.removeAll(range, in: database) }
    for key in doomed { expected[key] = nil }
    return removed == doomed.count ? "remove \(range)" : "removed \(removed) instead of \(doomed.count)"
  }

  private mutating func reopen() throws -> String {
    try environment.close()
    (environment, database) = try Environment.make(at: scratch(), options)
    return "reopen"
  }

  /// A range forwards and backwards again.
  private mutating func walk() throws -> String {
    let range = range()
    let wanted = keys(in: range)
    let (there, back) = try environment.read { t in
      var there: [[UInt8]] = []
      var back: [[UInt8]] = []
      var cursor = try t.cursor(in: database, over: range)
      while try cursor.next() { there.append([UInt8](copying: cursor.key)) }
      while try cursor.previous() { back.append([UInt8](copying: cursor.key)) }
      return (there, back)
    }
    try #require(there == wanted && back == wanted.reversed(), "walk \(range)")
    return "walk \(range)"
  }

  private mutating func seek() throws -> String {
    let range = range()
    let target = key()
    let wanted = keys(in: range).first { !$0.lexicographicallyPrecedes(target) }
    let found = try environment.read { t in
      var cursor = try t.cursor(in: database, over: range)
      return try cursor.seek(to: target.span) ? [UInt8](copying: cursor.key) : nil
    }
    try #require(found == wanted, "seek \(target) in \(range)")
    return "seek"
  }

  private mutating func readMany() throws -> String {
    let keys = (0..<20).map { _ in key() }
    let found = try environment.read { t in
      var found: [[UInt8]?] = []
      for key in keys {
        if let value = try t.value(forKey: key.span, in: database) {
          found.append([UInt8](copying: value))
        } else {
          found.append(nil)
        }
      }
      return found
    }
    try #require(found == keys.map { expected[$0] }, "read \(keys)")
    return "read"
  }
}
