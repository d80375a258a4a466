#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One typed value of a record.
///
/// Literals make the common ones: `true`, `42`, `1.5`, `"text"`, `["a", "b"]`, `["name": "value"]`. Doubles compare
/// by bit pattern, so that a NaN equals itself and zero differs from minus zero, as on disk; strings by their bytes.
public enum FieldValue: Sendable, Hashable {
  /// Present, and explicitly nothing; not the same as an absent field.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number; it never goes through a `Double`.
  case int(Int64)
  /// A floating-point number, NaN and infinities included.
  case double(Double)
  /// Text, kept byte for byte.
  case string(String)
  /// Bytes.
  case bytes([UInt8])
  /// A point in time, in milliseconds since 1970-01-01 00:00 UTC.
  case date(milliseconds: Int64)
  /// Values in order.
  case array([FieldValue])
  /// Values by name.
  case map(FieldMap)

  /// Whether both are the same on disk.
  public static func == (lhs: FieldValue, rhs: FieldValue) -> Bool {
    switch (lhs, rhs) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.map(let a), .map(let b)): a == b
    default: false
    }
  }

  /// Feeds what ``==(_:_:)`` compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let value): hasher.combine(Array(value.utf8))
    case .bytes(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .map(let value): hasher.combine(value)
    }
  }
}

extension FieldValue {
  /// The value if it is a Boolean.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The value if it is a whole number.
  public var intValue: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The value if it is a number; whole ones are converted when a `Double` holds them exactly.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .int(let value): Double(exactly: value)
    default: nil
    }
  }
  /// The value if it is text.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The value if it is bytes.
  public var bytesValue: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  /// The value if it is a date, in milliseconds since 1970.
  public var millisecondsValue: Int64? { if case .date(let value) = self { value } else { nil } }
  /// The value if it is a date.
  public var dateValue: Date? { Date(fieldValue: self) }
  /// The value if it is an array.
  public var arrayValue: [FieldValue]? { if case .array(let value) = self { value } else { nil } }
  /// The value if it is a map.
  public var mapValue: FieldMap? { if case .map(let value) = self { value } else { nil } }
}

extension FieldValue {
  /// A point in time, to the nearest millisecond.
  ///
  /// - Parameter date: When. One that is no number becomes ``null``; one beyond what milliseconds reach, 292 million years
  ///   from now, becomes the last that they do.
  /// - Returns: The field.
  public static func date(_ date: Date) -> FieldValue {
    let seconds = date.timeIntervalSince1970
    return date.fieldValue ?? (seconds.isNaN ? .null : .date(milliseconds: seconds < 0 ? .min : .max))
  }
}

extension FieldValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Values in order.
  public init(arrayLiteral elements: FieldValue...) { self = .array(elements) }
  /// Values by name; the last of equal names wins.
  public init(dictionaryLiteral elements: (String, FieldValue)...) {
    var map = FieldMap()
    for (name, value) in elements { map[name] = value }
    self = .map(map)
  }
}
