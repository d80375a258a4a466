#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type that is one field by itself, rather than what it would encode.
protocol FieldScalar {
  /// The field, if it can be one.
  var fieldValue: FieldValue? { get }
  /// What to show of it in an error.
  var printable: any Sendable { get }
  /// The value of a field, if it is of this type and fits.
  init?(fieldValue: FieldValue)
}

extension FieldScalar where Self: Sendable {
  var printable: any Sendable { self }
}

extension FixedWidthInteger where Self: FieldScalar {
  // An unsigned number above the highest signed one is none: it must not come back as another.
  var fieldValue: FieldValue? { Int64(exactly: self).map { .int($0) } }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.intValue else { return nil }
    self.init(exactly: value)
  }
}

extension Int: FieldScalar {}
extension Int8: FieldScalar {}
extension Int16: FieldScalar {}
extension Int32: FieldScalar {}
extension Int64: FieldScalar {}
extension UInt: FieldScalar {}
extension UInt8: FieldScalar {}
extension UInt16: FieldScalar {}
extension UInt32: FieldScalar {}
extension UInt64: FieldScalar {}

extension Bool: FieldScalar {
  var fieldValue: FieldValue? { .bool(self) }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.boolValue else { return nil }
    self = value
  }
}

extension String: FieldScalar {
  var fieldValue: FieldValue? { .string(self) }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.stringValue else { return nil }
    self = value
  }
}

extension Double: FieldScalar {
  var fieldValue: FieldValue? { .double(self) }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.doubleValue else { return nil }
    self = value
  }
}

extension Float: FieldScalar {
  var fieldValue: FieldValue? { .double(Double(self)) }

  init?(fieldValue: FieldValue) {
    if let whole = fieldValue.intValue {
      self.init(exactly: whole)
      return
    }
    guard let value = fieldValue.doubleValue else { return nil }
    self = Float(value)
    // What is beyond its range would come back as another number.
    if isInfinite && value.isFinite { return nil }
  }
}

extension [UInt8]: FieldScalar {
  var fieldValue: FieldValue? { .bytes(self) }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.bytesValue else { return nil }
    self = value
  }
}

extension Data: FieldScalar {
  var fieldValue: FieldValue? { .bytes([UInt8](self)) }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.bytesValue else { return nil }
    self.init(value)
  }
}

extension Date: FieldScalar {
  var fieldValue: FieldValue? {
    Int64(exactly: (timeIntervalSince1970 * 1000).rounded()).map { .date(milliseconds: $0) }
  }

  // The description of a date that is no number, or far away, ends the process.
  var printable: any Sendable { "A date \(timeIntervalSince1970) s after 1970" }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.millisecondsValue else { return nil }
    self.init(timeIntervalSince1970: Double(value) / 1000)
  }
}

extension Decimal: FieldScalar {
  // Text, since a Double would change it.
  var fieldValue: FieldValue? { isNaN ? nil : .string(description) }

  init?(fieldValue: FieldValue) {
    // What begins like a number is not one yet.
    guard let value = fieldValue.stringValue, let number = Decimal(string: value), number.description == value else {
      return nil
    }
    self = number
  }
}

extension URL: FieldScalar {
  var fieldValue: FieldValue? { .string(absoluteString) }

  init?(fieldValue: FieldValue) {
    guard let value = fieldValue.stringValue else { return nil }
    self.init(string: value)
  }
}
