import LMDB

/// The part of an entry that never changes, as it is stored: a format byte, and a ``FieldTable``. Fields that have their
/// usual value are left out.
extension OutboxEntry {
  private static let format: UInt8 = 1

  func encoded() throws(StoreError) -> [UInt8] {
    var fields: FieldMap = [
      "attachments": .array(
        attachments.map {
          [
            "id": .bytes($0.id.bytes), "mediaType": .string($0.mediaType), "name": .string($0.name),
            "size": .int(Int64($0.size)),
          ]
        }),
      "createdAt": .date(milliseconds: createdAt),
      "idempotencyKey": .bytes(idempotencyKey.bytes),
      "kind": .string(kind),
      "lane": .string(lane),
      "payload": .bytes(payload),
    ]
    fields["credentials"] = credentials.map { .string($0) }
    fields["host"] = host.map { .string($0) }
    fields["key"] = key.map { .string($0) }
    fields["maxAttempts"] = maxAttempts.map { .int(Int64($0)) }
    if priority != .normal { fields["priority"] = .int(Int64(priority.rawValue)) }
    if !queue.isEmpty { fields["queue"] = .string(queue) }
    if recovery != .resend { fields["recovery"] = .int(Int64(recovery.rawValue)) }
    if schemaVersion != 1 { fields["schemaVersion"] = .int(Int64(schemaVersion)) }
    var writer = ByteWriter()
    writer.append(Self.format)
    try FieldTable.append(fields, to: &writer)
    return writer.bytes
  }

  init(decoding bytes: Span<UInt8>, id: EntryID, attachmentsIn folder: AttachmentFolder) throws(StoreError) {
    do throws(Malformed) {
      guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
      let fields = try FieldTable.decode(bytes.slice(1, bytes.count - 1))
      guard case .string(let kind) = fields["kind"], case .string(let lane) = fields["lane"],
        case .bytes(let payload) = fields["payload"], case .date(let createdAt) = fields["createdAt"],
        case .bytes(let key) = fields["idempotencyKey"], let idempotencyKey = IdempotencyKey(bytes: key),
        case .array(let attachments) = fields["attachments"],
        let priority = DeliveryPriority(rawValue: UInt8(clamping: fields["priority"]?.intValue ?? 2)),
        let recovery = RecoveryPolicy(rawValue: UInt8(clamping: fields["recovery"]?.intValue ?? 1))
      else { throw Malformed("a field is missing or of the wrong type") }
      self.id = id
      self.kind = kind
      schemaVersion = UInt16(clamping: fields["schemaVersion"]?.intValue ?? 1)
      self.lane = lane
      self.payload = payload
      queue = fields["queue"]?.stringValue ?? ""
      host = fields["host"]?.stringValue
      credentials = fields["credentials"]?.stringValue
      self.key = fields["key"]?.stringValue
      self.priority = priority
      self.recovery = recovery
      maxAttempts = fields["maxAttempts"]?.intValue.map { Int(clamping: $0) }
      self.idempotencyKey = idempotencyKey
      self.createdAt = createdAt
      self.attachments = try attachments.map { value throws(Malformed) in try Attachment(value, in: folder) }
    } catch {
      throw StoreError(
        .corruptRecord,
        "The outbox entry \(id) cannot be read: \(error.reason); it is held, other entries are not affected.")
    }
  }
}

extension OutboxEntry.Attachment {
  fileprivate init(_ value: FieldValue, in folder: AttachmentFolder) throws(Malformed) {
    guard let fields = value.mapValue, case .bytes(let bytes) = fields["id"], let id = AttachmentID(bytes: bytes),
      case .string(let name) = fields["name"], case .string(let mediaType) = fields["mediaType"],
      case .int(let size) = fields["size"]
    else { throw Malformed("an attachment in it is incomplete") }
    self.init(name: name, mediaType: mediaType, size: Int(size), path: folder.path(of: id), id: id)
  }
}
