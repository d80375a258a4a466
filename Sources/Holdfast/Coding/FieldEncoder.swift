/// Makes fields of an `Encodable` value, directly.
///
/// ```swift
/// struct Draft: Codable { var text: String, editedAt: Int64 }
/// let fields = try FieldEncoder().encode(Draft(text: "Hello", editedAt: 0))
/// try store.write { try store.state.replace("draft:42", with: fields, in: &$0) }
/// ```
///
/// Properties become fields. Whole numbers stay whole; `Date` becomes a date in whole milliseconds (rounded), `Data` and `[UInt8]`
/// bytes, `URL` and `Decimal` text; arrays and nested values arrays and maps. A property that is `nil` is left out by synthesized
/// conformances.
public struct FieldEncoder: Sendable {
  /// What `encode(to:)` finds in its encoder.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Makes an encoder.
  ///
  /// - Parameter userInfo: What `encode(to:)` finds in its encoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

  /// The fields of a value.
  ///
  /// - Parameter value: A value that encodes itself as named properties.
  /// - Returns: Its fields.
  /// - Throws: `EncodingError` if it is something else, a number in it is beyond `Int64` or a date in it no time, a part of
  ///   it encodes itself in two ways at once, or it nests deeper than a record can; what `encode(to:)` throws.
  public func encode(_ value: some Encodable) throws -> FieldMap {
    let node = FieldNode(userInfo, [])
    guard case .map(let fields) = try node.encoded(value) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "Fields need names; encode a value with properties."))
    }
    return fields
  }
}

/// A value that is being encoded: one, or the parts of one.
final class FieldNode: Encoder {
  let codingPath: [any CodingKey]
  let fieldInfo: [CodingUserInfoKey: any Sendable]
  var userInfo: [CodingUserInfoKey: Any] { fieldInfo }
  private var value: FieldValue?
  private var isMap = false
  private var isArray = false
  private var map = FieldMap()
  /// Parts of the map that are still being encoded.
  private var members: [(name: String, node: FieldNode)] = []
  private(set) var elements: [FieldNode] = []

  init(_ info: [CodingUserInfoKey: any Sendable], _ path: [any CodingKey]) {
    fieldInfo = info
    codingPath = path
  }

  /// What has been encoded.
  func result() throws -> FieldValue {
    guard [value != nil, isArray, isMap].count(where: { $0 }) <= 1 else {
      throw EncodingError.invalidValue(
        value as Any,
        .init(codingPath: codingPath, debugDescription: "Encode it as one value, as an array or as named properties."))
    }
    if isArray { return .array(try elements.map { try $0.result() }) }
    guard isMap else { return value ?? .map([:]) }
    for member in members { map[member.name] = try member.node.result() }
    return .map(map)
  }

  func encoded<T: Encodable>(_ value: T) throws -> FieldValue {
    if let value = value as? any FieldScalar {
      guard let field = value.fieldValue else {
        throw EncodingError.invalidValue(
          value.printable,
          .init(codingPath: codingPath, debugDescription: "\(value.printable) cannot be kept exactly."))
      }
      return field
    }
    guard codingPath.count <= FieldTable.depthLimit else {
      throw EncodingError.invalidValue(
        type(of: value),
        .init(
          codingPath: codingPath,
          debugDescription: "Values nest deeper than \(FieldTable.depthLimit) levels or refer to themselves."))
    }
    try value.encode(to: self)
    return try result()
  }

  func set(_ value: FieldValue) { self.value = value }

  func set(_ value: FieldValue, for name: String) {
    members.removeAll { $0.name.hasSameBytes(as: name) }
    map[name] = value
  }

  /// The part under a key; a class and its superclass may both add to it.
  func member(_ key: any CodingKey) -> FieldNode {
    if let known = members.first(where: { $0.name.hasSameBytes(as: key.stringValue) }) { return known.node }
    let node = FieldNode(fieldInfo, codingPath + [key])
    members.append((key.stringValue, node))
    return node
  }

  func element() -> FieldNode {
    let node = FieldNode(fieldInfo, codingPath + [FieldIndex(elements.count)])
    elements.append(node)
    return node
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    isMap = true
    return KeyedEncodingContainer(KeyedFields<Key>(node: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    isArray = true
    return FieldElements(node: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension FieldNode: SingleValueEncodingContainer {
  func encodeNil() { value = .null }
  func encode<T: Encodable>(_ value: T) throws { self.value = try FieldNode(fieldInfo, codingPath).encoded(value) }
}

private struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: FieldNode
  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil(forKey key: Key) { node.set(.null, for: key.stringValue) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    let value = try FieldNode(node.fieldInfo, codingPath + [key]).encoded(value)
    node.set(value, for: key.stringValue)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    node.member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { node.member(key).unkeyedContainer() }

  func superEncoder() -> any Encoder { node.member(FieldName("super")) }

  func superEncoder(forKey key: Key) -> any Encoder { node.member(key) }
}

private struct FieldElements: UnkeyedEncodingContainer {
  let node: FieldNode
  var codingPath: [any CodingKey] { node.codingPath }
  var count: Int { node.elements.count }

  func encodeNil() { node.element().set(.null) }

  func encode<T: Encodable>(_ value: T) throws {
    // First its value: one that is refused is no element.
    let value = try FieldNode(node.fieldInfo, codingPath + [FieldIndex(count)]).encoded(value)
    node.element().set(value)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    node.element().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.element().unkeyedContainer() }

  func superEncoder() -> any Encoder { node.element() }
}

/// The place of an element, for the paths in errors.
struct FieldIndex: CodingKey {
  let intValue: Int?
  var stringValue: String { "Index \(intValue ?? 0)" }

  init(_ index: Int) { intValue = index }
  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) { nil }
}

/// A name of a field that is no case of an enumeration.
struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(intValue: Int) { nil }
  init?(stringValue: String) { self.init(stringValue) }
}
