import Foundation
import Holdfast
import LMDBFile

/// How records are written, for people or for programs.
struct RecordFormat {
  enum Kind: String, CaseIterable, Sendable {
    /// Columns for people; what is no text is escaped, what is long is cut.
    case table
    /// A JSON object a line; nothing is lost.
    case jsonl
    /// RFC 4180 with a header.
    case csv
    /// Keys and values, each followed by a zero byte.
    case raw0
    /// The value as hexadecimal and text, 16 bytes a line.
    case hex
  }

  /// How bytes become JSON or CSV.
  enum Encoding: String, CaseIterable, Sendable {
    /// As text if they are UTF-8, otherwise in base64.
    case auto
    case utf8
    case hex
    case base64
  }

  var kind: Kind
  var encoding = Encoding.auto
  var showsKeys = true
  var showsValues = true
  /// The most bytes of a value that are shown.
  var valueLimit: Int?
  var width = 120

  private static let keyWidth = 24

  func writeHeader(to output: inout Output) throws(Failure) {
    switch kind {
    case .table:
      let columns = [showsKeys ? "KEY".padded(to: Self.keyWidth) : nil, showsValues ? "   BYTES  VALUE" : nil]
      try output.line(output.style(columns.compactMap { $0 }.joined(separator: "  ").trimmed, .bold))
    case .csv: try output.write("db,key,key_enc,value,value_enc\r\n")
    case .jsonl, .raw0, .hex: break
    }
  }

  /// Writes the record on which a cursor stands.
  func write(
    _ records: inout RecordCursor, of tree: Tree, _ layout: Layout, to output: inout Output
  ) throws(ReadFailure<Failure>) {
    let key = records.key.array
    let total = records.valueCount
    var value: [UInt8] = []
    if showsValues {
      do throws(ReadError) {
        value = try preview(&records, total)
      } catch {
        throw .file(error)
      }
    }
    do throws(Failure) {
      let keyText = tree.flags.contains(.integerKey) && [4, 8].contains(key.count) ? KeyText.number(key, layout) : nil
      switch kind {
      case .table: try writeRow(key, keyText, value, total, to: &output)
      case .jsonl: try writeObject(key, keyText, value, total, tree, to: &output)
      case .csv: try writeFields(key, value, tree, to: &output)
      case .raw0: try writeRaw(key, value, to: &output)
      case .hex: try writeDump(key, value, to: &output)
      }
    } catch {
      throw .body(error)
    }
  }

  private func preview(_ records: inout RecordCursor, _ total: Int) throws(ReadError) -> [UInt8] {
    let limit = valueLimit ?? (kind == .table ? width : nil)
    guard let limit, total > limit else { return try records.value() }
    var bytes: [UInt8] = []
    do throws(ReadFailure<Done>) {
      try records.readValue { (part) throws(Done) in
        bytes += part.extracting(first: limit - bytes.count).array
        if bytes.count == limit { throw Done() }
      }
    } catch {
      if case .file(let error) = error { throw error }
    }
    // Not in the middle of a character.
    if String(validating: bytes, as: UTF8.self) == nil {
      let end = bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.endIndex
      if bytes.count - end < 4, String(validating: bytes[..<end], as: UTF8.self) != nil { return Array(bytes[..<end]) }
    }
    return bytes
  }

  private struct Done: Error {}

  private func writeRow(
    _ key: [UInt8], _ number: UInt64?, _ value: [UInt8], _ total: Int, to output: inout Output
  ) throws(Failure) {
    var row = ""
    if showsKeys {
      row = (number.map(String.init) ?? String(escaping: key)).padded(to: showsValues ? Self.keyWidth : 0)
    }
    if showsValues {
      let bytes = "\(total)"
      row += "  " + String(repeating: " ", count: max(0, 8 - bytes.count)) + bytes + "  "
      let text = String(escaping: value)
      let room = max(16, width - row.count)
      if text.count > room || value.count < total {
        let end = " …(\(size(total)))"
        row += text.prefix(max(8, room - end.count)) + end
      } else {
        row += text
      }
    }
    try output.line(row.trimmed)
  }

