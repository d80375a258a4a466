import Holdfast
import LMDB
import LMDBFile

/// The state of a store, as a snapshot of the file has it.
struct StateReader {
  private let records: StoreTable

  init(_ reading: Reading, _ snapshot: Snapshot) throws(Failure) {
    records = try StoreTable("state.record", of: "state", reading, snapshot)
  }

  var count: Int { records.count }

  /// Visits records whose key starts with a text; ends when `body` says so.
  func forEach(
    prefix: String = "", _ body: (Result<StateRow, StoreError>, _ bytes: Int) throws(Failure) -> Bool
  ) throws(Failure) {
    try records.forEach(prefix: Array(prefix.utf8)) { (key, value) throws(Failure) in
      try body(Self.row(key, value), key.count + value.count)
    }
  }

  /// The record of a key.
  func row(_ key: StateKey) throws(Failure) -> Result<StateRow, StoreError>? {
    let stored: [UInt8]
    do throws(StoreError) { stored = try StateRow.stored(key) } catch { throw Failure(error) }
    return try records.value(stored).map { Self.row(stored, $0) }
  }

  private static func row(_ key: [UInt8], _ value: [UInt8]) -> Result<StateRow, StoreError> {
    do throws(StoreError) { return .success(try StateRow(key, value)) } catch { return .failure(error) }
  }
}
