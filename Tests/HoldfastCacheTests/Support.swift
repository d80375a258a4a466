import Foundation
import LMDB
import TestSupport

@testable import Holdfast

/// A machine whose clock, boot id and disk a test sets; its sleeps last until they are woken.
final class TestMachine: Sendable {
  struct State {
    var now: Int64 = 1_700_000_000_000
    var bootID = Array("boot-1".utf8)
    var available: Int? = 1 << 40
    var sleepers: [CheckedContinuation<Void, Never>] = []
    var naps = 0
  }

  let state = Monitor(State())

  var system: CacheSystem {
    CacheSystem(
      time: SystemTime(
        now: { self.state.update { $0.now } },
        sleep: { _ in
          await withCheckedContinuation { continuation in
            self.state.update { state in
              state.naps += 1
              state.sleepers.append(continuation)
            }
          }
        }),
      bootID: { () throws(StoreError) in self.state.update { $0.bootID } },
      availableBytes: { _ in self.state.update { $0.available } })
  }

  func advance(_ duration: Duration) { state.update { $0.now += duration.milliseconds } }

  /// Lets all sleeps end, once there is one. Suspends until then: to block would take a thread from the one that sleeps.
  func wake() async {
    while true {
      let sleepers = state.update { state in
        defer { state.sleepers = [] }
        return state.sleepers
      }
      for sleeper in sleepers { sleeper.resume() }
      if !sleepers.isEmpty { return }
      await Task.yield()
    }
  }

  func restart() {
    state.update { state in
      state.bootID += [UInt8(ascii: "+")]
      state.now += 60_000
    }
  }

  deinit { for sleeper in state.update({ $0.sleepers }) { sleeper.resume() } }
}

extension DiskCache {
  static func open(
    _ path: String, _ machine: TestMachine, _ configuration: Configuration = Configuration()
  ) throws -> DiskCache {
    try open(at: path, configuration: configuration, system: machine.system)
  }

  /// The synchronous forms, for asynchronous tests.
  func put(_ key: String, _ value: [UInt8], _ options: CacheEntryOptions = CacheEntryOptions()) throws {
    try setValue(value, forKey: key, options: options)
  }

  func drop(_ key: String) throws { try removeObject(forKey: key) }

  /// Changes the bytes of a record in the tree.
  func damage(_ key: String, _ change: ([UInt8]) -> [UInt8]) throws {
    let stored = try DiskCacheKey(key)
    try environment.write { transaction in
      let tree = stored.bytes
      var bytes: [UInt8] = []
      if let found = try transaction.value(forKey: tree.span, in: tables.entries) { bytes = [UInt8](copying: found) }
      let changed = change(bytes)
      try transaction.set(changed.span, forKey: tree.span, in: tables.entries)
    }
  }
}

/// Random numbers that a seed decides; the seed is printed when a test fails, and `HOLDFAST_SEED` sets it.
struct Randomness: RandomNumberGenerator {
  let seed: UInt64
  private var numbers: SeededGenerator

  init() { self.init(seed: UInt64(setting("HOLDFAST_SEED", or: .random(in: 0...(.max))))) }

  init(seed: UInt64) {
    self.seed = seed
    numbers = SeededGenerator(seed: seed)
  }

  mutating func next() -> UInt64 { numbers.next() }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let word = next()
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return Array(bytes[..<count])
  }
}

private let noise: [UInt8] = {
  var randomness = Randomness(seed: 7)
  return randomness.bytes(3_010_000)
}()

/// Bytes that tell what they belong to, up to 3 MB: another part of the same noise for each of 10,000 salts.
func pattern(_ count: Int, _ salt: Int = 0) -> [UInt8] { Array(noise[(salt % 10_000)...].prefix(count)) }
