import LMDB

/// Names one record of the state: a type and an id, such as `post` and `42`.
///
/// Stored under the UTF-8 bytes `type:id`. Equality is by bytes, as on disk, not by Unicode equivalence. A key that
/// cannot be stored is reported by the call that uses it, as `invalidKey`. Keep the keys of a list that is read often:
/// making one from two strings costs about as much as reading a record in memory.
public struct StateKey: Sendable, Hashable {
  /// Whether a key can be stored, and how; found out when it is made.
  enum Form: UInt8 {
    case plain, hashed, emptyType, colonInType, nulInType, emptyID, tooLong
  }

  /// `type:id`, as contiguous UTF-8.
  let text: String
  /// Of the bytes, so that lists of keys are compared and found quickly.
  let digest: UInt64
  private let typeLength: Int32
  let form: Form
  private let isASCII: Bool
  /// Whether the id is that of an object in this process.
  let isOfInstance: Bool

  /// What kind of thing the record is about; not empty, without `:` and NUL.
  public var type: String { String(Substring(text.utf8.prefix(Int(typeLength)))) }
  /// Which thing of that kind; not empty, any text.
  public var id: String { String(Substring(idBytes)) }

  var idBytes: Substring.UTF8View { text.utf8.dropFirst(Int(typeLength) + 1) }

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - type: What kind of thing; not empty, without `:` and NUL.
  ///   - id: Which one; not empty.
  public init(type: String, id: String) {
    self.init(type, id, isOfInstance: false)
  }

  /// Makes a key for what concerns one object of this process, such as the card on the screen rather than its content.
  ///
  /// It names a record of the session; a durable one is refused, since an id of this process means nothing to the next.
  ///
  /// - Parameters:
  ///   - type: What kind of thing; not empty, without `:` and NUL.
  ///   - instance: Which object.
  public init(type: String, instance: InstanceID) {
    self.init(type, instance.text, isOfInstance: true)
  }

  private init(_ type: String, _ id: String, isOfInstance: Bool) {
    var text = type
    text.append(":")
    text.append(id)
    self.init(text: text, typeLength: type.utf8.count, isOfInstance: isOfInstance)
  }

  private init(text: String, typeLength: Int, isOfInstance: Bool = false) {
    var text = text
    text.makeContiguousUTF8()
    self.text = text
    self.typeLength = Int32(clamping: typeLength)
    self.isOfInstance = isOfInstance
    (form, digest, isASCII) = text.withBytes { bytes in
      (Self.form(of: bytes, typeLength: typeLength), bytes.checksum(0), Self.isASCII(bytes))
    }
  }

  /// Whether both name the same record.
  public static func == (lhs: StateKey, rhs: StateKey) -> Bool {
    // The comparison of strings is the fastest there is, but takes two spellings of one character for equal.
    lhs.digest == rhs.digest && lhs.typeLength == rhs.typeLength && lhs.text == rhs.text
      && (lhs.isASCII && rhs.isASCII || lhs.text.hasSameBytes(as: rhs.text))
  }

  /// Feeds a hash of the bytes to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

  private static func form(of bytes: Span<UInt8>, typeLength: Int) -> Form {
    if typeLength == 0 { return .emptyType }
    for index in 0..<typeLength {
      if bytes[index] == UInt8(ascii: ":") { return .colonInType }
      if bytes[index] == 0 { return .nulInType }
    }
    if bytes.count <= typeLength + 1 { return .emptyID }
    return bytes.count <= plainLimit ? .plain : bytes.count <= limit ? .hashed : .tooLong
  }

  private static func isASCII(_ bytes: Span<UInt8>) -> Bool {
    var all: UInt64 = 0
    var offset = 0
    while let word = bytes.littleEndian(UInt64.self, at: offset) {
      all |= word
      offset += 8
    }
    while let byte = bytes.littleEndian(UInt8.self, at: offset) {
      all |= UInt64(byte)
      offset += 1
    }
    return all & 0x8080_8080_8080_8080 == 0
  }
}

extension StateKey: CustomStringConvertible, ExpressibleByStringInterpolation {
  /// The key as it is stored: `type:id`.
  public var description: String { text }

  /// Splits a text at its first `:`.
  ///
  /// - Parameter text: `type:id`; the id may hold further colons. Without a colon, the key has an empty type, which the
  ///   call that uses it rejects.
  public init(_ text: String) {
    let bytes = text.utf8
    if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      self.init(text: text, typeLength: bytes.distance(from: bytes.startIndex, to: colon))
    } else {
      self.init(text: ":" + text, typeLength: 0)
    }
  }

  /// Splits a literal at its first `:`; `"post:\(id)"` is one too.
  public init(stringLiteral value: String) { self.init(value) }
}
