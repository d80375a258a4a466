import Harness
import Holdfast

/// The algorithm that the state began as, re-created: records in an array, walked for each id up to the first hit, values
/// as text.
struct ArrayScan {
  struct Record {
    let type: String
    let id: String
    var data: [String: String]
  }

  private var records: [Record] = []

  /// Merges fields into the record with the same type and id, which moves to the end.
  mutating func updateData(_ new: Record) {
    var record = new
    if let index = records.firstIndex(where: { $0.type == new.type && $0.id == new.id }) {
      record.data = records.remove(at: index).data.merging(new.data) { $1 }
    }
    records.append(record)
  }

  /// Adds records that are known to be new.
  mutating func append(_ new: some Sequence<Record>) { records += new }

  /// The fields of the first record with each id, merged.
  func getMergedDataWithKeys(_ ids: [String]) -> [String: String] {
    var merged: [String: String] = [:]
    for id in ids {
      for record in records where record.id == id {
        merged.merge(record.data) { $1 }
        break
      }
    }
    return merged
  }
}

/// Where a B-tree on disk passes an array in memory.
func arrayScans(_ bench: Bench, _ folder: WorkFolder) throws {
  for (count, bar) in [(10, nil), (100, 1), (1000, nil), (10_000, nil), (100_000, 1000)] as [(Int, Double?)] {
    if count == 100_000 && bench.effort.isQuick { continue }
    let store = try Store.open(at: folder.path(of: "\(count)"), state: StateOptions(memoLimit: 0))
    var scan = ArrayScan()
    try store.write { transaction in
      for number in 0..<count {
        let key = StateKey(type: "post", id: StateRecords.id(number))
        try store.state.replace(key, with: StateRecords.fields(number), in: &transaction)
      }
    }
    scan.append(
      (0..<count).map { number in
        let fields = StateRecords.fields(number).map { ($0.name, "\($0.value)") }
        return .init(
          type: "post", id: StateRecords.id(number), data: Dictionary(fields, uniquingKeysWith: { $1 }))
      })
    var random = Random(seed: 53)
    let groups = (0..<256).map { _ in random.distinct(min(3, count), below: count) }
    let ids = groups.map { $0.map { StateRecords.id($0) } }
    let keys = ids.map { $0.map { StateKey(type: "post", id: $0) } }
    let origin = scan
    let scanned = { (slice: Slice) -> UInt64 in
      for operation in 0..<slice.operations where origin.getMergedDataWithKeys(ids[operation % ids.count]).count != 6 {
        throw UsageError("the array has lost a field")
      }
      return 0
    }
    // As a store is opened by default: each list has been read before, and nothing was committed since.
    let remembering = try Store.open(at: folder.path(of: "\(count)"))
    for (name, store) in [("merged", store), ("merged again, unchanged", remembering)] {
      try bench.compare(
        unchecked("\(name), 3 keys of \(count.named)", 4096),
        [
          Contender("Holdfast") { slice in
            for operation in 0..<slice.operations { _ = try store.state.merged(keys[operation % keys.count]) }
            return 0
          }, Contender("array scan, in memory", bar: bar, run: scanned),
        ])
    }
    try bench.compare(
      unchecked("withMerged, 2 fields, 3 keys of \(count.named)", 4096),
      [
        Contender("Holdfast") { slice in
          var sum: UInt64 = 0
          for operation in 0..<slice.operations {
            sum &+= try store.state.withMerged(keys[operation % keys.count]) { fields in
              let isHidden = try fields.bool("isHidden")
              return UInt64(try fields.int("commentCount") ?? 0) &+ (isHidden == true ? 1 : 0)
            }
          }
          return sum
        }, Contender("array scan, in memory", run: scanned),
      ])
  }
}
