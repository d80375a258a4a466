import LMDB

/// The part of an entry that never changes, stored as
/// ```
/// u8   format, 2          u8   priority      u8   recovery      u8   which optional names there are: 1 the host,
///                                                                    2 the credentials, 4 the key
/// u16  version of the payload's form         u16  number of attachments
/// u64  maximal number of attempts, or 0      i64  time of its making, in milliseconds since 1970
/// 16 bytes of the idempotency key
/// u16 each: the lengths of kind, lane, queue, host, credentials and key; and then these, in UTF-8
/// for each attachment: its id (16 bytes), u64 size, u32 each: the lengths of its name and media type; then these
/// the payload, up to the end
/// ```
/// Format 1 was a ``FieldTable``, and is still read.
extension OutboxEntry {
  private static let format: UInt8 = 2

  /// - Throws: `invalidValue` for a name that is longer than its length can say.
  func encoded() throws(StoreError) -> [UInt8] {
    var head = ShortBytes()
    head.append(Self.format)
    head.append(priority.rawValue)
    head.append(recovery.rawValue)
    head.append((host == nil ? 0 : 1 as UInt8) | (credentials == nil ? 0 : 2) | (key == nil ? 0 : 4))
    head.append(schemaVersion)
    head.append(try length(attachments.count))
    head.append(UInt64(maxAttempts ?? 0))
    head.append(createdAt)
    head.append(idempotencyKey.words.0)
    head.append(idempotencyKey.words.1)
    head.append(try length(kind.utf8.count))
    head.append(try length(lane.utf8.count))
    head.append(try length(queue.utf8.count))
    head.append(try length(host?.utf8.count ?? 0))
    head.append(try length(credentials?.utf8.count ?? 0))
    head.append(try length(key?.utf8.count ?? 0))
    var writer = ByteWriter(capacity: head.count + kind.utf8.count + lane.utf8.count + 32 + payload.count)
    writer.append(head)
    writer.append(text: kind)
    writer.append(text: lane)
    if !queue.isEmpty { writer.append(text: queue) }
    if let host { writer.append(text: host) }
    if let credentials { writer.append(text: credentials) }
    if let key { writer.append(text: key) }
    for attachment in attachments {
      writer.append(bytes: attachment.id.bytes)
      writer.append(UInt64(attachment.size))
      writer.append(UInt32(clamping: attachment.name.utf8.count))
      writer.append(UInt32(clamping: attachment.mediaType.utf8.count))
      writer.append(text: attachment.name)
      writer.append(text: attachment.mediaType)
    }
    writer.append(bytes: payload)
    return writer.bytes
  }

  private func length(_ count: Int) throws(StoreError) -> UInt16 {
    if let length = UInt16(exactly: count) { return length }
    throw StoreError(.invalidValue, "The outbox entry \(id) has too long a name or too many attachments; shorten it.")
  }

  init(decoding bytes: Span<UInt8>, id: EntryID, attachmentsIn folder: AttachmentFolder) throws(StoreError) {
    do throws(Malformed) {
      switch try bytes.load(UInt8.self, at: 0) {
      case 1: self = try OutboxEntry(fields: FieldTable.decode(bytes.slice(1, bytes.count - 1)), id, folder)
      case Self.format: self = try OutboxEntry(bytes, id, folder)
      default: throw Malformed("its format is unknown")
      }
    } catch {
      throw StoreError(
        .corruptRecord,
        "The outbox entry \(id) cannot be read: \(error.reason); it is held, other entries are not affected.")
    }
  }

  private init(_ bytes: Span<UInt8>, _ id: EntryID, _ folder: AttachmentFolder) throws(Malformed) {
    var reader = ByteReader(bytes)
    try reader.skip(1)
    guard let priority = DeliveryPriority(rawValue: try reader.number()),
      let recovery = RecoveryPolicy(rawValue: try reader.number())
    else { throw Malformed("a policy in it is unknown") }
    let present: UInt8 = try reader.number()
    let schemaVersion: UInt16 = try reader.number()
    let attachmentCount: UInt16 = try reader.number()
    let maxAttempts: UInt64 = try reader.number()
    let createdAt: Int64 = try reader.number()
    let idempotencyKey = IdempotencyKey(words: (try reader.number(), try reader.number()))
    let lengths: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16) = (
      try reader.number(), try reader.number(), try reader.number(), try reader.number(), try reader.number(),
      try reader.number()
    )
    let (kind, lane, queue) = (try reader.text(lengths.0), try reader.text(lengths.1), try reader.text(lengths.2))
    let (host, credentials, key) = (try reader.text(lengths.3), try reader.text(lengths.4), try reader.text(lengths.5))
    var attachments: [Attachment] = []
    for _ in 0..<attachmentCount {
      guard let id = AttachmentID(bytes: try reader.bytes(16)) else { throw Malformed.endsEarly }
      let size: UInt64 = try reader.number()
      let (name, mediaType): (UInt32, UInt32) = (try reader.number(), try reader.number())
      attachments.append(
        Attachment(
          name: try reader.text(name), mediaType: try reader.text(mediaType), size: Int(clamping: size),
          path: folder.path(of: id), id: id))
    }
    // At once, since what is made in parts is copied as a whole.
    self.init(
      id: id, kind: kind, schemaVersion: schemaVersion, lane: lane, payload: try reader.bytes(reader.left),
      attachments: attachments, queue: queue, host: present & 1 == 0 ? nil : host,
      credentials: present & 2 == 0 ? nil : credentials, key: present & 4 == 0 ? nil : key, priority: priority,
      recovery: recovery, maxAttempts: maxAttempts == 0 ? nil : Int(clamping: maxAttempts),
      idempotencyKey: idempotencyKey, createdAt: createdAt)
  }

  private init(fields: FieldMap, _ id: EntryID, _ folder: AttachmentFolder) throws(Malformed) {
    guard case .string(let kind) = fields["kind"], case .string(let lane) = fields["lane"],
      case .bytes(let payload) = fields["payload"], case .date(let createdAt) = fields["createdAt"],
      case .bytes(let key) = fields["idempotencyKey"], let idempotencyKey = IdempotencyKey(bytes: key),
      case .array(let attachments) = fields["attachments"],
      let priority = DeliveryPriority(rawValue: UInt8(clamping: fields["priority"]?.intValue ?? 2)),
      let recovery = RecoveryPolicy(rawValue: UInt8(clamping: fields["recovery"]?.intValue ?? 1))
    else { throw Malformed("a field is missing or of the wrong type") }
    self.init(
      id: id, kind: kind, schemaVersion: UInt16(clamping: fields["schemaVersion"]?.intValue ?? 1), lane: lane,
      payload: payload,
      attachments: try attachments.map { value throws(Malformed) in try Attachment(value, in: folder) },
      queue: fields["queue"]?.stringValue ?? "", host: fields["host"]?.stringValue,
      credentials: fields["credentials"]?.stringValue, key: fields["key"]?.stringValue, priority: priority,
      recovery: recovery, maxAttempts: fields["maxAttempts"]?.intValue.map { Int(clamping: $0) },
      idempotencyKey: idempotencyKey, createdAt: createdAt)
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
