import LMDBFile

/// Bytes for standard output or a file: collected, and written in blocks; a failed write is an error, not a success.
struct Output {
  private static let capacity = 1 << 20

  private let descriptor: Descriptor
  private let name: String
  private var buffer = [UInt8](repeating: 0, count: Output.capacity)
  private var used = 0
  /// Whether anything has left the buffer.
  private(set) var hasWritten = false
  /// Takes all bytes on their way, if a hash of them is wanted.
  var digest: SHA256?
  private var digested = 0
  /// Whether a person looks at it, who is helped by colours.
  var isColored = false
  /// Asked before bytes leave: whether they can be trusted.
  var mayWrite: (() throws(Failure) -> Void)?

  init(_ descriptor: Descriptor = .standardOutput, name: String = "standard output") {
    self.descriptor = descriptor
    self.name = name
  }

  var isTerminal: Bool { descriptor.isTerminal }

  /// Forgets what has not been written.
  mutating func discard() { (used, digested) = (0, 0) }

  /// The hash of all bytes so far, of which no more is taken.
  mutating func finishDigest() -> String {
    digestBuffer()
    defer { digest = nil }
    return digest?.digest() ?? ""
  }

  private mutating func digestBuffer() {
    if digested < used, var digest {
      digest.update(buffer.span.extracting(digested..<used))
      self.digest = digest
    }
    digested = used
  }

  mutating func flush() throws(Failure) {
    if used == 0 { return }
    try mayWrite?()
    digestBuffer()
    hasWritten = true
    digested = 0
    let count = used
    used = 0
    let code = descriptor.write(buffer, count: count)
    // Where SIGPIPE is ignored, it says as much; whoever closed the pipe has seen enough.
    if code == Descriptor.closedPipe { throw Failure(.closedPipe, "") }
    if code != 0 {
      throw Failure(.io, "\(name) cannot be written: \(Descriptor.message(code)); the output is not complete")
    }
  }

  /// Blocks until all is on the device.
  mutating func close() throws(Failure) {
    try flush()
    let code = descriptor.synchronize()
    if code != 0 { throw Failure(.io, "\(name) cannot be written: \(Descriptor.message(code))") }
  }

  // MARK: Bytes

  @inline(__always)
  mutating func write(byte: UInt8) throws(Failure) {
    if used == Self.capacity { try flush() }
    buffer[used] = byte
    used += 1
  }

  mutating func write(_ bytes: Span<UInt8>) throws(Failure) {
    var done = 0
    while done < bytes.count {
      if used == Self.capacity { try flush() }
      let count = min(bytes.count - done, Self.capacity - used)
      let start = used
      var target = buffer.mutableSpan
      for index in 0..<count { target[start + index] = bytes[done + index] }
      used += count
      done += count
    }
  }

  mutating func write(_ text: String) throws(Failure) {
    let bytes = Array(text.utf8)
    try write(bytes.span)
  }

  mutating func line(_ text: String) throws(Failure) {
    try write(text)
    try write(byte: 0x0A)
  }

  /// Writes two digits a byte.
  mutating func write(hexadecimal bytes: Span<UInt8>) throws(Failure) {
    var done = 0
    while done < bytes.count {
      if Self.capacity - used < 2 { try flush() }
      let count = min(bytes.count - done, (Self.capacity - used) / 2)
      var position = used
      var target = buffer.mutableSpan
      for index in done..<done + count {
        let byte = bytes[index]
        target[position] = Self.digit(byte >> 4)
        target[position + 1] = Self.digit(byte & 15)
        position += 2
      }
      used = position
      done += count
    }
  }

  /// Room that is left in the buffer.
  var room: Int { Self.capacity - used }

  /// Writes escaped bytes while there is room for the longest of them.
  ///
  /// - Returns: Where to go on.
  mutating func fill(escaping bytes: Span<UInt8>, from start: Int, doublesBackslash: Bool) -> Int {
    var position = used
    var target = buffer.mutableSpan
    var index = start
    while index < bytes.count, position + 3 <= target.count {
      let byte = bytes[index]
      if byte >= 0x20 && byte < 0x7F {
        target[position] = byte
        position += 1
        if byte == 0x5C && doublesBackslash {
          target[position] = 0x5C
          position += 1
        }
      } else {
        target[position] = 0x5C
        target[position + 1] = Self.digit(byte >> 4)
        target[position + 2] = Self.digit(byte & 15)
        position += 3
      }
      index += 1
    }
    used = position
    return index
  }

  @inline(__always)
  static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }

  // MARK: Tables

  /// The text in a style, if a person looks at it.
  func style(_ text: String, _ style: Style) -> String { isColored ? style.apply(to: text) : text }

  /// Writes columns that are as wide as their longest cell, under a header if there is one; `right` names those that hold
  /// numbers.
  mutating func table(_ rows: [[String]], under header: [String]? = nil, right: Set<Int> = []) throws(Failure) {
    let isHeaded = header != nil
    let rows = (header.map { [$0] } ?? []) + rows
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    for (index, row) in rows.enumerated() {
      var cells: [String] = []
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        cells.append(right.contains(column) ? padding + cell : column == columns - 1 ? cell : cell + padding)
      }
      let text = cells.joined(separator: "  ").trimmed
      try line(index == 0 && isHeaded ? style(text, .bold) : text)
    }
  }
}
