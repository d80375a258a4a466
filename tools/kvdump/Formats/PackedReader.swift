import Foundation
import Holdfast

/// Reads MessagePack (the specification of msgpack.org) or CBOR (RFC 8949), and shows it as JSON.
///
/// What JSON does not have becomes an object with one key: `{"hex": …}` for bytes, `{"tag": …, "value": …}` for tags
/// and extensions. Indefinite lengths of CBOR are read.
struct PackedReader {
  private let bytes: [UInt8]
  private let isCBOR: Bool
  private var position = 0

  private static let depthLimit = 64

  init(_ bytes: [UInt8], isCBOR: Bool) {
    self.bytes = bytes
    self.isCBOR = isCBOR
  }

  /// The whole value as JSON.
  mutating func text() throws(Failure) -> String {
    let text = try item(depth: 0) ?? ""
    guard position == bytes.count, !text.isEmpty else {
      throw malformed("\(bytes.count - position) bytes are left over")
    }
    return text
  }

  private func malformed(_ what: String) -> Failure {
    Failure(
      .damagedData, "the value is not \(isCBOR ? "CBOR" : "MessagePack"): \(what); add --decode dump to see its bytes")
  }

  private mutating func byte() throws(Failure) -> UInt8 {
    guard position < bytes.count else { throw malformed("it ends too early") }
    position += 1
    return bytes[position - 1]
  }

  private mutating func number(_ count: Int) throws(Failure) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<count { value = value << 8 | UInt64(try byte()) }
    return value
  }

  private mutating func take(_ count: UInt64) throws(Failure) -> [UInt8] {
    guard count <= UInt64(bytes.count - position) else { throw malformed("it ends too early") }
    defer { position += Int(count) }
    return Array(bytes[position..<position + Int(count)])
  }

  private mutating func string(_ count: UInt64) throws(Failure) -> String {
    guard let text = String(validating: try take(count), as: UTF8.self) else { throw malformed("a text is not UTF-8") }
    return JSONText.quoted(text)
  }

  private mutating func binary(_ count: UInt64) throws(Failure) -> String {
    "{\"hex\":\"\(hexadecimal(try take(count)))\"}"
  }

  private func float(_ value: Double) -> String { value.isFinite ? "\(value)" : "\"\(value)\"" }

  private mutating func array(_ count: UInt64, _ depth: Int) throws(Failure) -> String {
    var items: [String] = []
    while UInt64(items.count) < count {
      guard let next = try item(depth: depth + 1) else { break }
      items.append(next)
    }
    return "[" + items.joined(separator: ",") + "]"
  }

  private mutating func map(_ count: UInt64, _ depth: Int) throws(Failure) -> String {
    var items: [String] = []
    while UInt64(items.count) < count {
      guard let key = try item(depth: depth + 1) else { break }
      guard let value = try item(depth: depth + 1) else { throw malformed("a key has no value") }
      items.append((key.hasPrefix("\"") ? key : JSONText.quoted(key)) + ":" + value)
    }
    return "{" + items.joined(separator: ",") + "}"
  }

  /// The next value; `nil` for the mark that ends an indefinite length.
  private mutating func item(depth: Int) throws(Failure) -> String? {
    guard depth < Self.depthLimit else { throw malformed("it nests deeper than \(Self.depthLimit) levels") }
    return isCBOR ? try cborItem(depth) : try packItem(depth)
  }

  private mutating func cborItem(_ depth: Int) throws(Failure) -> String? {
    let head = try byte()
    let info = head & 0x1F
    let count: UInt64?
    switch info {
    case 0...23: count = UInt64(info)
    case 24...27: count = try number(1 << (info - 24))
    case 31: count = nil
    default: throw malformed("a head of 0x\(String(head, radix: 16))")
    }
    switch (head >> 5, count) {
    case (0, let value?): return "\(value)"
    case (1, let value?): return value == .max ? "-18446744073709551616" : "-\(value + 1)"
    case (2, let count?): return try binary(count)
    case (3, let count?): return try string(count)
    case (2, nil), (3, nil): return try array(.max, depth)
    case (4, let count): return try array(count ?? .max, depth)
    case (5, let count): return try map(count ?? .max, depth)
    case (6, let tag?): return "{\"tag\":\(tag),\"value\":\(try item(depth: depth + 1) ?? "null")}"
    case (7, nil): return nil
    case (7, let value?): return simple(info, value)
    default: throw malformed("a head of 0x\(String(head, radix: 16))")
    }
  }

  private func simple(_ info: UInt8, _ value: UInt64) -> String {
    switch info {
    case 20: "false"
    case 21: "true"
    case 22, 23: "null"
    case 25: float(Self.half(UInt16(truncatingIfNeeded: value)))
    case 26: float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: value))))
    case 27: float(Double(bitPattern: value))
    default: "{\"simple\":\(value)}"
    }
  }

  /// IEEE 754 binary16, which not every platform's Swift has a type for.
  private static func half(_ bits: UInt16) -> Double {
    let exponent = Int(bits >> 10 & 0x1F)
    let fraction = Double(bits & 0x3FF)
    let value: Double =
      switch exponent {
      case 0: fraction * 0x1p-24
      case 31: fraction == 0 ? .infinity : .nan
      default: (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
      }
    return bits & 0x8000 == 0 ? value : -value
  }

  private mutating func packItem(_ depth: Int) throws(Failure) -> String? {
    let head = try byte()
    switch head {
    case 0x00...0x7F: return "\(head)"
    case 0x80...0x8F: return try map(UInt64(head & 0x0F), depth)
    case 0x90...0x9F: return try array(UInt64(head & 0x0F), depth)
    case 0xA0...0xBF: return try string(UInt64(head & 0x1F))
    case 0xC0: return "null"
    case 0xC2, 0xC3: return head == 0xC3 ? "true" : "false"
    case 0xC4...0xC6: return try binary(try number(1 << (head - 0xC4)))
    case 0xC7...0xC9: return try pack(extension: try number(1 << (head - 0xC7)))
    case 0xCA: return float(Double(Float(bitPattern: UInt32(try number(4)))))
    case 0xCB: return float(Double(bitPattern: try number(8)))
    case 0xCC...0xCF: return "\(try number(1 << (head - 0xCC)))"
    case 0xD0: return "\(Int8(truncatingIfNeeded: try number(1)))"
    case 0xD1: return "\(Int16(truncatingIfNeeded: try number(2)))"
    case 0xD2: return "\(Int32(truncatingIfNeeded: try number(4)))"
    case 0xD3: return "\(Int64(bitPattern: try number(8)))"
    case 0xD4...0xD8: return try pack(extension: 1 << UInt64(head - 0xD4))
    case 0xD9...0xDB: return try string(try number(1 << (head - 0xD9)))
    case 0xDC, 0xDD: return try array(try number(head == 0xDC ? 2 : 4), depth)
    case 0xDE, 0xDF: return try map(try number(head == 0xDE ? 2 : 4), depth)
    case 0xE0...0xFF: return "\(Int8(bitPattern: head))"
    default: throw malformed("a head of 0x\(String(head, radix: 16))")
    }
  }

  private mutating func pack(extension count: UInt64) throws(Failure) -> String {
    let kind = Int8(bitPattern: try byte())
    return "{\"tag\":\(kind),\"value\":\(try binary(count))}"
  }
}
