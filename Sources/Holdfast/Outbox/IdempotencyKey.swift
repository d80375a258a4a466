import LMDB

/// 128 random bits that name an operation towards the server, written as a version 4 UUID (RFC 9562).
public struct IdempotencyKey: Sendable, Hashable, CustomStringConvertible {
  let bytes: [UInt8]

  init() { self.init(random: SystemRandom.bytes(16)) }

  fileprivate init(random: [UInt8]) {
    var bytes = random
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

/// Makes keys from random bytes that are fetched for many of them at once.
///
/// A child of a fork would make the same keys as its parent; it cannot use the parent's environment, and so not its outbox.
final class IdempotencyKeySource: Sendable {
  private let bytes = Monitor<[UInt8]>([])

  func next() -> IdempotencyKey {
    bytes.update { bytes in
      if bytes.isEmpty { bytes = SystemRandom.bytes(16 * 256) }
      defer { bytes.removeLast(16) }
      return IdempotencyKey(random: Array(bytes.suffix(16)))
    }
  }
}

extension Sequence<UInt8> {
  /// Two lower-case digits a byte.
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
