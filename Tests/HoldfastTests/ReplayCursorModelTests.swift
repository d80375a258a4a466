import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// T15: several cursors over one journal, told to the store and to a naive twin; and the process killed around commits.
@Suite struct ReplayCursorModelTests {
  /// HOLDFAST_SEED repeats a run; HOLDFAST_STEPS makes it longer.
  @Test func agreesWithATwin() throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("seed \(seed)")
    let directory = TemporaryDirectory()
    var model = try CursorModel("\(directory.path)/store", seed: seed)
    for step in 0..<setting("HOLDFAST_STEPS", or: 400) {
      let action = try model.step()
      let difference = try model.difference()
      try #require(difference == nil, "seed \(seed), step \(step), \(action): \(difference ?? "")")
    }
  }

  /// How the process dies.
  enum Death: String, Codable, Sendable, CaseIterable { case inCommit, afterCommit, inSeek, inTrim, inOpen }

  /// HOLDFAST_KILLS is how often at each step.
  @Test(arguments: Death.allCases) func aKillLeavesEachRecordWithItsEffectOrPending(_ death: Death) async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    for round in 0..<setting("HOLDFAST_KILLS", or: 2) {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, death = death as Death, round = round as Int] in
        var model = try CursorModel(path, seed: UInt64(round), isFresh: false)
        try model.work(20)
        try model.die(death)
      }
      // With the first look after the kill, before anything repairs it.
      try CursorModel.checkEffects(Store.open(at: path))
    }
  }
}

/// A store with cursors, and what should be there.
private struct CursorModel {
  struct Refusal: Error {}

  /// A cursor as the specification has it: a floor, and a set above it.
  struct Twin {
    var handle: ReplayCursor
    var kinds: Set<JournalRecord.Kind>?
    var isRequired: Bool
    var floor: UInt64
    var acknowledged: Set<UInt64> = []
    var missed: UInt64 = 0

    func wants(_ record: JournalRecord) -> Bool { kinds?.contains(record.kind) ?? (record.kind != .cursorMoved) }
  }

  private let path: String
  private var store: Store
  private var twins: [String: Twin] = [:]
  private var log: [JournalRecord] = []
  private var last: UInt64 = 0
  private var random: Twister

  init(_ path: String, seed: UInt64, isFresh: Bool = true) throws {
    self.path = path
    store = try Store.open(at: path)
    random = Twister(state: seed)
    log = try store.journal()
    last = log.last?.sequence ?? 0
    if !isFresh { for position in try store.outbox.replayPositions() { try adopt(position.name) } }
  }

  /// Takes over a cursor of an earlier process.
  private mutating func adopt(_ name: String) throws {
    let kinds = Self.kinds(of: name)
    let handle = try store.write { [store] t in
      try store.outbox.replayCursor(name, from: .start, kinds: kinds, in: &t)
    }
    twins[name] = Twin(handle: handle, kinds: kinds, isRequired: true, floor: 0)
  }

  private static func kinds(of name: String) -> Set<JournalRecord.Kind>? { name == "b" ? [.claimed] : nil }

  private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func step() throws -> String {
    switch pick(0..<20) {
    case 0..<6: return try append()
    case 6..<8: return try open()
    case 8..<15: return try commit()
    case 15: return try seek()
    case 16..<18: return try trim()
    case 18:
      guard let name = twins.keys.sorted().randomElement(using: &random) else { return "nothing" }
      try store.write { [store] t in _ = try store.outbox.removeReplayCursor(name, in: &t) }
      twins[name] = nil
      return "remove \(name)"
    default:
      // Handles are of this store, so that all are opened again.
      store = try Store.open(at: path)
      return "reopen"
    }
  }

  private mutating func append() throws -> String {
    let kinds = (0..<pick(1..<6)).map { _ in JournalRecord.Kind.allCases[pick(0..<3)] }
    try store.write { [store] t in
      for kind in kinds { try store.outbox.journal.append(kind, EntryID(rawValue: 9), at: 0, in: &t) }
    }
    try read()
    return "append \(kinds)"
  }

