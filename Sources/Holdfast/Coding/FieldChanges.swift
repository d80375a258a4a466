/// Fields to set and fields to remove; `nil` removes.
///
/// ```swift
/// let changes: FieldChanges = ["hasComment": true, "draft": nil]
/// ```
public struct FieldChanges: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The fields to set.
  public private(set) var values: FieldMap
  /// The names of the fields to remove.
  public private(set) var removals: [String] = []

  /// Sets every field of a map.
  ///
  /// - Parameter fields: What to set.
  public init(_ fields: FieldMap = [:]) {
    values = fields
  }

  /// Makes changes; the last of equal names wins.
  public init(dictionaryLiteral elements: (String, FieldValue?)...) {
    values = FieldMap()
    for (name, value) in elements { self[name] = value }
  }

  /// What happens to a field: a value sets it, `nil` removes it. Reads back `nil` also for a field left alone.
  public subscript(name: String) -> FieldValue? {
    get { values[name] }
    set {
      values[name] = newValue
      removals.removeAll { $0.utf8.elementsEqual(name.utf8) }
      if newValue == nil { removals.append(name) }
    }
  }

  /// Whether nothing is set and nothing removed.
  var isEmpty: Bool { values.isEmpty && removals.isEmpty }

  /// The names of all fields that are set or removed, in byte order.
  var names: [String] {
    let names = values.map(\.name)
    return removals.isEmpty ? names : (names + removals).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Leaves some fields alone.
  mutating func forget(_ names: [String]) {
    for name in names {
      values[name] = nil
      removals.removeAll { $0.utf8.elementsEqual(name.utf8) }
    }
  }

  /// Applies the changes to a map.
  func apply(to fields: inout FieldMap) {
    for name in removals { fields[name] = nil }
    fields.merge(values)
  }
}
