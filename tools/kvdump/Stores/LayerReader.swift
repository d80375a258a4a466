import Holdfast
import LMDB
import LMDBFile

/// What requests in flight have laid over the state, as a snapshot of the file has it.
struct LayerReader {
  /// `nil` in a store of a version that knew no layers.
  private let layers: StoreTable?

  init(_ reading: Reading, _ snapshot: Snapshot) throws(Failure) {
    do throws(Failure) {
      layers = try StoreTable("state.layer", of: "state", reading, snapshot)
    } catch {
      guard error.kind == .noInput else { throw error }
      layers = nil
    }
  }

  /// The layers over a record, in the order of their entries.
  func layers(over key: StateKey) throws(Failure) -> [LayerRow] {
    guard let layers else { return [] }
    var found: [LayerRow] = []
    try layers.forEach(prefix: LayerRow.prefix(over: key)) { (stored, value) throws(Failure) in
      let layer = try row(stored, value, layers)
      // Another key with the same hash is none of ours.
      if layer.key == key { found.append(layer) }
      return true
    }
    return found
  }

  /// The layers of an entry.
  func layers(of entry: EntryID) throws(Failure) -> [LayerRow] {
    guard let layers else { return [] }
    var found: [LayerRow] = []
    try layers.forEach(prefix: LayerRow.prefix(of: entry)) { (key, _) throws(Failure) in
      let stored = LayerRow.stored(by: key, of: entry)
      if let value = try layers.value(stored) { found.append(try row(stored, value, layers)) }
      return true
    }
    return found
  }

  private func row(_ stored: [UInt8], _ value: [UInt8], _ layers: StoreTable) throws(Failure) -> LayerRow {
    do throws(StoreError) {
      return try LayerRow(stored, value)
    } catch {
      throw Failure(.damagedData, "\(printable(layers.reading.path)): \(printable(error.message))")
    }
  }
}

extension LayerRow {
  /// What it does, for people: `text = "…"`, `- draft`.
  var lines: [[String]] {
    changes.values.map { [printable($0.name), printable("\($0.value)", limit: 200)] }
      + changes.removals.map { [printable($0), "(removed)"] }
  }
}