  private func writeObject(
    _ key: [UInt8], _ number: UInt64?, _ value: [UInt8], _ total: Int, _ tree: Tree, to output: inout Output
  ) throws(Failure) {
    try output.write("{\"db\":")
    try output.write(tree.name.map { json(Tree.trimmed($0)) } ?? "null")
    if showsKeys {
      try output.write(",\"k\":")
      try output.write(number.map { "{\"u\(key.count * 8)\":\($0)}" } ?? json(key))
    }
    if showsValues {
      try output.write(",\"v\":")
      try output.write(json(value))
      if value.count < total { try output.write(",\"cut\":true") }
      try output.write(",\"n\":\(total)")
    }
    try output.write("}\n")
  }

  /// Bytes as JSON: a string if they are text, otherwise an object.
  func json(_ bytes: [UInt8]) -> String {
    switch encoding {
    case .auto:
      // Readers of JSON drop a mark of the byte order at the start of a string.
      if !bytes.starts(with: [0xEF, 0xBB, 0xBF]), let text = String(validating: bytes, as: UTF8.self) {
        return JSONText.quoted(text)
      }
      return "{\"b64\":\"\(Data(bytes).base64EncodedString())\"}"
    case .utf8: return JSONText.quoted(String(decoding: bytes, as: UTF8.self))
    case .hex: return "{\"hex\":\"\(hexadecimal(bytes))\"}"
    case .base64: return "{\"b64\":\"\(Data(bytes).base64EncodedString())\"}"
    }
  }

  private func writeFields(_ key: [UInt8], _ value: [UInt8], _ tree: Tree, to output: inout Output) throws(Failure) {
    let name = tree.name.map { String(decoding: Tree.trimmed($0), as: UTF8.self) } ?? ""
    let fields = [quoted(name)] + csv(key, showsKeys) + csv(value, showsValues)
    try output.write(fields.joined(separator: ",") + "\r\n")
  }

  private func csv(_ bytes: [UInt8], _ isShown: Bool) -> [String] {
    if !isShown { return ["", ""] }
    switch encoding {
    case .auto:
      if let text = String(validating: bytes, as: UTF8.self) { return [quoted(text), "utf8"] }
      return [Data(bytes).base64EncodedString(), "base64"]
    case .utf8: return [quoted(String(decoding: bytes, as: UTF8.self)), "utf8"]
    case .hex: return [hexadecimal(bytes), "hex"]
    case .base64: return [Data(bytes).base64EncodedString(), "base64"]
    }
  }

  private func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  private func writeRaw(_ key: [UInt8], _ value: [UInt8], to output: inout Output) throws(Failure) {
    for (bytes, isShown) in [(key, showsKeys), (value, showsValues)] where isShown {
      try output.write(bytes.span)
      try output.write(byte: 0)
    }
  }

  private func writeDump(_ key: [UInt8], _ value: [UInt8], to output: inout Output) throws(Failure) {
    if showsKeys { try output.line(String(escaping: key)) }
    if showsValues { try output.write(HexDump.lines(value)) }
  }
}

/// Bytes as hexadecimal and text, 16 a line.
enum HexDump {
  static func lines(_ bytes: [UInt8], from start: Int = 0) -> String {
    var text = ""
    for offset in stride(from: 0, to: bytes.count, by: 16) {
      let row = bytes[offset..<min(offset + 16, bytes.count)]
      let position = String(start + offset, radix: 16)
      text += String(repeating: "0", count: max(0, 8 - position.count)) + position + ":"
      for (index, byte) in row.enumerated() { text += (index % 2 == 0 ? " " : "") + hexadecimal([byte]) }
      let used = row.count * 2 + (row.count + 1) / 2
      text += String(repeating: " ", count: 41 - used + 1)
      text.unicodeScalars += row.map { (0x20...0x7E).contains($0) ? Unicode.Scalar($0) : "." }
      text += "\n"
    }
    return text
  }
}

/// Two digits a byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
  var text = ""
  for byte in bytes { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
  return text
}
