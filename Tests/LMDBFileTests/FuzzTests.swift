import Foundation
import LMDBFile
import TestSupport
import Testing

/// A generator of its own, so that a seed gives the same damage everywhere (xorshift64*).
struct Dice: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

/// Damages small files at random. HOLDFAST_FUZZ is how many times (2,000 a layout), HOLDFAST_SEED where it starts.
@Suite struct FuzzTests {
  private static let executions = setting("HOLDFAST_FUZZ", or: 2000)
  private static let seed =
    UInt64(setting("HOLDFAST_SEED", or: .random(in: 1...1_000_000)))

  /// What a damaged file says: how many records, and whether it says that something is wrong.
  private static func read(_ bytes: [UInt8]) -> (records: Int, isSound: Bool) {
    guard let file = try? DataFile(ByteSource(bytes)), let snapshot = try? Snapshot(file) else { return (0, false) }
    var verifier = Verifier(snapshot)
    guard let report = try? verifier.run() else { return (0, false) }
    var isSound = report.count(.error) == 0
    var records = 0
    do {
      for tree in try snapshot.databases() {
        var cursor = try RecordCursor(snapshot, tree)
        while try cursor.next() {
          records += 1
          _ = try cursor.value(limit: 1 << 20)
          // Each record takes at least a byte of the file, so that a walk without an end shows.
          precondition(records <= bytes.count)
        }
        try cursor.finish()
      }
    } catch {
      isSound = false
    }
    if !isSound, var salvage = try? Salvage(file, .readable) {
      var found = 0
      try? salvage.run { _ in found += 1 }
      // At most what both commits, and all leaves, have.
      precondition(found <= 4 * bytes.count)
    }
    return (records, isSound)
  }

  private static func damage(_ bytes: [UInt8], pageSize: Int, _ dice: inout Dice) -> [UInt8] {
    var bytes = bytes
    // The first pages name the commit: another one that is as sound is no damage.
    let start = 2 * pageSize
    for _ in 0..<Int.random(in: 1...3, using: &dice) {
      let pages = bytes.count / pageSize
      if pages < 4 { break }
      let place = Int.random(in: start..<bytes.count, using: &dice)
      let page = Int.random(in: 2..<pages, using: &dice) * pageSize
      switch Int.random(in: 0..<8, using: &dice) {
      case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &dice)
      case 2: bytes[place] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &dice)!
      // In the header and the table of a page, where most can go wrong.
      case 3, 4: bytes[page + Int.random(in: 0..<48, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
      case 5: for index in page..<page + pageSize { bytes[index] = 0 }
      case 6:
        let other = Int.random(in: 2..<pages, using: &dice) * pageSize
        bytes.replaceSubrange(page..<page + pageSize, with: bytes[other..<other + pageSize])
      default: bytes.removeLast(Int.random(in: 0..<bytes.count - start, using: &dice) / 2)
      }
    }
    return bytes
  }

  private static let layouts = [
    FileBuilder(wordSize: 8, isBigEndian: false, version: 1, pageSize: 256),
    FileBuilder(wordSize: 4, isBigEndian: true, version: 1, pageSize: 256),
    FileBuilder(wordSize: 8, isBigEndian: true, version: 2, pageSize: 512),
    FileBuilder(wordSize: 8, isBigEndian: false, version: 3, pageSize: 512),
    FileBuilder(wordSize: 4, isBigEndian: false, version: 3, pageSize: 256),
  ]

  /// Damage is never a trap or a walk without an end, and what has lost records is never called sound.
  @Test(arguments: 0..<5) func damageIsNeverTakenForSound(_ layout: Int) {
    var builder = Self.layouts[layout]
    let pageSize = builder.pageSize
    let (main, _) = LayoutTests.content(&builder)
    let original = builder.file(main: main)
    let whole = Self.read(original)
    #expect(whole.isSound)
    var wrong: [UInt64] = []
    for round in 0..<UInt64(Self.executions) {
      var dice = Dice(seed: Self.seed &+ round)
      let found = Self.read(Self.damage(original, pageSize: pageSize, &dice))
      if found.isSound && found.records != whole.records { wrong.append(Self.seed &+ round) }
    }
    #expect(wrong == [], "seeds that lost records unnoticed; HOLDFAST_SEED sets the first")
  }

  /// Heads of all kinds are read or refused.
  @Test func anyHeadIsReadOrRefused() {
    var builder = Self.layouts[0]
    let (main, _) = LayoutTests.content(&builder)
    let original = builder.file(main: main)
    for round in 0..<UInt64(Self.executions) {
      var dice = Dice(seed: Self.seed &+ round)
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &dice) {
        bytes[Int.random(in: 0..<512, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
      }
      _ = Self.read(bytes)
    }
  }
}
