import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Random programs, run by a store and by its twin, which must agree after each step.
@Suite struct StateModelTests {
  /// HOLDFAST_SEED repeats a run; HOLDFAST_SEEDS and HOLDFAST_STEPS make it longer, as 32 and 10000 for the whole of it.
  @Test func agreesWithDictionaries() async throws {
    let first = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    let count = setting("HOLDFAST_SEEDS", or: 4)
    let steps = setting("HOLDFAST_STEPS", or: 800)
    print("state model: seeds \(first)..<\(first + UInt64(count)), \(steps) steps")
    for seed in first..<first + UInt64(count) {
      let program = StateProgram.actions(seed: seed, count: steps, processes: 10)
      guard let failure = await Self.run(program) else { continue }
      let (shortest, reason) = await Self.shrink(Array(program.prefix(failure.step + 1)), failure.reason)
      let text = shortest.map { "  \($0)" }.joined(separator: "\n")
      Issue.record("seed \(seed), step \(failure.step): \(failure.reason)\nshrunk to: \(reason)\n\(text)")
      return
    }
  }

  /// The shortest program that can be found by leaving out parts and still fails.
  private static func shrink(_ program: [StateModel.Action], _ reason: String) async -> ([StateModel.Action], String) {
    var program = program
    var reason = reason
    var size = program.count / 2
    while size > 0 {
      var start = 0
      while start < program.count {
        var candidate = program
        candidate.removeSubrange(start..<min(start + size, program.count))
        if let failure = await run(candidate) {
          program = Array(candidate.prefix(failure.step + 1))
          reason = failure.reason
        } else {
          start += size
        }
      }
      size /= 2
    }
    return (program, reason)
  }

  private static func run(_ program: [StateModel.Action]) async -> (step: Int, reason: String)? {
    var step = 0
    do {
      var run = try StateRun()
      for (index, action) in program.enumerated() {
        step = index
        try await run.step(action, index)
      }
      try run.checkEverything()
      return nil
    } catch {
      return (step, "\(error)")
    }
  }
}

/// One run of a program.
private struct StateRun {
  struct Difference: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  struct TakenBack: Error {}

  private let fixture = StateFixture()
  private var store: Store
  private var twin = StateTwin()
  /// Draws what is compared; no part of the program.
  private var questions = StateProgram(seed: 42)

  init() throws {
    store = try Self.open(fixture)
    twin.now = fixture.now
  }

  private static func open(_ fixture: StateFixture) throws -> Store {
    try Store.open(at: fixture.path, time: fixture.time, options: .init(durability: .unsafeNoSync))
  }

