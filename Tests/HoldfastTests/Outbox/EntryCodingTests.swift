import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Entries as they are stored.
@Suite struct EntryCodingTests {
  private let folder = AttachmentFolder(path: "/store/attachments")

  /// An entry that has the parts which the bits of `parts` stand for.
  private func entry(_ parts: Int) -> OutboxEntry {
    func has(_ bit: Int) -> Bool { parts >> bit & 1 == 1 }
    var request = OutboxRequest(kind: "comment", lane: "post:é", payload: has(0) ? Array(0...255) : [])
    if has(1) { request.queue = "uploads" }
    if has(2) { request.host = has(3) ? "" : "api.example.org" }
    if has(3) { request.credentials = "user 7" }
    if has(4) { request.key = has(0) ? "" : "like:7" }
    if has(5) { (request.priority, request.recovery) = (.high, .hold) }
    if has(6) { (request.maxAttempts, request.schemaVersion) = (Int.max, 65535) }
    let attachments = (0..<parts % 3).map { number in
      let id = AttachmentID()
      return OutboxEntry.Attachment(
        name: "é \(number).png", mediaType: number == 0 ? "" : "image/png", size: number << 40,
        path: folder.path(of: id),
        id: id)
    }
    return OutboxEntry(
      request, id: EntryID(rawValue: 7), attachments: attachments, idempotencyKey: IdempotencyKey(),
      createdAt: has(2) ? .max : 0)
  }

  private func decode(_ bytes: [UInt8]) throws(StoreError) -> OutboxEntry {
    try OutboxEntry(decoding: bytes.span, id: EntryID(rawValue: 7), attachmentsIn: folder)
  }

  @Test func whateverAnEntryHasComesBack() throws {
    for parts in 0..<128 {
      let entry = entry(parts)
      let bytes = try entry.encoded()
      #expect(try decode(bytes) == entry, "parts \(parts)")
    }
  }

  @Test func whatIsCutOffIsRefused() throws {
    // Without a payload each byte is needed.
    let bytes = try entry(0b1110100).encoded()
    for length in 0..<bytes.count {
      let error = #expect(throws: StoreError.self) { try decode(Array(bytes[..<length])) }
      #expect(error?.code == .corruptRecord, "length \(length)")
    }
  }

  @Test func anyBytesAreReadOrRefused() throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("entry bytes, seed \(seed)")
    var generator = Seeded(seed)
    let sound = try entry(0b1111110).encoded()
    for _ in 0..<20_000 {
      var bytes = sound
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      do throws(StoreError) {
        _ = try decode(bytes)
      } catch {
        #expect(error.code == .corruptRecord)
      }
    }
  }
}