  private mutating func read() throws {
    let fresh = try store.read { [store, last] t in try store.outbox.journal.records(after: last, limit: .max, in: t) }
    log += fresh
    last = log.last?.sequence ?? last
  }

  private mutating func open() throws -> String {
    let name = ["a", "b", "c", "d"][pick(0..<4)]
    let kinds = Self.kinds(of: name)
    let isRequired = name != "d"
    let oldest = log.first?.sequence ?? 1
    let start = [ReplayCursor.Start.start, .now, .at(UInt64.random(in: oldest...last + 1, using: &random))][pick(0..<3)]
    let handle = try store.write { [store] t in
      try store.outbox.replayCursor(name, from: start, kinds: kinds, isRequired: isRequired, in: &t)
    }
    let floor =
      switch start {
      case .start: oldest - 1
      case .now: last
      case .at(let number): number - 1
      }
    let fresh = Twin(handle: handle, kinds: kinds, isRequired: isRequired, floor: floor)
    twins[name, default: fresh].handle = handle
    return "open \(name) \(start)"
  }

  private mutating func commit() throws -> String {
    guard let name = twins.keys.sorted().randomElement(using: &random), var twin = twins[name], last > 0 else {
      return "nothing"
    }
    let numbers = (0..<pick(0..<6)).map { _ in
      UInt64.random(in: max(1, last > 30 ? last - 30 : 1)...last, using: &random)
    }
    if pick(0..<5) == 0 {
      do {
        try store.write { t in
          try twin.handle.commit(numbers, in: &t)
          throw Refusal()
        }
      } catch is Refusal {}
      return "take back the commit of \(numbers) by \(name)"
    }
    try store.write { t in try twin.handle.commit(numbers, in: &t) }
    twin.acknowledged.formUnion(numbers.filter { $0 > twin.floor })
    twins[name] = raised(twin)
    return "commit \(numbers) by \(name)"
  }

  private func raised(_ twin: Twin) -> Twin {
    var twin = twin
    for record in log where record.sequence == twin.floor + 1 {
      if twin.wants(record) && !twin.acknowledged.contains(record.sequence) { break }
      twin.floor += 1
    }
    twin.acknowledged = twin.acknowledged.filter { $0 > twin.floor }
    return twin
  }

  private mutating func seek() throws -> String {
    guard let name = twins.keys.sorted().randomElement(using: &random), var twin = twins[name] else { return "nothing" }
    let number = UInt64.random(in: (log.first?.sequence ?? 1)...last + 1, using: &random)
    try store.write { t in try twin.handle.seek(to: .at(number), in: &t) }
    twin.floor = number - 1
    twin.acknowledged = []
    twin.missed = 0
    twins[name] = twin
    try read()
    return "seek \(name) to \(number)"
  }

  private mutating func trim() throws -> String {
    let retention = JournalRetention(minimum: pick(0..<30), limit: pick(10..<60))
    let trimming = try store.write { [store] t in try store.outbox.trimJournal(retention, in: &t) }
    let limit = max(1, retention.limit)
    let minimum = min(max(1, retention.minimum), limit)
    guard log.count > minimum else { return "trim nothing" }
    for (name, twin) in twins where twin.isRequired { twins[name] = raised(twin) }
    let needed = twins.values.filter(\.isRequired).map(\.floor).min() ?? last
    let end = max(min(needed, last - UInt64(minimum)), last > UInt64(limit) ? last - UInt64(limit) : 0)
    var overrun: [String] = []
    for (name, twin) in twins where twin.floor < end {
      var twin = twin
      let lost = log.count {
        $0.sequence > twin.floor && $0.sequence <= end && twin.wants($0) && !twin.acknowledged.contains($0.sequence)
      }
      if lost > 0 { overrun.append(name) }
      twin.missed += UInt64(lost)
      twin.floor = end
      twins[name] = twin
    }
    let before = log.count
    log.removeAll { $0.sequence <= end }
    for (name, twin) in twins { if twin.floor == end { twins[name] = raised(twin) } }
    #expect(trimming.removed == before - log.count && trimming.overrun == overrun.sorted(), "trim to \(end)")
    return "trim to \(end)"
  }