  mutating func step(_ action: StateModel.Action, _ index: Int) async throws {
    switch action {
    case .write(let changes, let isTakenBack): try write(changes, isTakenBack)
    case .session(let change):
      try StateRun.apply(change, to: store.state.session)
      twin.apply(change)
    case .pass(let milliseconds):
      fixture.advance(milliseconds)
      twin.now = fixture.now
    case .reopen:
      try store.close()
      store = try Self.open(fixture)
      twin.session = [:]
    case .elsewhere(let seed):
      await #expect(processExitsWith: .success) {
        [path = fixture.path as String, now = fixture.now as Int64, seed = seed as UInt64] in
        let time = SystemTime(now: { now }, sleep: { _ in })
        let store = try Store.open(at: path, time: time, options: .init(durability: .unsafeNoSync))
        for changes in StateProgram.changes(seed: seed) {
          try store.commit { t in for change in changes { try StateRun.apply(change, to: store, in: &t) } }
        }
        exit(0)
      }
      for changes in StateProgram.changes(seed: seed) { for change in changes { twin.apply(change) } }
    }
    try checkSomething()
    if index % 250 == 249 { try checkEverything() }
  }

  private mutating func write(_ changes: [StateModel.Change], _ isTakenBack: Bool) throws {
    var after = twin
    for change in changes { after.apply(change) }
    do {
      try store.commit { [store] t in
        for change in changes { try StateRun.apply(change, to: store, in: &t) }
        if isTakenBack { throw TakenBack() }
      }
      twin = after
    } catch is TakenBack {
      // Purging sweeps the session, which is not taken back.
      if changes.contains(where: { if case .purge = $0 { true } else { false } }) { twin.session = after.session }
    }
  }

  static func apply(_ change: StateModel.Change, to store: Store, in t: inout WriteTransaction) throws {
    let state = store.state
    switch change {
    case .update(let key, let changes, let expiry): try state.update(key, changes, expires: expiry, in: &t)
    case .replace(let key, let fields, let expiry): try state.replace(key, with: fields, expires: expiry, in: &t)
    case .remove(let key): try state.remove(key, in: &t)
    case .removeFields(let names, let key): try state.remove(fields: names, of: key, in: &t)
    case .removeType(let type): try state.removeAll(type: type, in: &t)
    case .removeEverything: try state.removeAll(in: &t)
    case .addLayer(let entry, let changes, let policy):
      // A stand-in for the entry, so that layers and outbox agree.
      try t.set([1], forKey: entry.bigEndianBytes, in: store.outbox.entries)
      try state.layers.add(changes, for: entry, policy, in: &t)
    case .end(let entry, let isDelivered):
      try t.remove(entry.bigEndianBytes, in: store.outbox.entries)
      try state.layers.end(entry, isDelivered: isDelivered, at: state.time.now(), in: &t)
    case .purge: try state.purge(in: &t)
    case .purgeOlder(let age, let type): try state.purge(olderThan: .milliseconds(age), type: type, in: &t)
    case .purgeKeeping(let count, let type): try state.purge(type: type, keeping: count, in: &t)
    }
  }

  private static func apply(_ change: StateModel.SessionChange, to session: SessionState) throws {
    switch change {
    case .update(let key, let changes, let expiry): try session.update(key, changes, expires: expiry)
    case .replace(let key, let fields): try session.replace(key, with: fields)
    case .remove(let key): session.remove(key)
    case .removeType(let type): session.removeAll(type: type)
    }
  }

  // MARK: Comparing

  private mutating func checkSomething() throws {
    let keys = (0..<4).map { _ in questions.key() }
    try check(keys)
    let id = questions.id()
    try check(store.state.merged(ids: [id]), twin.merged(ids: [id]), "the id \(id)")
    let stamp = try store.read { [store] t in try store.state.rows.log.lastStamp(in: t) }
    if stamp != twin.stamp { throw Difference("the stamp is \(stamp), not \(twin.stamp)") }
  }

  func checkEverything() throws {
    for type in StateModel.types {
      for id in StateModel.ids { try check([StateKey(type: type, id: id)]) }
    }
    for id in StateModel.ids { try check(store.state.merged(ids: [id]), twin.merged(ids: [id]), "the id \(id)") }
    for type in StateModel.types { try checkList(ofType: type) }
    try store.state.verify()
  }

  private func checkList(ofType type: String) throws {
    let expected = StateModel.ids.map { StateKey(type: type, id: $0) }.filter { !twin.merged([$0]).isEmpty }
      .sorted { $0.storedBytes.lexicographicallyPrecedes($1.storedBytes) }
    for limit in [1, 3, 1000] {
      let listed = try store.state.allKeys(ofType: type, limit: limit)
      if listed != expected {
        throw Difference("the keys of \(type.prefix(10)) by \(limit): \(listed), not \(expected)")
      }
    }
  }

  private func check(_ keys: [StateKey]) throws {
    let expected = twin.merged(keys)
    // The second time from memory, as the first result may have been kept.
    try check(store.state.merged(keys), expected, "\(keys)")
    try check(store.state.merged(keys), expected, "\(keys), again")
    try check(store.state.withMerged(keys) { try $0.fields() }, expected, "\(keys) in place")
    let single = try store.state.withMerged(keys) { fields in try StateModel.names.map { try fields.value($0) } }
    for (name, value) in zip(StateModel.names, single) where value != expected[StateTwin.FieldName(name)] {
      throw Difference("the field \(name.prefix(10)) of \(keys) is \(value.debugDescription)")
    }
  }

  private func check(_ fields: FieldMap, _ expected: [StateTwin.FieldName: FieldValue], _ what: String) throws {
    if StateTwin.map(fields) != expected { throw Difference("\(what): \(fields), not \(expected)") }
  }
}
