import LMDB

/// 128 random bits that name an operation towards the server, written as a version 4 UUID (RFC 9562).
public struct IdempotencyKey: Sendable, Hashable, CustomStringConvertible {
  /// Its first eight bytes and the others, the first of each lowest. Not an array, of which an entry has enough to copy.
  let words: (UInt64, UInt64)

  init() {
    let bytes = SystemRandom.bytes(16)
    self.init(random: bytes, at: 0)
  }

  fileprivate init(random bytes: [UInt8], at offset: Int) {
    var words: (UInt64, UInt64) = (0, 0)
    for index in 0..<8 {
      words.0 |= UInt64(bytes[offset + index]) << UInt64(8 * index)
      words.1 |= UInt64(bytes[offset + 8 + index]) << UInt64(8 * index)
    }
    // Bytes 6 and 8 say what it is.
    words.0 = words.0 & ~(0xF0 << 48) | 0x40 << 48
    words.1 = words.1 & ~0xC0 | 0x80
    self.words = words
  }

  init(words: (UInt64, UInt64)) { self.words = words }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let span = bytes.span
    guard let first = span.littleEndian(UInt64.self, at: 0), let second = span.littleEndian(UInt64.self, at: 8) else {
      return nil
    }
    words = (first, second)
  }

  /// The bytes of which the first is named first.
  var bytes: [UInt8] {
    var bytes = ShortBytes()
    bytes.append(words.0)
    bytes.append(words.1)
    return bytes.array
  }

  /// Whether both are the same 128 bits.
  public static func == (lhs: IdempotencyKey, rhs: IdempotencyKey) -> Bool { lhs.words == rhs.words }

  /// Hashes the 128 bits.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
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
  private struct State {
    var bytes: [UInt8] = []
    /// How many of them have not been used.
    var left = 0
  }

  private let state = Guarded(State())

  func next() -> IdempotencyKey {
    state.update { state in
      if state.left == 0 {
        state.bytes = SystemRandom.bytes(16 * 256)
        state.left = state.bytes.count
      }
      state.left -= 16
      return IdempotencyKey(random: state.bytes, at: state.left)
    }
  }
}

extension Sequence<UInt8> {
  /// Two lower-case digits a byte.
  var hexadecimal: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
