/// 128 random bits that name an operation towards the server, written as a version 4 UUID (RFC 9562).
public struct IdempotencyKey: Sendable, Hashable, CustomStringConvertible {
  let bytes: [UInt8]

  init() {
    var bytes = UInt64.random(in: 0 ... .max).bigEndianBytes + UInt64.random(in: 0 ... .max).bigEndianBytes
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.bytes = bytes
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// The key as a UUID in lower case.
  public var description: String {
    let hex = bytes.hexadecimal
    var groups: [Substring] = []
    var rest = hex[...]
    for length in [8, 4, 4, 4, 12] {
      groups.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return groups.joined(separator: "-")
  }
}

extension Sequence<UInt8> {
  /// Two lower-case digits a byte.
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
