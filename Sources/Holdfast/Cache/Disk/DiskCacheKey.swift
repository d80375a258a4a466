import LMDB

/// The key of an entry as it stands in the tree: the bytes of the text, so that prefixes and order mean what they say.
///
/// Any text is a key, also an empty one. A key that ends in the byte 0 or 1, and the empty one, gets a 1 at its end, so
/// that no entry's key ends in 0: that byte marks the row of a value's tail, right after the value's own. A key
/// longer than ``plainLimit`` is its start and a hash; the record then holds the whole key, and is compared.
struct DiskCacheKey: Sendable, Hashable {
  /// The longest key that is stored as it is.
  static let plainLimit = 400
  /// The length of a longer one in the tree; no other is as long.
  static let hashedLength = plainLimit + 17
  /// The longest key in bytes.
  static let limit = 65_535

  /// The key in the tree.
  let bytes: [UInt8]
  /// The whole key, if the tree has only its hash; empty otherwise.
  let full: [UInt8]

  init(_ key: String) throws(StoreError) {
    let text = Array(key.utf8)
    guard text.count <= Self.limit else {
      throw StoreError(
        .invalidKey,
        "A cache key of \(text.count) bytes (\(key.prefix(40))…) cannot be used; use at most \(Self.limit) bytes.")
    }
    if text.count > Self.plainLimit {
      bytes = text[..<Self.plainLimit] + SipHash.hash128(text).array + [2]
      full = text
    } else {
      bytes = (text.last ?? 0) <= 1 ? text + [1] : text
      full = []
    }
  }

  /// A key found in the tree.
  init(stored bytes: [UInt8], full: [UInt8]) {
    self.bytes = bytes
    self.full = full
  }

  /// The text it was made from.
  var text: String { String(decoding: textBytes, as: UTF8.self) }

  /// The bytes of that text.
  var textBytes: ArraySlice<UInt8> { full.isEmpty ? (bytes.last == 1 ? bytes.dropLast() : bytes[...]) : full[...] }

  /// Where the tail of a split value is.
  var tail: [UInt8] { bytes + [0] }

  /// Whether a key of the tree is that of a tail.
  static func isTail(_ key: borrowing Span<UInt8>) -> Bool { key.count > 0 && key[key.count - 1] == 0 }

  /// Whether a key stands in the tree as it is.
  @inline(__always)
  static func isPlain(_ key: String) -> Bool {
    key.withBytes { $0.count > 0 && $0.count <= plainLimit && $0[$0.count - 1] > 1 }
  }
}
