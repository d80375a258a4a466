import Foundation
import Holdfast
import LMDB

/// A cache that is filled, overwritten, trimmed and flushed, and that notes how far it is.
struct CacheWorkload {
  static let keys = 24
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func run(at path: String) throws {
    let cache = try DiskCache.open(
      at: path, configuration: Self.configuration, system: CrashLab.system(bootID: "before"))
    let notes = try File("\(path)/notes", .new)
    for step in 1...120 {
      try notes.write(Array("begin \(step)\n".utf8).span)
      let key = "key \(below(Self.keys))"
      switch below(16) {
      case 0: try cache.removeObject(forKey: key)
      case 1:
        try cache.flush()
        try notes.write(Array("flush \(step)\n".utf8).span)
      case 2 where step > 60: try cache.removeAllObjects()
      default:
        let size = [40, 700, 3000, 4096, 9000, 30_000][below(6)]
        try cache.setValue(Self.value(key, step, size), forKey: key)
      }
      let content = try (0..<Self.keys).map { index -> String in
        let key = "key \(index)"
        return try cache.value(forKey: key).flatMap { Self.step(of: $0, key) }.map { "\(index) \($0)" } ?? "\(index) -"
      }
      try notes.write(Array("end \(step)|\(content.joined(separator: "|"))\n".utf8).span)
    }
  }

  static let configuration = DiskCache.Configuration(
    limits: .init(costLimit: 200_000), inlineThreshold: 16_000, syncDelay: .seconds(3600))

  /// A value that tells whose it is, from which step, and whether all of it is there.
  static func value(_ key: String, _ step: Int, _ size: Int) -> [UInt8] {
    let line = "\(key) \(step) \(size)\n"
    let count = max(size, line.utf8.count)
    return Array(String(repeating: line, count: count / line.utf8.count + 1).utf8.prefix(count))
  }

  /// The step of a value that is whole and belongs to a key.
  static func step(of value: [UInt8], _ key: String) -> Int? {
    let line = String(decoding: value.prefix { $0 != 10 }, as: UTF8.self).split(separator: " ")
    guard line.count == 4, line[0] + " " + line[1] == key, let step = Int(line[2]), let size = Int(line[3]),
      Self.value(key, step, size) == value
    else { return nil }
    return step
  }

  private mutating func below(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }
}
