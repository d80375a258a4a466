import LMDB
import TestSupport

@testable import Holdfast

/// Random programs of everything that can happen to the state.
enum StateModel {
  /// A change inside a transaction.
  enum Change: Sendable {
    case update(StateKey, FieldChanges, StateExpiry)
    case replace(StateKey, FieldMap, StateExpiry)
    case remove(StateKey)
    case removeFields([String], StateKey)
    case removeType(String)
    case removeEverything
    case addLayer(UInt64, [StateKey: FieldChanges], OptimisticPolicy)
    case end(UInt64, isDelivered: Bool)
    case purge
    case purgeOlder(Int64, type: String?)
    case purgeKeeping(Int, type: String)
  }

  enum SessionChange: Sendable {
    case update(StateKey, FieldChanges, StateExpiry)
    case replace(StateKey, FieldMap)
    case remove(StateKey)
    case removeType(String)
  }

  enum Action: Sendable {
    /// Changes in one transaction, which may be taken back in the end.
    case write([Change], isTakenBack: Bool)
    case session(SessionChange)
    case pass(Int64)
    case reopen
    /// Changes that another process makes, drawn from a seed.
    case elsewhere(seed: UInt64)
  }

  static let types = ["post", "user", "a", String(repeating: "t", count: 505)]
  static let ids = ["1", "2", "10", "e\u{301}", "\u{E9}", "a:b", "x\0y", String(repeating: "long", count: 200)]
  static let names = ["a", "b", "c", "", "e\u{301}", "\u{E9}", String(repeating: "n", count: 1100)]
}

/// Draws programs; the same seed gives the same one.
struct StateProgram {
  private var generator: SeededGenerator
  /// Entries with layers, as far as the program knows.
  private var entries: [UInt64] = []
  private var lastEntry: UInt64

  init(seed: UInt64, firstEntry: UInt64 = 0) {
    generator = SeededGenerator(seed: seed)
    lastEntry = firstEntry
  }

  static func actions(seed: UInt64, count: Int, processes: Int) -> [StateModel.Action] {
    var program = StateProgram(seed: seed)
    return (0..<count).map { _ in program.action(processes: processes) }
  }

  /// What another process does: entries of its own, all settled in the end or left.
  static func changes(seed: UInt64) -> [[StateModel.Change]] {
    var program = StateProgram(seed: seed, firstEntry: 1_000_000 * (seed % 1_000_000 + 1))
    return (0..<10).map { _ in (0..<program.number(3) + 1).map { _ in program.change() } }
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  private mutating func action(processes: Int) -> StateModel.Action {
    switch number(100) {
    case 0..<70: .write((0..<number(4) + 1).map { _ in change() }, isTakenBack: number(10) == 0)
    case 70..<85: .session(sessionChange())
    case 85..<98: .pass(Int64(number(3000)))
    default:
      if processes > 0 && number(processes) == 0 {
        .elsewhere(seed: UInt64(number(1_000_000_000)))
      } else {
        .reopen
      }
    }
  }

  private mutating func change() -> StateModel.Change {
    switch number(100) {
    case 0..<40: return .update(key(), changes(), expiry())
    case 40..<50: return .replace(key(), fields(), expiry())
    case 50..<56: return .remove(key())
    case 56..<62: return .removeFields([name()], key())
    case 62..<64: return .removeType(type())
    case 64: return .removeEverything
    case 65..<78:
      lastEntry += 1
      entries.append(lastEntry)
      var changes: [StateKey: FieldChanges] = [:]
      // Not by way of a set, whose order is another one in each process.
      for _ in 0..<number(3) + 1 { changes[key()] = self.changes() }
      return .addLayer(lastEntry, changes, number(4) == 0 ? .drop : .fold)
    case 78..<92:
      guard let entry = entries.randomElement(using: &generator) else { return .purge }
      entries.removeAll { $0 == entry }
      return .end(entry, isDelivered: number(2) == 0)
    case 92..<96: return .purge
    case 96..<98: return .purgeOlder(Int64(number(5000)), type: number(2) == 0 ? nil : type())
    default: return .purgeKeeping(number(4), type: type())
    }
  }

  private mutating func sessionChange() -> StateModel.SessionChange {
    switch number(10) {
    case 0..<6: .update(key(), changes(), expiry())
    case 6: .replace(key(), fields())
    case 7..<9: .remove(key())
    default: .removeType(type())
    }
  }

  mutating func key() -> StateKey { StateKey(type: type(), id: id()) }
  mutating func id() -> String { StateModel.ids[number(StateModel.ids.count)] }
  private mutating func type() -> String { StateModel.types[number(StateModel.types.count)] }
  private mutating func name() -> String { StateModel.names[number(StateModel.names.count)] }

  private mutating func value() -> FieldValue {
    switch number(8) {
    case 0: .null
    case 1: .bool(number(2) == 0)
    case 2: .double(.nan)
    case 3: .string(String(repeating: "é", count: number(50)))
    case 4: .array([.int(Int64(number(9))), "x"])
    case 5: .bytes([UInt8](repeating: 7, count: number(20) == 0 ? 6000 : number(20)))
    default: .int(Int64(number(1000)))
    }
  }

  private mutating func changes() -> FieldChanges {
    var changes = FieldChanges()
    for _ in 0..<number(3) + 1 { changes[name()] = number(4) == 0 ? nil : value() }
    return changes
  }

  private mutating func fields() -> FieldMap {
    var fields = FieldMap()
    for _ in 0..<number(4) { fields[name()] = value() }
    return fields
  }

  private mutating func expiry() -> StateExpiry {
    switch number(8) {
    case 0: .after(.milliseconds(number(4000)))
    case 1: .never
    default: .unchanged
    }
  }
}
