extension FieldMap: CustomStringConvertible {
  /// The fields as one line of JSON, in byte order of names, for logs and tools.
  ///
  /// Bytes are `{"bytes": "hexadecimal"}`, dates `{"date": milliseconds}`, and numbers that JSON does not have are
  /// strings. Control characters are escaped.
  public var description: String {
    "{" + map { "\(JSONText.quoted($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
  }
}

extension FieldValue: CustomStringConvertible {
  /// The value as JSON; see ``FieldMap/description``.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .double(let value): value.isFinite ? "\(value)" : "\"\(value)\""
    case .string(let value): JSONText.quoted(value)
    case .bytes(let value): "{\"bytes\": \"\(value.hexadecimal)\"}"
    case .date(let milliseconds): "{\"date\": \(milliseconds)}"
    case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .map(let map): map.description
    }
  }
}
