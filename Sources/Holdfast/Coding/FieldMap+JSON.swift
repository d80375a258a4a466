extension FieldMap: CustomStringConvertible {
  /// The fields as one line of JSON, in byte order of names, for logs and tools.
  ///
  /// Bytes are `{"bytes": "hexadecimal"}`, dates `{"date": milliseconds}`, and numbers that JSON does not have are
  /// strings. Control characters are escaped.
  public var description: String {
    "{" + map { "\(quoted($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
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
    case .string(let value): quoted(value)
    case .bytes(let value): "{\"bytes\": \"\(value.hexadecimal)\"}"
    case .date(let milliseconds): "{\"date\": \(milliseconds)}"
    case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .map(let map): map.description
    }
  }
}

/// A JSON string (RFC 8259, section 7). Beyond what it asks for, the C1 controls and line separators are escaped, so
/// that a value cannot act on a terminal.
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{202A}"..."\u{202E}",
      "\u{2066}"..."\u{2069}":
      let hexadecimal = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
