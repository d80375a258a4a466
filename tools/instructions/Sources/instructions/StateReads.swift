import Holdfast

/// Merged reads; state.c does the same with liblmdb alone.
///
/// The modes are `merge-8` for random keys, `near-8` for neighbours, `miss-8` and `next-8` for the same and a field that
/// no record has, `none-8` for neighbours without a record, `memo-8` for one list again and again.
func stateReads(_ mode: String, _ operations: Int, at path: String) throws -> Int {
  let store = try Store.open(at: path)
  let records = 10_000
  func key(_ number: Int) -> StateKey {
    let digits = String(number)
    return StateKey(type: "post", id: String(repeating: "0", count: 8 - digits.count) + digits)
  }
  try store.write { t in
    for number in 0..<records {
      try store.state.update(
        key(number),
        [
          "hasComment": true, "isLiked": false, "likes": .int(Int64(number)), "title": "a title of some length",
          "author": "user:12345678", "updated": .date(milliseconds: 1),
        ], in: &t)
    }
  }
  let width = Int(mode.split(separator: "-")[1]) ?? 0
  let isNear = mode.hasPrefix("n")
  let isAbsent = mode.hasPrefix("none")
  let isMemo = mode.hasPrefix("memo")
  let name = mode.hasPrefix("near") || mode.hasPrefix("merge") ? "likes" : "unknown"
  let lists = (0..<(isMemo ? 1 : 100)).map { list in
    var state = UInt64(list) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    return (0..<width).map { k in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      if isAbsent { return StateKey(type: "post", id: key(list * 97).id + String(String(1000 + k).dropFirst())) }
      return key(isNear ? (list * 97 + k) % records : Int((state >> 33) % UInt64(records)))
    }
  }
  var sum = 0
  for n in 0..<operations {
    if isMemo {
      sum += try store.state.merged(lists[0]).count
    } else {
      sum += try store.state.withMerged(lists[n % lists.count]) { fields in
        Int(try fields.int(name) ?? 0) + (try fields.bool("hasComment") == true ? 1 : 0)
      }
    }
  }
  return sum
}
