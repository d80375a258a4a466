import Harness
import LMDB
import Peers

/// The engine with one database, doing what the peers do.
final class HoldfastStore: Sendable {
  let environment: Environment
  let records: Database
  let path: String

  init(at path: String, _ durability: Durability) throws {
    let level: Environment.Options.Durability = durability == .powerLossSafe ? .full : .unsafeNoSync
    environment = try Environment.open(at: path, databases: ["records"], options: .init(durability: level))
    records = try environment.database("records")
    self.path = path
  }

  // MARK: - Reads

  /// Each key in a snapshot of its own.
  func get(_ keys: KeyBlock, _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      sum &+= try environment.read { transaction in
        try transaction.value(forKey: keys[index], in: records)?.touched ?? 0
      }
    }
    return sum
  }

  /// The same with text for a key.
  func get(_ keys: [String], _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      sum &+= try environment.read { transaction in
        try transaction.value(forKey: keys[index], in: records)?.touched ?? 0
      }
    }
    return sum
  }

  /// The same with a key that is put together from two texts.
  func get(type: String, ids: [String], _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      sum &+= try environment.read { transaction in
        try withKeyBuffer { key in
          key.append(type)
          key.append(UInt8(ascii: ":"))
          key.append(ids[index])
          return try transaction.value(forKey: key.bytes, in: records)?.touched ?? 0
        }
      }
    }
    return sum
  }

  /// Each value copied out of its snapshot.
  func copy(_ keys: KeyBlock, _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      let value: [UInt8]? = try environment.read { transaction in
        guard let value = try transaction.value(forKey: keys[index], in: records) else { return nil }
        return [UInt8](copying: value)
      }
      if let value { sum &+= value.span.touched }
    }
    return sum
  }

  /// All keys in one snapshot.
  func getInSnapshot(_ keys: KeyBlock, _ range: Range<Int>) throws -> UInt64 {
    try environment.read { transaction in
      var sum: UInt64 = 0
      for index in range { sum &+= try transaction.value(forKey: keys[index], in: records)?.touched ?? 0 }
      return sum
    }
  }

  /// Groups of keys, each in a snapshot of its own.
  func getGroups(_ keys: KeyBlock, _ range: Range<Int>, of group: Int) throws -> UInt64 {
    var sum: UInt64 = 0
    for start in stride(from: range.lowerBound, to: range.upperBound, by: group) {
      sum &+= try getInSnapshot(keys, start..<start + group)
    }
    return sum
  }

  /// Groups of ascending keys, each in a snapshot of its own, with one cursor.
  func getGroups(_ groups: [[[UInt8]]], _ range: Range<Int>) throws -> UInt64 {
    var sum: UInt64 = 0
    for index in range {
      try environment.read { transaction in
        try transaction.values(forKeys: groups[index], in: records) { _, value in sum &+= value?.touched ?? 0 }
      }
    }
    return sum
  }

  /// Records in order, from a key or from the first.
  func scan(from keys: KeyBlock, at index: Int?, limit: Int) throws -> UInt64 {
    try environment.read { transaction in
      var cursor = try transaction.cursor(in: records)
      var sum: UInt64 = 0
      var isInside = if let index { try cursor.seek(to: keys[index]) } else { try cursor.next() }
      var left = limit
      while isInside && left > 0 {
        sum &+= cursor.value.touched
        left -= 1
        isInside = try cursor.next()
      }
      return sum
    }
  }

  // MARK: - Writes

  func put(_ keys: KeyBlock, _ range: Range<Int>, _ values: ValueBlock, from start: Int, perCommit: Int) throws {
    for first in stride(from: range.lowerBound, to: range.upperBound, by: perCommit) {
      try environment.write { transaction in
        for index in first..<min(first + perCommit, range.upperBound) {
          try transaction.set(values[start + index - range.lowerBound], forKey: keys[index], in: records)
        }
      }
    }
  }

  func remove(_ keys: KeyBlock, _ range: Range<Int>, perCommit: Int) throws {
    for first in stride(from: range.lowerBound, to: range.upperBound, by: perCommit) {
      try environment.write { transaction in
        for index in first..<min(first + perCommit, range.upperBound) {
          try transaction.removeValue(forKey: keys[index], in: records)
        }
      }
    }
  }

  /// One record, committed together with those of other tasks.
  func putInGroup(_ keys: KeyBlock, _ index: Int, _ values: ValueBlock, _ valueIndex: Int) async throws {
    try await environment.write { [records] transaction in
      try transaction.set(values[valueIndex], forKey: keys[index], in: records)
    }
  }

  func run(
    _ operations: OperationList, _ range: Range<Int>, _ keys: KeyBlock, _ values: ValueBlock
  ) throws -> UInt64 {
    var sum: UInt64 = 0
    for (place, operation) in operations.operations[range].enumerated() {
      if operation.kind == .scan {
        sum &+= try scan(from: keys, at: operation.key, limit: operation.length)
        continue
      }
      if operation.kind != .update { sum &+= try get(keys, operation.key..<operation.key + 1) }
      if operation.kind != .read {
        let value = (operation.key + place) % keys.count
        try put(keys, operation.key..<operation.key + 1, values, from: value, perCommit: 1)
      }
    }
    return sum
  }
}
