internal import CPeers

/// A mix of operations, drawn before the clock runs.
public struct OperationList: Sendable {
  /// What an operation does.
  public enum Kind: UInt32, Sendable {
    /// Reads a record.
    case read
    /// Writes a record.
    case update
    /// Reads records in order.
    case scan
    /// Reads a record and writes it.
    case readModifyWrite
  }

  /// One operation.
  public struct Operation: Sendable {
    /// What it does.
    public let kind: Kind
    /// The index of its key.
    public let key: Int
    /// The records of a scan.
    public let length: Int

    /// Makes an operation.
    public init(_ kind: Kind, key: Int, length: Int = 0) {
      self.kind = kind
      self.key = key
      self.length = length
    }
  }

  /// The operations, for Swift.
  public let operations: [Operation]
  /// The same, for C.
  let raw: [peer_operation]

  /// Makes a list.
  ///
  /// - Parameter operations: The operations.
  public init(_ operations: [Operation]) {
    self.operations = operations
    raw = operations.map {
      peer_operation(kind: $0.kind.rawValue, key: UInt32($0.key), length: UInt32($0.length))
    }
  }
}
