/// Fields to set and fields to remove; `nil` removes.
///
/// ```swift
/// let changes: FieldChanges = ["hasComment": true, "draft": nil]
/// ```
public struct FieldChanges: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The fields to set.
  public private(set) var values: FieldMap
  /// The names of the fields to remove, in byte order.
  public var removals: [String] { removed.map(\.name) }
  /// Those, each without a value: sorted, so that as many as a record can have are added in no time.
  private(set) var removed = FieldMap()

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
      removed[name] = newValue == nil ? .null : nil
    }
  }

  /// Whether nothing is set and nothing removed.
  var isEmpty: Bool { values.isEmpty && removed.isEmpty }

  /// The names of all fields that are set or removed, in byte order.
  var names: [String] {
    var all = values
    all.merge(removed)
    return all.map(\.name)
  }

  /// Leaves some fields alone.
  mutating func forget(_ names: [String]) {
    for name in names {
      values[name] = nil
      removed[name] = nil
    }
  }

  /// Applies the changes to a map.
  package func apply(to fields: inout FieldMap) {
    fields.removeFields(of: removed)
    fields.merge(values)
  }
}
