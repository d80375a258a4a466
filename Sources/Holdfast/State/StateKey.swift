import LMDB

/// Names one record of the state: a type and an id, such as `post` and `42`.
///
/// Stored under the UTF-8 bytes `type:id`. Equality is by bytes, as on disk, not by Unicode equivalence. A key that
/// cannot be stored is reported by the call that uses it, as `invalidKey`.
public struct StateKey: Sendable, Hashable {
  /// What kind of thing the record is about; not empty, without `:` and NUL.
  public let type: String
  /// Which thing of that kind; not empty, any text.
  public let id: String

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - type: What kind of thing; not empty, without `:` and NUL.
  ///   - id: Which one; not empty.
  public init(type: String, id: String) {
    self.type = type
    self.id = id
  }

  /// Whether both name the same record.
  public static func == (lhs: StateKey, rhs: StateKey) -> Bool {
    lhs.type.utf8.elementsEqual(rhs.type.utf8) && lhs.id.utf8.elementsEqual(rhs.id.utf8)
  }

  /// Feeds type and id to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(Array(type.utf8))
    hasher.combine(Array(id.utf8))
  }
}

extension StateKey: CustomStringConvertible, ExpressibleByStringLiteral {
  /// The key as it is stored: `type:id`.
  public var description: String { "\(type):\(id)" }

  /// Splits a text at its first `:`.
  ///
  /// - Parameter text: `type:id`; the id may hold further colons. Without a colon, the key has an empty type, which the
  ///   call that uses it rejects.
  public init(_ text: String) {
    let bytes = text.utf8
    if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      self.init(type: String(text[..<colon]), id: String(text[bytes.index(after: colon)...]))
    } else {
      self.init(type: "", id: text)
    }
  }

  /// Splits a literal at its first `:`.
  public init(stringLiteral value: String) { self.init(value) }
}

extension StateKey {
  /// The longest key that is stored as it is; a longer one becomes its start and a hash, one byte longer than this.
  static let plainLimit = 510
  /// The longest `type:id` in bytes.
  static let limit = 65_535

  /// The bytes `type:id`.
  var fullBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(type.utf8.count + 1 + id.utf8.count)
    bytes += type.utf8
    bytes.append(UInt8(ascii: ":"))
    bytes += id.utf8
    return bytes
  }

  /// The key of the record in its database: ``fullBytes``, or for a long key its first 495 bytes and their hash.
  func storedBytes() throws(StoreError) -> [UInt8] {
    if let reason = flaw { throw StoreError(.invalidKey, "The state key \"\(excerpt)\" cannot be used: \(reason).") }
    let bytes = fullBytes
    guard bytes.count > Self.plainLimit else { return bytes }
    return bytes[..<495] + SipHash.hash128(bytes)
  }

  private var flaw: String? {
    if type.isEmpty { return "its type is empty; write `type:id`" }
    if type.utf8.contains(UInt8(ascii: ":")) { return "its type holds a colon; move it to the id" }
    if type.utf8.contains(0) { return "its type holds a NUL; remove it" }
    if id.isEmpty { return "its id is empty; give it one" }
    if type.utf8.count + 1 + id.utf8.count > Self.limit {
      return "it is longer than \(Self.limit) bytes; use a hash of the id"
    }
    return nil
  }

  private var excerpt: String {
    let text = type.isEmpty ? id : description
    return text.count > 80 ? text.prefix(80) + "…" : text
  }
}
