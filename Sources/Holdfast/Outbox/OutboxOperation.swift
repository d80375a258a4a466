public import LMDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type of operation, whose values wait in the outbox as JSON.
///
/// The kind and the meaning of a version are for ever: entries of any version that has been released may be waiting on
/// somebody's device. Change the type in a way that old payloads still decode, or raise the version and migrate.
///
/// ```swift
/// struct Rename: OutboxOperation {
///   static let kind = "album.rename"
///   var album: Int
///   var title: String
/// }
/// ```
public protocol OutboxOperation: Codable, Sendable {
  /// Names the type on disk, such as `comment.post`.
  static var kind: String { get }
  /// The version of the form in which values are stored now; 1 if it is not said.
  static var schemaVersion: UInt16 { get }

  /// Makes a value from a payload of an older version.
  ///
  /// - Parameters:
  ///   - payload: What was stored.
  ///   - version: The version it was stored in; lower than ``schemaVersion``.
  /// - Returns: The value that it means now.
  /// - Throws: Anything if it cannot be had; the entry is held then.
  static func migrate(_ payload: [UInt8], from version: UInt16) throws -> Self
}

extension OutboxOperation {
  /// The first version.
  public static var schemaVersion: UInt16 { 1 }

  /// Takes the payload for one of the present version, which it is as long as only optional fields are added.
  ///
  /// - Parameters:
  ///   - payload: What was stored.
  ///   - version: The version it was stored in.
  /// - Returns: The decoded value.
  /// - Throws: `corruptRecord` if it does not decode.
  public static func migrate(_ payload: [UInt8], from version: UInt16) throws -> Self {
    try Self(decoding: payload, version: version)
  }

  /// Reads the operation out of an entry, migrating it if it is older.
  ///
  /// - Parameter entry: An entry of this ``kind``.
  /// - Throws: `invalidValue` for another kind; `unsupportedVersion` if a newer version of the app has stored it;
  ///   `corruptRecord` if it does not decode; what ``migrate(_:from:)`` throws.
  public init(_ entry: OutboxEntry) throws {
    guard entry.kind == Self.kind else {
      throw StoreError(.invalidValue, "The outbox entry \(entry.id) is a \(entry.kind), not a \(Self.kind).")
    }
    guard entry.schemaVersion <= Self.schemaVersion else {
      throw StoreError(
        .unsupportedVersion,
        "The outbox entry \(entry.id) has version \(entry.schemaVersion) of \(Self.kind), and this app knows "
          + "\(Self.schemaVersion); send it with a newer one.")
    }
    self =
      entry.schemaVersion == Self.schemaVersion
      ? try Self(decoding: entry.payload, version: entry.schemaVersion)
      : try Self.migrate(entry.payload, from: entry.schemaVersion)
  }

  private init(decoding payload: [UInt8], version: UInt16) throws(StoreError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(payload))
    } catch {
      throw StoreError(.corruptRecord, "A payload is not version \(version) of \(Self.kind): \(error).")
    }
  }
}

extension OutboxRequest {
  /// A request that holds an operation.
  ///
  /// - Parameters:
  ///   - operation: What to deliver.
  ///   - lane: The lane whose order it keeps; `nil` is one of its own, so that it waits for nobody.
  ///   - attachments: Files that go with it.
  ///   - host: The host it goes to; `nil` for the sender's own.
  ///   - credentials: The name of the credentials it is sent with; `nil` for the sender's own.
  ///   - queue: The group of requests it belongs to.
  ///   - key: What it is about; a conflict other than `append` needs one.
  ///   - conflict: What happens if another request of the same key is in the outbox.
  ///   - priority: Which goes first of those that may go out.
  ///   - delay: How long to wait before the first attempt.
  ///   - maxAge: How long it is worth sending; `nil` is for ever.
  ///   - maxAttempts: After how many attempts to give up; `nil` is what the drain says.
  ///   - recovery: What happens when nobody knows whether the server has it.
  ///   - optimistic: What the user is to see until the request is settled.
  ///   - optimisticPolicy: What becomes of that when the request is delivered.
  /// - Throws: `invalidValue` if the operation cannot be written as JSON.
  public init<Operation: OutboxOperation>(
    _ operation: Operation, lane: String? = nil, attachments: [StagedAttachment] = [], host: String? = nil,
    credentials: String? = nil, queue: String = "", key: String? = nil, conflict: ConflictPolicy = .append,
    priority: DeliveryPriority = .normal, delay: Duration = .zero, maxAge: Duration? = nil, maxAttempts: Int? = nil,
    recovery: RecoveryPolicy = .resend,
    optimistic: [StateKey: FieldChanges] = [:], optimisticPolicy: OptimisticPolicy = .fold
  ) throws(StoreError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.init(
        kind: Operation.kind, schemaVersion: Operation.schemaVersion, lane: lane,
        payload: Array(try encoder.encode(operation)), attachments: attachments, host: host,
        credentials: credentials, queue: queue, key: key, conflict: conflict, priority: priority, delay: delay,
        maxAge: maxAge, maxAttempts: maxAttempts, recovery: recovery, optimistic: optimistic,
        optimisticPolicy: optimisticPolicy)
    } catch {
      throw StoreError(.invalidValue, "The \(Operation.kind) cannot be stored: \(error).")
    }
  }
}
