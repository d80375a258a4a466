/// Makes a `Decodable` value of fields, directly; the counterpart of ``FieldEncoder``.
///
/// ```swift
/// struct Card: Decodable { var title: String, isFollowed: Bool? }
/// let card = try FieldDecoder().decode(Card.self, from: ["title": "Hello"])
/// ```
///
/// A whole number is decoded only as one that holds it, or as a `Double` or `Float` that does so exactly; other numbers as
/// the nearest `Float`, if they are in its range. Fields that the type does not know are left alone. No fields at all are
/// `nil` of an optional type.
public struct FieldDecoder: Sendable {
  /// What `init(from:)` finds in its decoder.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Makes a decoder.
  ///
  /// - Parameter userInfo: What `init(from:)` finds in its decoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

  /// A value made of fields.
  ///
  /// - Parameters:
  ///   - type: What to make.
  ///   - fields: Its properties by name.
  /// - Returns: The value.
  /// - Throws: `DecodingError` if a field is missing or of another type; what `init(from:)` throws.
  public func decode<T: Decodable>(_ type: T.Type, from fields: FieldMap) throws -> T {
    try FieldSource(.map(fields), userInfo, []).decoded(type)
  }

  /// A value made of the fields of some records, which an error names.
  func decode<T: Decodable>(_ type: T.Type, from fields: FieldMap, of keys: [StateKey]) throws -> T {
    do {
      return try decode(type, from: fields)
    } catch let error as DecodingError {
      let names = keys.prefix(8).map(\.excerpt).joined(separator: ", ") + (keys.count > 8 ? ", …" : "")
      throw error.adding("In the fields of \(names.isEmpty ? "no record" : names).")
    }
  }
}

extension DecodingError {
  /// The same with a sentence more.
  fileprivate func adding(_ sentence: String) -> DecodingError {
    func more(_ context: Context) -> Context {
      .init(
        codingPath: context.codingPath, debugDescription: "\(context.debugDescription) \(sentence)",
        underlyingError: context.underlyingError)
    }
    return switch self {
    case .typeMismatch(let type, let context): .typeMismatch(type, more(context))
    case .valueNotFound(let type, let context): .valueNotFound(type, more(context))
    case .keyNotFound(let key, let context): .keyNotFound(key, more(context))
    case .dataCorrupted(let context): .dataCorrupted(more(context))
    @unknown default: self
    }
  }
}

/// A value that is being decoded.
private struct FieldSource: Decoder {
  let value: FieldValue
  let fieldInfo: [CodingUserInfoKey: any Sendable]
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { fieldInfo }

  init(_ value: FieldValue, _ info: [CodingUserInfoKey: any Sendable], _ path: [any CodingKey]) {
    self.value = value
    fieldInfo = info
    codingPath = path
  }

  func decoded<T: Decodable>(_ type: T.Type) throws -> T {
    guard let scalar = type as? any FieldScalar.Type else { return try T(from: self) }
    guard let made = scalar.init(fieldValue: value) as? T else {
      if case .null = value { throw missing(type) }
      throw DecodingError.typeMismatch(type, context("A value of this type was expected, but it is \(excerpt)."))
    }
    return made
  }

  func source(_ value: FieldValue, _ key: any CodingKey) -> FieldSource {
    FieldSource(value, fieldInfo, codingPath + [key])
  }

  func missing(_ type: Any.Type) -> DecodingError {
    .valueNotFound(type, context("A value of this type was expected, but it is null."))
  }

  func context(_ text: String) -> DecodingError.Context { .init(codingPath: codingPath, debugDescription: text) }

  private var excerpt: String {
    let text = value.description
    return text.count > 80 ? text.prefix(80) + "…" : text
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let fields) = value else {
      throw DecodingError.typeMismatch(FieldMap.self, context("Fields were expected, but it is \(excerpt)."))
    }
    return KeyedDecodingContainer(KeyedSource<Key>(source: self, fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let values) = value else {
      throw DecodingError.typeMismatch([FieldValue].self, context("An array was expected, but it is \(excerpt)."))
    }
    return ElementSource(source: self, values: values)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension FieldSource: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value == .null || codingPath.isEmpty && value == .map([:]) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoded(type) }
}

private struct KeyedSource<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let source: FieldSource
  let fields: FieldMap
  var codingPath: [any CodingKey] { source.codingPath }
  var allKeys: [Key] { fields.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).value == .null }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try value(key).decoded(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try value(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try value(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try value(FieldName("super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

  private func value(_ key: any CodingKey) throws -> FieldSource {
    guard let value = fields[key.stringValue] else {
      throw DecodingError.keyNotFound(key, source.context("There is no field \"\(key.stringValue)\"."))
    }
    return source.source(value, key)
  }
}

private struct ElementSource: UnkeyedDecodingContainer {
  let source: FieldSource
  let values: [FieldValue]
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { source.codingPath }
  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex == values.count }

  init(source: FieldSource, values: [FieldValue]) {
    self.source = source
    self.values = values
  }

  mutating func decodeNil() throws -> Bool {
    guard try current(Never.self).value == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let result = try current(type).decoded(type)
    currentIndex += 1
    return result
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let result = try current(FieldMap.self).container(keyedBy: type)
    currentIndex += 1
    return result
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let result = try current([FieldValue].self).unkeyedContainer()
    currentIndex += 1
    return result
  }

  mutating func superDecoder() throws -> any Decoder {
    let result = try current(FieldMap.self)
    currentIndex += 1
    return result
  }

  private func current(_ type: Any.Type) throws -> FieldSource {
    let index = FieldIndex(currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath + [index], debugDescription: "The array ends before."))
    }
    return source.source(values[currentIndex], index)
  }
}
