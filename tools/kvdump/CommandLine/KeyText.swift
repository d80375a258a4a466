import Foundation
import LMDBFile

/// Keys as people type them, and as tables show them: each can be read back as the other.
enum KeyText {
  /// How a key on the command line is meant.
  enum Format: String, CaseIterable, Sendable {
    /// Text, in which `\xNN` is a byte and `\\` a backslash.
    case escaped
    /// Text as it is.
    case text
    case hex
    case base64
    /// A number of 4 bytes, in the order of the file.
    case u32
    /// A number of 8 bytes, in the order of the file.
    case u64
  }

  /// The bytes of an escaped text, which is how names of databases are given.
  static func bytes(of text: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == 0x5C else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case 0x5C: bytes.append(0x5C)
      case 0x78:
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { fallthrough }
        bytes.append(high << 4 | low)
      default:
        throw Failure(.usage, "\(printable(text)): a backslash is written `\\\\`, and a byte `\\x` with two digits")
      }
    }
    return bytes
  }

  /// The value of a hexadecimal digit.
  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  /// The bytes of a key on the command line. Where the database has integer keys, and no format is given, a number is
  /// one of their size.
  static func key(_ text: String, as format: Format?, integerSize size: Int?, _ layout: Layout) throws(Failure)
    -> [UInt8]
  {
    switch format {
    case nil:
      if let size, let number = UInt64(text) { return integer(number, size: size, layout) }
      return try bytes(of: text)
    case .escaped: return try bytes(of: text)
    case .text: return Array(text.utf8)
    case .hex:
      let digits = text.utf8.map(digit)
      guard digits.count % 2 == 0, !digits.contains(nil) else {
        throw Failure(.usage, "\(printable(text)) is not hexadecimal: an even number of digits is expected")
      }
      return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    case .base64:
      guard let data = Data(base64Encoded: text) else { throw Failure(.usage, "\(printable(text)) is not base64") }
      return Array(data)
    case .u32, .u64:
      guard let number = UInt64(text), format == .u64 || number <= UInt64(UInt32.max) else {
        throw Failure(.usage, "\(printable(text)) is not a number of \(format == .u32 ? 4 : 8) bytes")
      }
      return integer(number, size: format == .u32 ? 4 : 8, layout)
    }
  }

  static func integer(_ number: UInt64, size: Int, _ layout: Layout) -> [UInt8] {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    return layout.isBigEndian ? bytes.reversed() : bytes
  }

  /// The number that the bytes of an integer key are.
  static func number(_ bytes: [UInt8], _ layout: Layout) -> UInt64 {
    (layout.isBigEndian ? bytes : bytes.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
