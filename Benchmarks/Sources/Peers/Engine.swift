internal import CPeers

/// An engine that Holdfast is compared with.
public enum Engine: String, Sendable, CaseIterable {
  /// liblmdb, called from C.
  case lmdb
  /// SQLite; many keys are read with one statement each.
  case sqlite
  /// SQLite; many keys are read with `IN`.
  case sqliteIn = "sqlite-in"
  /// RocksDB; many keys are read with MultiGet.
  case rocksdb
  /// LevelDB.
  case leveldb
  /// Kyoto Cabinet's HashDB: a hash file, without order.
  case kyoto
  /// WiredTiger.
  case wiredtiger

  /// Its name in reports.
  public var name: String {
    switch self {
    case .lmdb: "raw LMDB (C)"
    case .sqlite: "SQLite"
    case .sqliteIn: "SQLite, IN"
    case .rocksdb: "RocksDB"
    case .leveldb: "LevelDB"
    case .kyoto: "Kyoto HashDB"
    case .wiredtiger: "WiredTiger"
    }
  }

  /// The versions of all engines, for the report.
  public static var versions: [String: String] {
    let engines = allCases.filter { $0 != .sqliteIn }
    return Dictionary(
      uniqueKeysWithValues: engines.map { unsafe ($0.rawValue, String(cString: peer_version($0.rawValue))) })
  }
}

/// What an engine said when it failed.
public struct PeerError: Error, CustomStringConvertible {
  /// Its words.
  public let description: String

  init() { unsafe description = String(cString: peer_message()) }
}

/// Throws what the peer said if it has failed.
func must(_ code: Int32) throws(PeerError) {
  if code != 0 { throw PeerError() }
}
