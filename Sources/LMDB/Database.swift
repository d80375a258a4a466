import CLMDB

/// A named database of an environment: a handle that is valid for as long as the environment is open.
///
/// Get one with ``Environment/database(_:)``. Copying it is free. Using it with a transaction of another
/// environment is a programmer error and traps.
public struct Database: Sendable, Hashable {
  /// The name under which the environment declared it.
  public let name: String
  let handle: MDB_dbi
  let owner: EnvironmentID
}

/// Tells environments of one process apart, so that a handle can be checked with one comparison.
@usableFromInline typealias EnvironmentID = UInt32
