import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct RecoveryTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  /// An entry that was in flight when its process ended.
  private func lose(_ policy: RecoveryPolicy) throws -> Store {
    let store = try open()
    try store.enqueue("1", lane: "a") { $0.recovery = policy }
    _ = try store.claimAnew()
    return store
  }

  @Test func whatTheServerRecognisesIsSentAgain() async throws {
    let store = try lose(.resend)
    let sender = ReconcilingSender(.notDelivered)
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(sender.calls == ["send"])
  }

  @Test func aRequeuedLetterOfUnknownFateIsNotSentBlindly() async throws {
    let store = try open()
    try store.enqueue("1", lane: "a") { ($0.recovery, $0.maxAttempts) = (.probe, 1) }
    let lost = ScriptedSender { _, _ in .ambiguous(reason: "the reply was lost") }
    #expect(try await store.outbox.drain(with: lost).died == 1)
    _ = try await store.write { t in try store.outbox.requeue(EntryID(rawValue: 1), in: &t) }
    let sender = ReconcilingSender(.notDelivered)
    #expect(try await store.outbox.drain(with: sender, options: .init(concurrency: .max)).delivered == 1)
    #expect(sender.calls == ["reconcile", "send"])
  }

  @Test(
    arguments: [
      (.delivered(reply: [7]), ["reconcile"], 1, 0), (.notDelivered, ["reconcile", "send"], 1, 0),
      (.unknown, ["reconcile"], 0, 1),
      (.failed(.notSent(reason: "offline", closing: nil)), ["reconcile", "reconcile", "send"], 1, 0),
    ] as [(Reconciliation, [String], Int, Int)])
  func theServerIsAskedFirst(_ answer: Reconciliation, _ calls: [String], _ delivered: Int, _ held: Int) async throws {
    let store = try lose(.probe)
    let sender = ReconcilingSender(answer)
    let replies = Monitor<[[UInt8]]>([])
    let hooks = OutboxHooks(onCommit: { _, reply, _ in replies.update { $0.append(reply) } })
    let report = try await store.outbox.drain(with: sender, hooks: hooks)
    #expect(report.delivered == delivered && report.held == held)
    #expect(sender.calls == calls)
    if case .delivered(let reply) = answer { #expect(replies.update { $0 } == [reply]) }
  }

  @Test("T6: what the server may have forgotten is not sent again blindly")
  func theIdempotencyWindowEnds() async throws {
    let store = try lose(.resend)
    let sender = ReconcilingSender(.unknown)
    _ = try store.claimAnew()
    time.pass(.seconds(86_401))
    let report = try await store.outbox.drain(with: sender, options: .init(idempotencyWindow: .seconds(86_400)))
    #expect(report.held == 1 && sender.calls == ["reconcile"])
    try await store.write { t in try store.outbox.resolve(EntryID(rawValue: 1), as: .resend, in: &t) }
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(sender.calls == ["reconcile", "send"])
  }

  @Test(arguments: [HeldDecision.resend, .delivered, .giveUp(reason: "the user said no")])
  func whatMustNotBeSentTwiceIsHeldUntilSomebodyDecides(_ decision: HeldDecision) async throws {
    let store = try lose(.hold)
    try store.enqueue(["2"], lane: "a")
    let sender = ScriptedSender()
    for _ in 0..<3 { try await store.outbox.drain(with: sender) }
    #expect(sender.sent.isEmpty, "no drain releases it, and its lane waits")
    #expect(try store.outbox.pendingEntries(limit: 9).map(\.phase) == [.held, .waiting])
    try await store.write { t in try store.outbox.resolve(EntryID(rawValue: 1), as: decision, in: &t) }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == (decision == .resend ? ["1", "2"] : ["2"]))
    #expect(
      try store.outbox.counts() == .init(pending: 0, dead: decision == .giveUp(reason: "the user said no") ? 1 : 0))
    let again = #expect(throws: StoreError.self) {
      try store.write { t in try store.outbox.resolve(EntryID(rawValue: 1), as: decision, in: &t) }
    }
    #expect(again?.code == .notFound)
  }

  @Test(arguments: [SendOutcome.ambiguous(reason: "timed out"), .interrupted])
  func anOutcomeOfUnknownFateHoldsWhatMustNotBeSentTwice(_ outcome: SendOutcome) async throws {
    let store = try open()
    try store.enqueue("1") { $0.recovery = .hold }
    let sender = ScriptedSender { _, _ in outcome }
    #expect(try await store.outbox.drain(with: sender).held == 1)
    #expect(try await store.outbox.drain(with: sender).held == 0)
    #expect(sender.sent.count == 1)
  }

  @Test func aFailingHookSendsNothingTwiceThatMustNotBe() async throws {
    struct Refusal: Error {}
    let store = try open()
    try store.enqueue("1") { $0.recovery = .hold }
    let sender = ScriptedSender()
    let hooks = OutboxHooks(onCommit: { _, _, _ in throw Refusal() })
    #expect(try await store.outbox.drain(with: sender, hooks: hooks).held == 1)
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.count == 1)
  }

  @Test("T9: what was in flight when the process ended three times in a row is held")
  func aSuspectIsHeld() async throws {
    let store = try open()
    try store.enqueue(["poison", "behind"], lane: "a")
    for _ in 0..<3 { #expect(try store.claimAnew()?.entry.text == "poison") }
    try store.enqueue(["x"], lane: "b")
    let sender = ScriptedSender()
    let report = try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["x"] && report.held == 1)
    #expect(try store.outbox.pendingEntries(limit: 1)[0].lastError.contains("3 times"))
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.count == 1, "no drain releases it")
    try await store.write { t in try store.outbox.resolve(EntryID(rawValue: 1), as: .resend, in: &t) }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["x", "poison", "behind"])
  }

  @Test func aSuspectIsSentAlone() async throws {
    let store = try open()
    try store.enqueue(["suspect"], lane: "a")
    _ = try store.claimAnew()
    for n in 0..<6 { try store.enqueue(["\(n)"], lane: "\(n)") }
    let inFlight = Monitor<Set<String>>([])
    let company = Monitor<Set<String>>([])
    let sender = ScriptedSender { entry, _ in
      let now = inFlight.update { inFlight in
        inFlight.insert(entry.text)
        return inFlight
      }
      if now.contains("suspect") { company.update { $0.formUnion(now) } }
      for _ in 0..<10 { await Task.yield() }
      inFlight.update { _ = $0.remove(entry.text) }
      return .delivered(reply: [])
    }
    #expect(try await store.outbox.drain(with: sender).delivered == 7)
    #expect(company.update { $0 } == ["suspect"])
  }

  @Test func anAttemptThatComesToItsEndClearsTheSuspicion() async throws {
    let store = try open()
    try store.enqueue(["1"])
    for _ in 0..<2 { _ = try store.claimAnew() }
    let failing = ScriptedSender { _, _ in .transient(reason: "no") }
    try await store.outbox.drain(with: failing, options: .init(goal: .once))
    time.pass(.seconds(1000))
    for _ in 0..<2 { #expect(try store.claimAnew() != nil) }
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 1)
  }

  @Test func whatWasCancelledInFlightBeforeTheEndIsNotSentAgain() async throws {
    let store = try lose(.resend)
    try await store.write { t in _ = try store.outbox.cancel(.entry(EntryID(rawValue: 1)), in: &t) }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.isEmpty)
    #expect(try store.outboxRows().isEmpty)
  }
}

/// Answers the question what became of an entry once by script, then with "not delivered".
private final class ReconcilingSender: OutboxSender {
  private let state: Monitor<(answer: Reconciliation?, calls: [String])>

  init(_ answer: Reconciliation) { state = Monitor((answer, [])) }

  var calls: [String] { state.update { $0.calls } }

  func send(_ entry: OutboxEntry) async -> SendOutcome {
    state.update { $0.calls.append("send") }
    return .delivered(reply: [])
  }

  func reconcile(_ entry: OutboxEntry) async -> Reconciliation {
    state.update { state in
      state.calls.append("reconcile")
      defer { state.answer = nil }
      return state.answer ?? .notDelivered
    }
  }
}
