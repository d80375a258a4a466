import Harness
import Holdfast
import LMDB
import Peers

/// Merged reads and updates of records with six fields, beside engines that hold the same bytes under the same keys.
func stateSuite(_ bench: Bench) throws {
  try bench.withFolder("state") { folder in
    let count = bench.choose(1_000_000, quick: 20_000)
    let records = try StateRecords(count: count, in: folder)
    try stateReads(bench, records, suffix: count.named)
  }
  try bench.withFolder("memo") { folder in
    let records = try StateRecords(count: 10_000, in: folder)
    try rememberedReads(bench, records)
  }
  try bench.withFolder("scan") { try arrayScans(bench, $0) }
  try bench.withFolder("updates") { try stateUpdates(bench, $0) }
}

/// A store with records, and the same records, byte by byte, in the engine alone and in the peers.
final class StateRecords {
  let count: Int
  let store: Store
  /// The keys of all records in the order of their ids, for the store.
  let keys: [StateKey]
  /// The same for the engines.
  let engineKeys: KeyBlock
  let rivals: Rivals

  /// Eight types have as many records each.
  static let types = ["post", "user", "card", "chat", "like", "note", "song", "team"]

  init(count: Int, in folder: WorkFolder) throws {
    self.count = count
    let perType = count / Self.types.count
    let keys = Self.types.sorted().flatMap { type in
      (0..<perType).map { StateKey(type: type, id: Self.id($0)) }
    }
    self.keys = keys
    let path = try folder.path(of: "store")
    var random = Random(seed: 50)
    let order = keys.indices.shuffled(using: &random)
    do {
      let store = try Store.open(at: path)
      for start in stride(from: 0, to: order.count, by: 50_000) {
        try store.write { transaction in
          for index in order[start..<min(start + 50_000, order.count)] {
            try store.state.replace(keys[index], with: Self.fields(index), in: &transaction)
          }
        }
      }
    }
    let (bytes, values) = try Self.stored(at: path, keys.count)
    engineKeys = bytes
    store = try Store.open(at: path, state: StateOptions(memoLimit: 0))
    rivals = try Rivals.loaded(
      in: folder.folder("rivals"), .powerLossSafe, [.lmdb, .sqlite, .sqliteIn, .rocksdb, .kyoto],
      bytes.picking(order), values.picking(order))
  }

  /// An id of fixed length, so that all records are equally long.
  static func id(_ number: Int) -> String { "\(10_000_000 + number)" }

  /// Six fields of the usual kinds.
  static func fields(_ number: Int) -> FieldMap {
    [
      "commentCount": .int(Int64(number)), "isFollowed": .bool(number % 2 == 0),
      "note": .string("remembered \(10_000_000 + number)"), "score": .double(Double(number) / 7),
      "title": .string("A title of \(10_000_000 + number)"), "updatedAt": .date(milliseconds: 1_700_000_000_000),
    ]
  }

  /// What the store has written, in the order of the keys.
  private static func stored(at path: String, _ count: Int) throws -> (KeyBlock, ValueBlock) {
    let environment = try Environment.open(
      at: path, databases: ["state.record"], options: .init(mode: .mustExist))
    let records = try environment.database("state.record")
    var (keys, values): ([UInt8], [UInt8]) = ([], [])
    var lengths: Set<[Int]> = []
    try environment.read { transaction in
      var cursor = try transaction.cursor(in: records)
      while try cursor.next() {
        keys += [UInt8](copying: cursor.key)
        values += [UInt8](copying: cursor.value)
        lengths.insert([cursor.key.count, cursor.value.count])
      }
    }
    guard lengths.count == 1, let widths = lengths.first, keys.count == count * widths[0] else {
      throw UsageError("the records of the state suite are not equally long: \(lengths)")
    }
    return (KeyBlock(bytes: keys, width: widths[0]), ValueBlock(bytes: values, width: widths[1]))
  }
}
