import LMDB

extension StateKey {
  /// The longest key that is stored as it is; a longer one becomes its start and a hash, one byte longer than this.
  static let plainLimit = 510
  /// The longest `type:id` in bytes.
  static let limit = 65_535

  /// Whether a record can have it.
  var isValid: Bool { form == .plain || form == .hashed }

  /// Throws what is wrong with a key that cannot be stored.
  func check() throws(StoreError) {
    try check("state key", excerpt, type: "its type", id: "its id")
  }

  /// Throws what is wrong with a type that no key can have.
  static func check(type: String) throws(StoreError) {
    try StateKey(type: type, id: "_").check("type", excerpt(type))
  }

  /// Throws what is wrong with an id that no key can have.
  static func check(id: String) throws(StoreError) { try StateKey(type: "_", id: id).check("id", excerpt(id)) }

  private func check(
    _ what: String, _ name: String, type: String = "it", id: String = "it"
  ) throws(StoreError) {
    let reason =
      switch form {
      case .plain, .hashed: ""
      case .emptyType: "\(type) is empty; write `type:id`"
      case .colonInType: "\(type) holds a colon; move it to the id"
      case .nulInType: "\(type) holds a NUL; remove it"
      case .emptyID: "\(id) is empty; give it one"
      case .tooLong: "it is longer than \(Self.limit) bytes; use a hash of the id"
      }
    if !reason.isEmpty {
      throw StoreError(.invalidKey, "The \(what) \"\(name)\" cannot be used: \(reason).")
    }
  }

  /// What is wrong with a record, with its key.
  func naming(_ error: StoreError) -> StoreError {
    StoreError(error.code, "The record \(excerpt) cannot be stored. \(error.message)", underlying: error.underlying)
  }

  /// Throws unless the key can name a durable record.
  func checkDurable() throws(StoreError) {
    try check()
    if isOfInstance {
      throw StoreError(
        .invalidKey, "The state key \"\(excerpt)\" names an object of this process; use `state.session` for it.")
    }
  }

  /// Runs `body` with the key of the record in its database: the text, or for a long one its first 495 bytes and the
  /// hash of all.
  func withStoredBytes<R>(_ body: (Span<UInt8>) throws(StoreError) -> R) throws(StoreError) -> R {
    if form == .plain { return try text.withBytes(body) }
    try check()
    let bytes = storedBytes
    return try body(bytes.span)
  }

  /// The key of the record in its database; for a key that cannot be stored, one that no record has.
  var storedBytes: [UInt8] {
    let bytes = Array(text.utf8)
    return form == .plain ? bytes : bytes.prefix(495) + hash
  }

  /// What the stored keys of a type begin with; if it is that long, those of other types may, too.
  static func storedPrefix(ofType type: String) -> [UInt8] { Array("\(type):".utf8.prefix(495)) }

  /// The hash of the whole text.
  var hash: [UInt8] { SipHash.hash128(text).array }

  /// The text for a message.
  var excerpt: String {
    // A text without a colon was given one; of a colon alone nobody knows.
    let text = text.utf8.first == UInt8(ascii: ":") && text.utf8.count > 1 ? String(text.dropFirst()) : text
    return Self.excerpt(text)
  }

  private static func excerpt(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}
