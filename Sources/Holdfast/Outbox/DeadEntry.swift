import LMDB

/// An entry that was given up: kept whole, apart from the live ones, until somebody decides.
public struct DeadEntry: Sendable, Hashable {
  /// The entry as it was.
  public let entry: OutboxEntry
  /// Why it was given up.
  public let reason: String
  /// How often it may have reached the server.
  public let attempts: Int
  /// When it was given up, in milliseconds since 1970.
  public let diedAt: Int64
  /// ``DeliveryState/ambiguousSince`` when it died.
  var ambiguousSince: Int64 = 0
}

extension DeadEntry {
  /// Makes a dead letter that is in no outbox, so that what shows it can be tested.
  ///
  /// - Parameters:
  ///   - entry: The entry as it was.
  ///   - reason: Why it was given up.
  ///   - attempts: How often it may have reached the server.
  ///   - diedAt: When it was given up, in milliseconds since 1970.
  public init(entry: OutboxEntry, reason: String, attempts: Int = 1, diedAt: Int64 = 0) {
    self.init(entry: entry, reason: reason, attempts: attempts, diedAt: diedAt, ambiguousSince: 0)
  }

  private static let format: UInt8 = 1

  func encoded() throws(StoreError) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    let fields: FieldMap = [
      "ambiguousSince": .int(ambiguousSince), "attempts": .int(Int64(attempts)), "diedAt": .date(milliseconds: diedAt),
      "entry": .bytes(try entry.encoded()),
      "reason": .string(reason),
    ]
    try FieldTable.append(fields, to: &writer)
    return writer.bytes
  }

  init(decoding bytes: Span<UInt8>, id: EntryID, attachmentsIn folder: AttachmentFolder) throws(StoreError) {
    let fields: FieldMap
    do throws(Malformed) {
      guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
      fields = try FieldTable.decode(bytes.slice(1, bytes.count - 1))
      guard case .bytes(_) = fields["entry"], case .string(_) = fields["reason"] else {
        throw Malformed("a field is missing or of the wrong type")
      }
    } catch {
      throw StoreError(
        .corruptRecord,
        "The dead outbox entry \(id) cannot be read: \(error.reason); other entries are not affected.")
    }
    let entryBytes = fields["entry"]?.bytesValue ?? []
    entry = try OutboxEntry(decoding: entryBytes.span, id: id, attachmentsIn: folder)
    reason = fields["reason"]?.stringValue ?? ""
    attempts = Int(fields["attempts"]?.intValue ?? 0)
    ambiguousSince = fields["ambiguousSince"]?.intValue ?? 0
    if case .date(let time) = fields["diedAt"] { diedAt = time } else { diedAt = 0 }
  }
}
