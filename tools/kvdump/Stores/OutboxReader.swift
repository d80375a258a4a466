import Holdfast
import LMDB
import LMDBFile

/// The outbox of a store, as a snapshot of the file has it.
struct OutboxReader {
  /// An entry, whatever has become of it.
  struct Item {
    let id: EntryID
    let entry: OutboxEntry?
    /// waiting, inFlight, held or dead.
    let state: String
    let attempts: Int
    /// When it is tried next, or was given up, in milliseconds since 1970; 0 if no time says so.
    let notBefore: Int64
    /// When it is given up, if it has not been delivered; 0 for never.
    var expiresAt: Int64 = 0
    /// When an attempt ended of which nobody knows whether it reached the server; 0 if there is none.
    var ambiguousSince: Int64 = 0
    var isCancelRequested = false
    /// Why it failed last, or cannot be read.
    let reason: String
    /// Whether it cannot be read.
    let isCorrupt: Bool
  }

  static let states = ["waiting", "inFlight", "held", "dead"]

  private let entries: StoreTable
  private let deliveries: StoreTable
  private let dead: StoreTable
  private let layout: UInt64
  private let clock: OutboxRow.Clock?
  private let snapshot: Snapshot
  private let reading: Reading

  init(_ reading: Reading, _ snapshot: Snapshot) throws(Failure) {
    self.reading = reading
    self.snapshot = snapshot
    entries = try StoreTable("outbox.entry", of: "outbox", reading, snapshot)
    deliveries = try StoreTable("outbox.state", of: "outbox", reading, snapshot)
    dead = try StoreTable("outbox.dead", of: "outbox", reading, snapshot)
    let meta = try StoreTable("outbox.meta", of: "outbox", reading, snapshot)
    let number = try meta.value(OutboxRow.layoutKey).map { OutboxRow.number($0) } ?? 0
    guard let number else {
      throw Failure(
        .damagedData,
        "\(printable(reading.path)): the number of the outbox's layout cannot be read, so the store cannot be opened; "
          + "restore a copy")
    }
    layout = number
    guard layout <= OutboxRow.layout else {
      throw Failure(
        .notAStore,
        "\(printable(reading.path)): its outbox has layout \(layout), and this kvdump knows those up to "
          + "\(OutboxRow.layout); use the one of the version that wrote it")
    }
    clock = try meta.value(OutboxRow.Clock.key).flatMap { OutboxRow.Clock($0) }
  }

  var pendingCount: Int { deliveries.count }
  var deadCount: Int { dead.count }
  /// Entries that are stored, which is one for each that is pending.
  var entryCount: Int { entries.count }

  func forEachPending(_ body: (Item) throws(Failure) -> Bool) throws(Failure) {
    try deliveries.forEach { (key, value) throws(Failure) in try body(try pending(key, value)) }
  }

  func forEachDead(_ body: (Item) throws(Failure) -> Bool) throws(Failure) {
    try dead.forEach { (key, value) throws(Failure) in try body(letter(key, value)) }
  }

  /// The entry of a number, pending or dead.
  func item(_ id: EntryID) throws(Failure) -> Item? {
    let key = OutboxRow.key(id)
    if let value = try deliveries.value(key) { return try pending(key, value) }
    return try dead.value(key).map { letter(key, $0) }
  }

  private func pending(_ key: [UInt8], _ value: [UInt8]) throws(Failure) -> Item {
    guard let id = OutboxRow.id(key) else { return corrupt(EntryID(rawValue: 0), "held", "a key is not a number") }
    let row = try entries.value(key)
    do throws(StoreError) {
      let delivery = try OutboxRow.delivery(value, id)
      guard let row else { return corrupt(id, "held", "its entry is gone, but its state is there") }
      let entry = try OutboxRow.entry(row, id, in: entries.directory)
      return Item(
        id: id, entry: entry, state: "\(delivery.phase)", attempts: delivery.attempts,
        notBefore: wall(delivery.notBefore), expiresAt: wall(delivery.expiresAt, isAge: true),
        ambiguousSince: wall(delivery.ambiguousSince), isCancelRequested: delivery.isCancelRequested,
        reason: delivery.lastError, isCorrupt: false)
    } catch {
      return corrupt(id, "held", error.message)
    }
  }

  /// A time of the outbox's own clock in milliseconds since 1970.
  private func wall(_ time: Int64, isAge: Bool = false) -> Int64 {
    guard time != 0, let clock else { return time }
    return isAge ? clock.wall(ofAge: time) : clock.wall(of: time)
  }

