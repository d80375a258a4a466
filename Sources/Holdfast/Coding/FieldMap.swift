/// Typed values by name.
///
/// Names are compared byte by byte: two spellings of `é` are two names, where a `Dictionary` would merge them in
/// memory and keep them apart on disk. Kept sorted by name, as on disk; a look-up is a binary search.
public struct FieldMap: Sendable, Hashable {
  /// A name and its value.
  public struct Field: Sendable, Hashable {
    /// The name; may be empty.
    public let name: String
    /// The value.
    public var value: FieldValue

    init(_ name: String, _ value: FieldValue) {
      self.name = name
      self.value = value
    }

    /// Whether name and value are the same on disk.
    public static func == (lhs: Field, rhs: Field) -> Bool {
      lhs.name.utf8.elementsEqual(rhs.name.utf8) && lhs.value == rhs.value
    }

    /// Feeds the name's bytes and the value to a hasher.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(Array(name.utf8))
      hasher.combine(value)
    }
  }

  private(set) var fields: [Field] = []

  /// Makes an empty map.
  public init() {}

  /// Takes fields that are sorted by name, without two of one name.
  init(sorted fields: [Field]) {
    self.fields = fields
  }

  /// The value under a name; setting `nil` removes the field.
  public subscript(name: String) -> FieldValue? {
    get {
      let (index, isFound) = position(of: name)
      return isFound ? fields[index].value : nil
    }
    set {
      let (index, isFound) = position(of: name)
      switch (newValue, isFound) {
      case (let value?, true): fields[index].value = value
      case (let value?, false): fields.insert(Field(name, value), at: index)
      case (nil, true): fields.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Takes over every field of `other`; where both have a name, `other` wins.
  public mutating func merge(_ other: FieldMap) {
    if isEmpty {
      self = other
    } else if other.count <= 2 {
      for field in other { self[field.name] = field.value }
    } else {
      fields = Self.merged(fields, other.fields)
    }
  }

  /// Removes every field of which `other` has the name.
  mutating func removeFields(of other: FieldMap) {
    if other.count <= 8 {
      for field in other { self[field.name] = nil }
    } else {
      fields.removeAll { other[$0.name] != nil }
    }
  }

  private static func merged(_ old: [Field], _ new: [Field]) -> [Field] {
    var result: [Field] = []
    result.reserveCapacity(old.count + new.count)
    var next = 0
    for field in new {
      while next < old.count {
        let order = order(old[next].name, field.name)
        if order >= 0 {
          if order == 0 { next += 1 }
          break
        }
        result.append(old[next])
        next += 1
      }
      result.append(field)
    }
    result += old[next...]
    return result
  }

  private func position(of name: String) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      let order = Self.order(fields[middle].name, name)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  /// How two names follow each other in byte order.
  private static func order(_ one: String, _ other: String) -> Int {
    one.withBytes { one in other.withBytes { other in one.compare(other) } }
  }
}

extension FieldMap: RandomAccessCollection {
  /// The position of the first field in byte order of names.
  public var startIndex: Int { 0 }
  /// The position after the last field.
  public var endIndex: Int { fields.count }
  /// The field at a position in byte order of names.
  public subscript(position: Int) -> Field { fields[position] }
}

extension FieldMap: ExpressibleByDictionaryLiteral {
  /// Makes a map; the last of equal names wins.
  public init(dictionaryLiteral elements: (String, FieldValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}
