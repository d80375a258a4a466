import LMDBFile

/// Reads the text format of `mdb_dump`: headers, records, ends.
///
/// Stricter than `mdb_load`, which takes a text that has been cut off for a complete one: a section without its end, or a
/// record that is not well-formed, is an error that names the line.
struct DumpParser {
  /// What the header of a database says.
  struct Section {
    var name: [UInt8]?
    var flags: Tree.Flags = []
    var isPrintable = false
    var mapSize: UInt64?
    /// Words that mean nothing here.
    var ignored: [String] = []
  }

  enum Event {
    case section(Section)
    case record
    case end
  }

  /// Why a text is not a dump.
  struct Malformed: Error {
    let line: Int
    let what: String
    /// Whether the device has failed, and not the text.
    var isUnreadable = false
  }

  private enum State { case between, records, finished }

  private var lines: LineReader
  private let isPlain: Bool
  private var state = State.between
  private var isPrintable = false
  private var sections = 0
  /// The key of the record last read.
  private(set) var key: [UInt8] = []
  /// Its value.
  private(set) var value: [UInt8] = []

  var line: Int { lines.number }

  /// Takes a dump; if `isPlain`, a text without headers, in which keys and values take turns.
  init(_ lines: LineReader, isPlain: Bool = false) {
    self.lines = lines
    self.isPlain = isPlain
    if isPlain { (state, isPrintable, sections) = (.records, true, 1) }
  }

  /// Reads the next header, record or end; `nil` after the last section.
  ///
  /// - Throws: `Malformed`, after which there is no more.
  mutating func next() throws(Malformed) -> Event? {
    switch state {
    case .finished: return nil
    case .between: return try header().map { .section($0) }
    case .records: return try record()
    }
  }

  private func malformed(_ what: String, after: Bool = false) -> Malformed {
    if let failure = lines.failure {
      return Malformed(line: lines.number, what: failure.what, isUnreadable: lines.isUnreadable)
    }
    return Malformed(line: max(1, lines.number + (after ? 1 : 0)), what: what)
  }

  // MARK: Headers

  private mutating func header() throws(Malformed) -> Section? {
    var section = Section()
    var isFirst = true
    while lines.next() {
      var text = lines.line
      if text.last == 0x0D { text.removeLast() }
      guard lines.isTerminated else { throw malformed("the input ends in a header") }
      if text.elementsEqual("HEADER=END".utf8) {
        if isFirst { throw malformed("a header ends here that has no beginning") }
        state = .records
        isPrintable = section.isPrintable
        sections += 1
        return section
      }
      isFirst = false
      guard let separator = text.firstIndex(of: 0x3D) else {
        throw malformed("`\(shown(text))` should be a word of a header, such as `type=btree`")
      }
      try take(String(decoding: text[..<separator], as: UTF8.self), Array(text[(separator + 1)...]), &section)
    }
    guard isFirst, lines.failure == nil else { throw malformed("the input ends in a header", after: true) }
    guard sections > 0 else { throw malformed("the input is empty") }
    state = .finished
    return nil
  }

  private func shown(_ bytes: [UInt8]) -> String {
    bytes.count > 40 ? String(escaping: Array(bytes[..<40])) + "…" : String(escaping: bytes)
  }

  private mutating func take(_ word: String, _ bytes: [UInt8], _ section: inout Section) throws(Malformed) {
    let value = String(decoding: bytes, as: UTF8.self)
    switch word {
    case "VERSION":
      guard let version = Int(value) else { throw malformed("`\(shown(bytes))` is no version") }
      guard version <= 3 else {
        throw malformed("version \(version) of the format is not known; 3 is the newest that is")
      }
    case "format":
      if value.hasPrefix("print") {
        section.isPrintable = true
      } else if !value.hasPrefix("bytevalue") {
        throw malformed("the format `\(shown(bytes))` is not known; bytevalue and print are")
      }
    case "database": section.name = bytes
    case "type":
      guard value.hasPrefix("btree") else { throw malformed("the type `\(shown(bytes))` is not known; btree is") }
    case "mapsize":
      guard let size = UInt64(value) else { throw malformed("`\(shown(bytes))` is no size of a map") }
      section.mapSize = size
    case "duplicates", "db_pagesize", "maxreaders": break
    default:
      guard let flag = Self.flags[word] else { return section.ignored.append(word) }
      switch value {
      case "1": section.flags.insert(flag)
      case "0": section.flags.remove(flag)
      default: throw malformed("`\(word)` is 0 or 1, not `\(shown(bytes))`")
      }
    }
  }

  /// The words for flags.
  static let flags: [String: Tree.Flags] = [
    "reversekey": .reverseKey, "dupsort": .duplicates, "integerkey": .integerKey, "dupfixed": .fixedDuplicates,
    "integerdup": .integerDuplicates, "reversedup": .reverseDuplicates,
  ]

  // MARK: Records

  private mutating func record() throws(Malformed) -> Event? {
    guard lines.next() else {
      if isPlain && lines.failure == nil {
        state = .finished
        return .end
      }
      throw malformed("the input ends before DATA=END: it is not complete", after: true)
    }
    if !isPlain && isEnd(lines.line) {
      state = .between
      return .end
    }
    key.removeAll(keepingCapacity: true)
    try decode(into: &key)
    guard lines.next() else { throw malformed("the input ends after a key that has no value", after: true) }
    guard isPlain || !isEnd(lines.line) else { throw malformed("the last key has no value") }
    value.removeAll(keepingCapacity: true)
    try decode(into: &value)
    return .record
  }

  private func isEnd(_ line: [UInt8]) -> Bool {
    line.elementsEqual("DATA=END".utf8) || line.elementsEqual("DATA=END\r".utf8)
  }

  private func decode(into bytes: inout [UInt8]) throws(Malformed) {
    let line = lines.line
    guard lines.isTerminated || isPlain else { throw malformed("the input ends in this line: it is not complete") }
    var index = 0
    if !isPlain {
      if line.last == 0x0D {
        throw malformed("it ends in CR LF, so the text was changed on its way; `tr -d '\\r'` changes it back")
      }
      guard line.first == 0x20 else { throw malformed("a record starts with a space, or DATA=END is expected") }
      index = 1
    }
    bytes.reserveCapacity(line.count)
    if !isPrintable {
      guard (line.count - index) % 2 == 0 else { throw malformed("it has an odd number of digits") }
      while index < line.count {
        bytes.append(try byte(line, index))
        index += 2
      }
      return
    }
    while index < line.count {
      guard line[index] == 0x5C else {
        bytes.append(line[index])
        index += 1
        continue
      }
      if index + 1 < line.count, line[index + 1] == 0x5C {
        bytes.append(0x5C)
        index += 2
        continue
      }
      guard index + 2 < line.count else {
        throw malformed("a backslash at the end; two digits or another one follow it")
      }
      bytes.append(try byte(line, index + 1))
      index += 3
    }
  }

  @inline(__always)
  private func byte(_ line: [UInt8], _ index: Int) throws(Malformed) -> UInt8 {
    guard let high = Self.digit(line[index]), let low = Self.digit(line[index + 1]) else {
      throw malformed("`\(shown(Array(line[index...index + 1])))` at column \(index + 1) is not hexadecimal")
    }
    return high << 4 | low
  }

  @inline(__always)
  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }
}
