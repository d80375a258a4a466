/// Reads CSV as RFC 4180 has it, with fields in quotes that may hold commas, quotes and ends of lines.
struct CSVReader {
  private var lines: LineReader

  init(_ lines: LineReader) { self.lines = lines }

  /// The line last read.
  var line: Int { lines.number }

  /// The fields of the next record; `nil` at the end.
  ///
  /// - Throws: `Malformed` if a quote has no end, or the input cannot be read.
  mutating func next() throws(DumpParser.Malformed) -> [[UInt8]]? {
    guard lines.next() else { return try end() }
    var fields: [[UInt8]] = [[]]
    var isQuoted = false
    while true {
      var bytes = lines.line[...]
      if !isQuoted || bytes.last == 0x0D, !hasOpenQuote(bytes, isQuoted), bytes.last == 0x0D { bytes.removeLast() }
      while let byte = bytes.popFirst() {
        switch (byte, isQuoted) {
        case (0x22, true) where bytes.first == 0x22:
          bytes.removeFirst()
          fields[fields.count - 1].append(0x22)
        case (0x22, true): isQuoted = false
        case (0x22, false) where fields[fields.count - 1].isEmpty: isQuoted = true
        case (0x2C, false): fields.append([])
        default: fields[fields.count - 1].append(byte)
        }
      }
      if !isQuoted { return fields }
      fields[fields.count - 1].append(0x0A)
      guard lines.next() else { throw DumpParser.Malformed(line: lines.number, what: "a quote has no end") }
    }
  }

  private func end() throws(DumpParser.Malformed) -> [[UInt8]]? {
    if let failure = lines.failure {
      throw DumpParser.Malformed(line: lines.number + 1, what: failure.what, isUnreadable: lines.isUnreadable)
    }
    return nil
  }

  /// Whether a field in quotes goes on in the next line.
  private func hasOpenQuote(_ bytes: ArraySlice<UInt8>, _ isQuoted: Bool) -> Bool {
    (bytes.count { $0 == 0x22 } + (isQuoted ? 1 : 0)) % 2 == 1
  }
}
