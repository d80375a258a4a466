import LMDBFile

/// Which records of a database a command visits, and in which direction.
struct KeyScope {
  static let options: [Help.Option] = [
    .init("--prefix", value: "KEY", "only keys that start so"),
    .init("--from", value: "KEY", "only keys at or after this one"),
    .init("--to", value: "KEY", "only keys at or before this one"),
    .init("--match", value: "GLOB", "only keys like this, with * for any text and ? for one byte"),
    .init("--reverse", "from the last to the first"),
    .init("--limit", value: "N", "at most so many"),
    .init("--skip", value: "N", "not the first so many"),
    .init(
      "--key-format", value: "FORMAT",
      "how keys are given: escaped (usual, \\xNN is a byte), text, hex, base64, u32 or u64"),
  ]

  private let prefix: String?
  private let from: String?
  private let to: String?
  private let glob: [UInt8]?
  let isReverse: Bool
  let limit: Int?
  private let skip: Int
  private let format: KeyText.Format?

  init(_ arguments: Arguments) throws(Failure) {
    prefix = arguments.value("--prefix")
    from = arguments.value("--from")
    to = arguments.value("--to")
    glob = arguments.value("--match").map { Array($0.utf8) }
    isReverse = arguments.has("--reverse")
    limit = try arguments.number("--limit")
    skip = try arguments.number("--skip") ?? 0
    format = try arguments.choice("--key-format")
    if prefix != nil && (from != nil || to != nil) {
      throw Failure(.usage, "--prefix is a range of its own; leave out --from and --to")
    }
  }

  /// Whether every record is asked for, in order.
  var isWhole: Bool {
    prefix == nil && from == nil && to == nil && glob == nil && !isReverse && limit == nil && skip == 0
  }

  /// Visits the records: `body` gets a cursor on each of them.
  func forEach(
    in snapshot: Snapshot, _ tree: Tree, _ body: (inout RecordCursor) throws(ReadFailure<Failure>) -> Void
  ) throws(ReadFailure<Failure>) {
    var bounds: Bounds
    do throws(Failure) { bounds = try self.bounds(snapshot, tree) } catch { throw .body(error) }
    var records = try reading { () throws(ReadError) in try RecordCursor(snapshot, tree) }
    var hasRecord = try reading { () throws(ReadError) in try start(&records, bounds) }
    var (skipped, done) = (0, 0)
    while hasRecord, done < limit ?? .max {
      let verdict = bounds.verdict(records.key, records.keyOrder, isReverse: isReverse)
      if verdict == .beyond { return }
      if verdict == .inside {
        if skipped < skip {
          skipped += 1
        } else {
          try body(&records)
          done += 1
        }
      }
      hasRecord = try reading { () throws(ReadError) in isReverse ? try records.previous() : try records.next() }
    }
    if isWhole { try reading { () throws(ReadError) in try records.finish() } }
  }

  private func reading<R: ~Copyable>(_ body: () throws(ReadError) -> R) throws(ReadFailure<Failure>) -> R {
    do throws(ReadError) { return try body() } catch { throw .file(error) }
  }

  private func bounds(_ snapshot: Snapshot, _ tree: Tree) throws(Failure) -> Bounds {
    let size = tree.flags.contains(.integerKey) ? Self.integerSize(snapshot, tree) : nil
    func key(_ text: String?) throws(Failure) -> [UInt8]? {
      guard let text else { return nil }
      return try KeyText.key(text, as: format, integerSize: size, snapshot.layout)
    }
    return Bounds(prefix: try key(prefix), from: try key(from), to: try key(to), glob: glob)
  }

  /// The size of the first key of a database with integers.
  static func integerSize(_ snapshot: Snapshot, _ tree: Tree) -> Int? {
    guard var records = try? RecordCursor(snapshot, tree), (try? records.next()) == true else { return nil }
    return records.key.count
  }

  private func start(_ records: inout RecordCursor, _ bounds: Bounds) throws(ReadError) -> Bool {
    // A prefix is a range only where keys are compared from the front.
    let isOrdered = records.keyOrder == .bytes
    if isReverse {
      if let end = bounds.to ?? (isOrdered ? bounds.prefixEnd : nil) { return try records.seek(toLastUpTo: end) }
      return try records.previous()
    }
    if let start = bounds.from ?? (isOrdered ? bounds.prefix : nil) { return try records.seek(to: start) }
    return try records.next()
  }
}

/// The keys that are asked for.
private struct Bounds {
  enum Verdict { case inside, outside, beyond }

  let prefix: [UInt8]?
  let from: [UInt8]?
  let to: [UInt8]?
  let glob: [UInt8]?

  /// The first key after all those with the prefix.
  var prefixEnd: [UInt8]? {
    guard let prefix, let last = prefix.lastIndex(where: { $0 != 0xFF }) else { return nil }
    var end = Array(prefix[...last])
    end[last] += 1
    return end
  }

  func verdict(_ key: Span<UInt8>, _ order: KeyOrder, isReverse: Bool) -> Verdict {
    if let from {
      let bound = from.span
      if (order.compare(key, bound) ?? 0) < 0 { return isReverse ? .beyond : .outside }
    }
    if let to {
      let bound = to.span
      if (order.compare(key, bound) ?? 0) > 0 { return isReverse ? .outside : .beyond }
    }
    if let prefix {
      let bound = prefix.span
      let head = key.extracting(first: bound.count)
      if head.count < bound.count || order == .bytes && order.compare(head, bound) != 0 {
        let comparison = KeyOrder.bytes.compare(key, bound) ?? 0
        if order == .bytes && (comparison > 0) != isReverse { return .beyond }
        return .outside
      }
      if KeyOrder.bytes.compare(head, bound) != 0 { return .outside }
    }
    if let glob, !Self.matches(key.array[...], glob[...]) { return .outside }
    return .inside
  }

  /// Whether a key is like a pattern, in time proportional to both lengths' product.
  private static func matches(_ key: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
    var (index, place) = (key.startIndex, pattern.startIndex)
    var retry: (index: Int, place: Int)?
    while index < key.endIndex {
      if place < pattern.endIndex, pattern[place] == 0x2A {
        retry = (index, place + 1)
        place += 1
      } else if place < pattern.endIndex, pattern[place] == 0x3F || pattern[place] == key[index] {
        index += 1
        place += 1
      } else if let last = retry {
        retry = (last.index + 1, last.place)
        (index, place) = (last.index + 1, last.place)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == 0x2A }
  }
}
