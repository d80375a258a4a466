import Holdfast
import LMDBFile

/// What commands take that list rows of a store: the store, how many, and the time that ages are counted from.
struct RowList {
  static let options: [Help.Option] =
    [.init("--limit", value: "N", "at most so many, 20 without"), Clock.option] + Help.reading

  let reading: Reading
  let limit: Int
  let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    limit = try arguments.number("--limit") ?? 20
    now = try Clock.now(arguments)
  }

  /// Writes those of the rows that `body` takes which are newest, the newest at the end.
  func writeNewest(
    to context: Context, under header: [String],
    of body: (Snapshot, _ newest: inout Newest<[String]>) throws(Failure) -> Void
  ) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      var newest = Newest<[String]>(limit)
      try body(snapshot, &newest)
      let rows = newest.elements()
      if !rows.isEmpty { try context.output.table(rows, under: header, right: [1, 2]) }
    }
  }
}

/// The newest of many, which come by in any order.
struct Newest<Element> {
  private let limit: Int
  private var found: [(time: UInt64, element: Element)] = []

  init(_ limit: Int) { self.limit = limit }

  mutating func take(_ element: Element, at time: UInt64) {
    found.append((time, element))
    // Sorted now and then, so that each costs a logarithm, whatever the limit.
    if found.count / 2 - 8 > limit { trim() }
  }

  private mutating func trim() {
    found.sort { $0.time < $1.time }
    found.removeFirst(max(0, found.count - limit))
  }

  /// Those that are left, the newest at the end.
  mutating func elements() -> [Element] {
    trim()
    return found.map(\.element)
  }
}
