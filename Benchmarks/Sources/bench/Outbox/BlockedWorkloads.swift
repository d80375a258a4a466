import Foundation
import Harness
import Holdfast

/// What one entry costs, from adding it to the end of a drain, behind which others wait whose lane is not free: a hundred,
/// ten thousand, a million.
func blockedWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let sizes = [100, bench.choose(10_000, quick: 1000), bench.choose(1_000_000, quick: 10_000)]
  let stores = try sizes.map { try blockedStore($0, at: folder.path(of: "\($0)")) }
  let contenders = zip(sizes, stores).map { size, store in
    Contender("Holdfast, \(size.named) blocked", bar: 0.8) { slice in
      try deliverOne(slice.start, of: store)
      return 0
    }
  }
  let name = "one delivered beside \(sizes[2].named) blocked"
  try bench.compare(
    Workload.waiting(name, .powerLossSafe, operations: 1).withThreads, Array(contenders.reversed()))
  let pages = try stores.map { store in try pagesWritten { try deliverOne(0, of: store) } }
  for (size, count) in zip(sizes, pages).dropLast() {
    bench.add(
      "\(name), pages written", .powerLossSafe, peer: "Holdfast, \(size.named) blocked", ours: pages[2],
      theirs: count, unit: "pages", ratio: Quartiles(exactly: count / pages[2]))
  }
}

/// A store with a lane whose head waits for a day, and others behind it.
private func blockedStore(_ count: Int, at path: String) throws -> Store {
  let store = try Store.open(at: path)
  var head = OutboxRequest(kind: "comment", lane: "blocked", payload: payload)
  head.delay = .seconds(86_400)
  try store.write { transaction in _ = try store.outbox.enqueue(head, in: &transaction) }
  let blocked = OutboxRequest(kind: "comment", lane: "blocked", payload: payload)
  for first in stride(from: 0, to: count, by: 1000) {
    try store.write { transaction in
      for _ in first..<min(first + 1000, count) { try store.outbox.enqueue(blocked, in: &transaction) }
    }
  }
  return store
}

private func deliverOne(_ number: Int, of store: Store) throws {
  try store.write { transaction in _ = try store.outbox.enqueue(request(number), in: &transaction) }
  let delivered = try inTasks(1) { _ in
    UInt64(try await store.outbox.drain(with: Taker(), options: .init(goal: .once, concurrency: 1)).delivered)
  }
  guard delivered == 1 else { throw UsageError("the drain has delivered \(delivered) entries, and not one") }
}

/// How many pages a body has written to files, by the count of the kernel; a page that is written was found by a walk
/// down its tree.
func pagesWritten(_ body: () throws -> Void) throws -> Double {
  func written() throws -> Double {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar:") }
    return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
  }
  let before = try written()
  try body()
  return ((try written() - before) / 4096).rounded()
}
