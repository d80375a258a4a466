import LMDBFile

/// Writes databases in the text format of `mdb_dump`, which came from Berkeley DB.
struct DumpWriter {
  /// How bytes are written.
  enum Encoding: Sendable {
    /// Two digits a byte.
    case hexadecimal
    /// Printable ASCII as it is, the rest as a backslash and two digits.
    ///
    /// Since LMDB 0.9.25 a backslash is doubled. Before, it was not, so that some values cannot be told apart.
    case printable(doublesBackslash: Bool)
  }

  let encoding: Encoding

  /// What precedes the records of a database.
  func writeHeader(of tree: Tree, in snapshot: Snapshot, to output: inout Output) throws(Failure) {
    let meta = snapshot.meta
    try output.line("VERSION=3")
    if case .hexadecimal = encoding { try output.line("format=bytevalue") } else { try output.line("format=print") }
    if let name = tree.name {
      try output.write("database=")
      let name = Tree.trimmed(name)
      try output.write(name.span)
      try output.write(byte: 0x0A)
    }
    try output.line("type=btree")
    try output.line("mapsize=\(max(meta.mapSize, UInt64(meta.usedBytes)))")
    if meta.address != 0 { try output.line("mapaddr=0x\(String(meta.address, radix: 16))") }
    try output.line("maxreaders=\(LockTable.readerLimit(of: snapshot.file))")
    if tree.flags.contains(.duplicates) { try output.line("duplicates=1") }
    for (flag, word) in Self.flags where tree.flags.contains(flag) { try output.line("\(word)=1") }
    try output.line("db_pagesize=\(meta.layout.pageSize)")
    try output.line("HEADER=END")
  }

  /// The words for flags, in the order of the header.
  static let flags: [(Tree.Flags, String)] = [
    (.reverseKey, "reversekey"), (.duplicates, "dupsort"), (.integerKey, "integerkey"), (.fixedDuplicates, "dupfixed"),
    (.integerDuplicates, "integerdup"), (.reverseDuplicates, "reversedup"),
  ]

  func write(_ bytes: Span<UInt8>, to output: inout Output) throws(Failure) {
    switch encoding {
    case .hexadecimal: try output.write(hexadecimal: bytes)
    case .printable(let doublesBackslash): try output.write(escaping: bytes, doublesBackslash: doublesBackslash)
    }
  }

  func writeRecord(_ records: inout RecordCursor, to output: inout Output) throws(ReadFailure<Failure>) {
    do throws(Failure) {
      try output.write(byte: 0x20)
      try write(records.key, to: &output)
      try output.write(byte: 0x0A)
      try output.write(byte: 0x20)
    } catch {
      throw .body(error)
    }
    try records.readValue { (part) throws(Failure) in try write(part, to: &output) }
    do throws(Failure) { try output.write(byte: 0x0A) } catch { throw .body(error) }
  }

  func writeFooter(to output: inout Output) throws(Failure) { try output.line("DATA=END") }
}

extension Output {
  /// Writes printable ASCII as it is, and other bytes as a backslash and two digits.
  mutating func write(escaping bytes: Span<UInt8>, doublesBackslash: Bool) throws(Failure) {
    var done = 0
    while done < bytes.count {
      if room < 3 { try flush() }
      done = fill(escaping: bytes, from: done, doublesBackslash: doublesBackslash)
    }
  }
}