  private func letter(_ key: [UInt8], _ value: [UInt8]) -> Item {
    guard let id = OutboxRow.id(key) else { return corrupt(EntryID(rawValue: 0), "dead", "a key is not a number") }
    do throws(StoreError) {
      let letter = try OutboxRow.dead(value, id, in: entries.directory)
      return Item(
        id: id, entry: letter.entry, state: "dead", attempts: letter.attempts, notBefore: letter.diedAt,
        reason: letter.reason, isCorrupt: false)
    } catch {
      return corrupt(id, "dead", error.message)
    }
  }

  private func corrupt(_ id: EntryID, _ state: String, _ reason: String) -> Item {
    Item(id: id, entry: nil, state: state, attempts: 0, notBefore: 0, reason: reason, isCorrupt: true)
  }

  /// What keeps back entries whose time has come, a line each: pauses, and gates that are closed.
  func barriers() throws(Failure) -> [String] {
    var found = try pauses().map { $0.map { "\(Self.title($0)) is paused" } ?? "a pause that cannot be read" }
    try table("outbox.gate")?.forEach { (key, value) throws(Failure) in
      // The drain takes one that it cannot read for open.
      guard let gate = OutboxRow.gate(key, value) else { return true }
      let name = gate.name.isEmpty ? nil : gate.name
      let title = Self.title(gate.kind == .host ? .host(name) : .credentials(name))
      found.append("\(title) is closed after failures; one entry may try at \(timestamp(wall(gate.until)))")
      return true
    }
    return found
  }

  /// What is paused; `nil` for what cannot be read.
  private func pauses() throws(Failure) -> [OutboxScope?] {
    var found: [OutboxScope?] = []
    try table("outbox.pause")?.forEach { (key, value) throws(Failure) in
      found.append(OutboxRow.pause(key, value))
      return true
    }
    return found
  }

  /// Who sends what is there, as far as this system tells.
  func drain() -> DrainLock? { DrainLock(of: "\(entries.directory)/outbox.lock") }

  /// What the indexes lack or have too much of, a line each: a request that they do not name is not sent.
  func indexProblems() throws(Failure) -> [String] {
    // Older layouts are brought up to date by the store.
    guard layout == OutboxRow.layout else { return [] }
    var (requests, attachments) = (0, 0)
    var heads: [String: String] = [:]
    try forEachPending { (item) throws(Failure) in
      guard let entry = item.entry else { return true }
      requests += 1
      attachments += entry.attachments.count
      if heads[entry.lane] == nil { heads[entry.lane] = item.state }
      return true
    }
    try forEachDead { (item) throws(Failure) in
      attachments += item.entry?.attachments.count ?? 0
      return true
    }
    // What heads a paused lane is not offered.
    for case .lane(let lane)? in try pauses() { heads[lane] = nil }
    let waiting = heads.values.count { $0 == "waiting" }
    let indexes = [
      ("outbox.lane", requests, "request"), ("outbox.due", waiting, "lane that waits and is not paused"),
      ("outbox.attachment", attachments, "file"),
    ]
    var problems: [String] = []
    for (name, expected, noun) in indexes {
      let rows = try table(name)?.count ?? 0
      if rows == expected { continue }
      problems.append("\(name) has \(count(rows, "row")), and there should be one for each \(noun): \(expected)")
    }
    return problems
  }

  private static func title(_ scope: OutboxScope) -> String {
    switch scope {
    case .all: "everything"
    case .queue(let name): "queue \(printable(name))"
    case .lane(let name): "lane \(printable(name))"
    case .host(let name): "host \(name.map { printable($0) } ?? "(the sender's)")"
    case .credentials(let name): "credentials \(name.map { printable($0) } ?? "(the sender's)")"
    }
  }

  /// A database that stores of older versions do not have.
  private func table(_ name: String) throws(Failure) -> StoreTable? {
    do throws(Failure) {
      return try StoreTable(name, of: "outbox", reading, snapshot)
    } catch {
      guard error.kind == .noInput else { throw error }
      return nil
    }
  }

  /// The newest records of the journal, the oldest of them first.
  func journal(last limit: Int) throws(Failure) -> [Result<JournalRecord, StoreError>] {
    let table = try StoreTable("outbox.log", of: "journal", reading, snapshot)
    var found: [Result<JournalRecord, StoreError>] = []
    if limit == 0 { return [] }
    try table.forEach(reverse: true) { (key, value) throws(Failure) in
      guard let id = OutboxRow.id(key) else { return true }
      do throws(StoreError) {
        found.append(.success(try OutboxRow.journal(value, id)))
      } catch {
        found.append(.failure(error))
      }
      return found.count < limit
    }
    return found.reversed()
  }
}