  /// What the store says in another way than the twins.
  func difference() throws -> String? {
    let positions = try store.outbox.replayPositions()
    guard positions.map(\.name) == twins.keys.sorted() else { return "cursors \(positions)" }
    if try store.journal() != log { return "the journal" }
    let problems = try store.read { [store] t in try store.outbox.cursors.problems(store.outbox.journal, in: t) }
    if let problem = problems.first { return problem.text }
    for position in positions {
      guard let twin = twins[position.name] else { return "no twin" }
      // I2.
      if position.floor > last { return "\(position) is ahead of \(last)" }
      if position.floor != twin.floor || position.acknowledgedAhead != twin.acknowledged.count
        || position.missed != twin.missed
      {
        return "\(position), expected \(twin.floor) + \(twin.acknowledged.sorted()), missed \(twin.missed)"
      }
      if twin.missed > 0 { continue }
      let pending = try twin.handle.next(limit: .max)
      let expected = log.filter {
        $0.sequence > twin.floor && twin.wants($0) && !twin.acknowledged.contains($0.sequence)
      }
      if pending != expected { return "pending of \(position.name)" }
    }
    return nil
  }

  // MARK: For the kills

  /// Commits records together with an effect for each: a number in the store, which must never be more than one.
  private func commitWithEffects(_ twin: Twin, _ records: [JournalRecord], in t: inout WriteTransaction) throws {
    for record in records {
      _ = try store.outbox.meta.increment("effect \(twin.handle.name) \(record.sequence)", in: &t)
    }
    try twin.handle.commit(records, in: &t)
  }

  /// Does what cursors are for, for some steps.
  mutating func work(_ steps: Int) throws {
    for name in ["a", "b"] where twins[name] == nil { try adopt(name) }
    for _ in 0..<steps {
      _ = try append()
      for twin in twins.values {
        let pending = try twin.handle.next(limit: 8).filter { _ in Bool.random(using: &random) }
        try store.write { t in try commitWithEffects(twin, pending, in: &t) }
      }
    }
  }

  /// Ends the process in the middle of something.
  mutating func die(_ death: ReplayCursorModelTests.Death) throws {
    guard let twin = twins["a"] else { return }
    _ = try append()
    let pending = try twin.handle.next(limit: 5)
    try store.write { [store] t in
      switch death {
      case .inCommit: try commitWithEffects(twin, pending, in: &t)
      case .afterCommit:
        try commitWithEffects(twin, pending, in: &t)
        t.afterCommit { kill(getpid(), SIGKILL) }
        return
      case .inSeek: try twin.handle.seek(to: .start, in: &t)
      case .inTrim: try store.outbox.trimJournal(JournalRetention(minimum: 1, limit: 2), in: &t)
      case .inOpen: _ = try store.outbox.replayCursor("a", from: .start, in: &t)
      }
      kill(getpid(), SIGKILL)
    }
  }

  /// Each record has its effect exactly once if it is done with, and none if it is pending.
  static func checkEffects(_ store: Store) throws {
    let log = try store.journal()
    let last = log.last?.sequence ?? 0
    for position in try store.outbox.replayPositions() {
      #expect(position.floor <= last && position.missed == 0)
      let handle = try store.write { t in
        try store.outbox.replayCursor(position.name, from: .start, kinds: kinds(of: position.name), in: &t)
      }
      let pending = Set(try handle.next(limit: .max).map(\.sequence))
      for record in log where kinds(of: position.name)?.contains(record.kind) ?? true {
        let count = try store.read { t in
          try store.outbox.meta.value("effect \(position.name) \(record.sequence)", in: t)
        }
        #expect(count == (pending.contains(record.sequence) ? 0 : 1), "\(position.name) \(record.sequence)")
      }
    }
  }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
private struct Twister: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
