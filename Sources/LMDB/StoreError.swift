/// What went wrong in a store, and what to do about it.
///
/// `message` is a whole sentence that names the operation, the key or path, and a remedy; show it as it is.
/// Switch over ``code``, or over ``Code/remedy`` when only the reaction matters. New codes may be added in a
/// minor version, so a `switch` needs a `default`.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public let code: Code
  /// A sentence that names the operation, the key or path, and what to do.
  public let message: String
  /// The `errno` or LMDB return code behind the failure, if there is one.
  public let underlying: Int32?

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: A sentence that says what failed and what to do.
  ///   - underlying: The `errno` or LMDB return code behind it.
  public init(_ code: Code, _ message: String, underlying: Int32? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// The message, followed by the underlying code if there is one.
  public var description: String {
    guard let underlying else { return message }
    return "\(message) [code \(underlying)]"
  }
}

extension StoreError {
  /// What the caller can do about a failure.
  public enum Remedy: Sendable, Hashable {
    /// The call itself is wrong; the same call fails again.
    case fixTheCall
    /// The disk, the map or a table is full; the call succeeds once there is room.
    case makeRoom
    /// Somebody else holds what the call needs; the same call may succeed later.
    case tryLater
    /// The file or the device cannot be trusted; stop, keep the file, and tell somebody.
    case stop
  }

  /// The kind of failure, grouped by what its reader does next.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case invalidKey, invalidValue, invalidOption, unknownDatabase, alreadyOpen, nestedWrite, readOnly, notFound
      case notADirectory, accessDenied, forked, cursorOverrun
      case diskFull, mapFull, outboxFull, readersFull, transactionFull
      case busy
      case notADatabase, unsupportedVersion, damaged, corruptRecord, io, poisoned, closed
    }

    private let kind: Kind

    // Fix the call.
    /// A key is empty, too long, or not of the form that the database asks for.
    public static let invalidKey = Code(kind: .invalidKey)
    /// A value is too large or cannot be represented.
    public static let invalidValue = Code(kind: .invalidValue)
    /// An option is out of its range, or differs from that of the open environment.
    public static let invalidOption = Code(kind: .invalidOption)
    /// A database was not declared when the environment was opened, or does not exist.
    public static let unknownDatabase = Code(kind: .unknownDatabase)
    /// The environment is already open in this process with other options.
    public static let alreadyOpen = Code(kind: .alreadyOpen)
    /// A write transaction was begun inside another one on the same thread.
    public static let nestedWrite = Code(kind: .nestedWrite)
    /// A write was asked of an environment that was opened for reading.
    public static let readOnly = Code(kind: .readOnly)
    /// Nothing exists at the path, or under the id.
    public static let notFound = Code(kind: .notFound)
    /// The path is not a directory.
    public static let notADirectory = Code(kind: .notADirectory)
    /// The process may not read or write the path.
    public static let accessDenied = Code(kind: .accessDenied)
    /// The environment was opened before `fork()`, and the child may not use it. It may open one of its own, if no other
    /// thread of the parent was busy in Swift's runtime meanwhile, whose locks know of no fork.
    public static let forked = Code(kind: .forked)
    /// A replay cursor has missed records that were trimmed, and must be sought.
    public static let cursorOverrun = Code(kind: .cursorOverrun)

    // Make room.
    /// The file system is full, or a quota or file-size limit was hit; nothing was half-written.
    public static let diskFull = Code(kind: .diskFull)
    /// The environment has reached its map size and may not grow.
    public static let mapFull = Code(kind: .mapFull)
    /// The environment is so near to its limit that the outbox takes no more: what it has could not be settled then.
    public static let outboxFull = Code(kind: .outboxFull)
    /// All reader slots are taken.
    public static let readersFull = Code(kind: .readersFull)
    /// One transaction changed too many pages.
    public static let transactionFull = Code(kind: .transactionFull)

    // Try later.
    /// Another process or task holds what the call needs.
    public static let busy = Code(kind: .busy)

    // Stop.
    /// The file is not an LMDB environment.
    public static let notADatabase = Code(kind: .notADatabase)
    /// The file was written by a version that this one does not read.
    public static let unsupportedVersion = Code(kind: .unsupportedVersion)
    /// The file's pages contradict each other.
    public static let damaged = Code(kind: .damaged)
    /// One record failed its checks; other records can still be read.
    public static let corruptRecord = Code(kind: .corruptRecord)
    /// The device or the operating system refused a read, a write or a flush.
    public static let io = Code(kind: .io)
    /// An earlier failure left the environment unsure of its state; reopen it.
    public static let poisoned = Code(kind: .poisoned)
    /// The environment has been closed.
    public static let closed = Code(kind: .closed)

    /// What the caller can do about it.
    public var remedy: Remedy {
      switch kind {
      case .invalidKey, .invalidValue, .invalidOption, .unknownDatabase, .alreadyOpen, .nestedWrite, .readOnly,
        .notFound, .notADirectory, .accessDenied, .forked, .cursorOverrun:
        .fixTheCall
      case .diskFull, .mapFull, .outboxFull, .readersFull, .transactionFull: .makeRoom
      case .busy: .tryLater
      case .notADatabase, .unsupportedVersion, .damaged, .corruptRecord, .io, .poisoned, .closed: .stop
      }
    }

    /// The code's name, such as `diskFull`.
    public var description: String { kind.rawValue }
  }
}
