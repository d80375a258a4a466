// The Swift side of tools/check-instructions; twin.c does the same work with liblmdb alone.
//
// instructions <mode> <operations> <directory>

import Foundation
import Holdfast
import LMDB

let mode = CommandLine.arguments[1]
let operations = Int(CommandLine.arguments[2]) ?? 0
if mode.contains("-") {
  print(try stateReads(mode, operations, at: CommandLine.arguments[3]))
  exit(0)
}
if mode == "enqueue" || mode == "deliver" {
  print(try outboxWork(mode, operations, at: CommandLine.arguments[3]))
  exit(0)
}
let environment = try Environment.open(
  at: CommandLine.arguments[3], databases: ["a"], options: .init(durability: .unsafeNoSync, mapSize: 256 << 20))
let a = try environment.database("a")

/// Pseudo-random numbers below `entries`.
struct Numbers {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % 10_000
  }
}

/// A number as a key that sorts as numbers do, on the stack.
@inline(__always)
func withKey<R>(_ number: UInt64, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
  var key: InlineArray<8, UInt8> = .init(repeating: 0)
  for index in 0..<8 { key[index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)) }
  return try body(key.span)
}

let value = [UInt8](repeating: 7, count: 100)
for part in 0..<10 {
  try environment.write { t in
    for n in 0..<UInt64(1000) {
      try withKey(UInt64(part) * 1000 + n) { key in try t.set(value.span, forKey: key, in: a) }
    }
  }
}

/// The operations; in a function, since globals cost more than locals.
func run(_ mode: String, _ operations: Int, _ environment: Environment, _ a: Database) throws -> Int {
  var numbers = Numbers()
  var sum = 0
  switch mode {
  case "scope":
    for _ in 0..<operations {
      try withKey(numbers.next()) { key in
        sum += try environment.read { t in try t.value(forKey: key, in: a)?.count ?? 0 }
      }
    }
  case "copied":
    for _ in 0..<operations {
      let copy: [UInt8]? = try withKey(numbers.next()) { key in
        try environment.read { t in
          guard let value = try t.value(forKey: key, in: a) else { return nil }
          return [UInt8](copying: value)
        }
      }
      sum += Int(copy?.last ?? 0)
    }
  case "get":
    sum = try environment.read { t in
      var sum = 0
      for _ in 0..<operations {
        try withKey(numbers.next()) { key in sum += try t.value(forKey: key, in: a)?.count ?? 0 }
      }
      return sum
    }
  case "text":
    sum = try environment.read { t in
      var sum = 0
      let key = "a key that is not there"
      for _ in 0..<operations { sum += try t.value(forKey: key, in: a)?.count ?? 1 }
      return sum
    }
  case "composed":
    sum = try environment.read { t in
      var sum = 0
      let type = "user"
      let id = "0123456789abcdef"
      for _ in 0..<operations {
        sum += try withKeyBuffer { key in
          key.append(type)
          key.append(UInt8(ascii: ":"))
          key.append(id)
          return try t.value(forKey: key.bytes, in: a)?.count ?? 1
        }
      }
      return sum
    }
  case "step":
    sum = try environment.read { t in
      var sum = 0
      for _ in 0..<operations / 10_000 {
        var cursor = try t.cursor(in: a)
        while try cursor.next() { sum += cursor.value.count }
      }
      return sum
    }
  case "hit":
    let cache = try DiskCache.open(at: "\(environment.path)/cache")
    let keys = (0..<10_000).map { "thumbnail:\($0)" }
    let value = [UInt8](repeating: 7, count: 100)
    try cache.setValues(keys.map { ($0, value) })
    for key in keys { sum += try cache.value(forKey: key)?.count ?? 0 }
    for _ in 0..<operations { sum += try cache.value(forKey: keys[Int(numbers.next())])?.count ?? 0 }
  case "hit4k": sum = try diskHits(4096, operations, at: environment.path)
  case "hit20k": sum = try diskHits(20_000, operations, at: environment.path)
  case "set4k": sum = try diskSets(4096, operations, at: environment.path)
  case "set20k": sum = try diskSets(20_000, operations, at: environment.path)
  case "put":
    for part in 0..<operations / 1000 {
      try environment.write { t in
        for n in 0..<UInt64(1000) {
          try withKey(UInt64(10_000 + part * 1000) + n) { key in try t.set(value.span, forKey: key, in: a) }
        }
      }
    }
  case "replace", "assign": sum = memorySets(mode, operations)
  case "memory", "dictionary": sum = memoryHits(mode, operations)
  default: break
  }
  return sum
}

print(try run(mode, operations, environment, a))
