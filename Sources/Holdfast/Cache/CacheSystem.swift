import LMDB

/// What a cache asks the machine, so that tests can answer.
struct CacheSystem: Sendable {
  var time = SystemTime.real
  /// What names the time since the machine was last started.
  var bootID: @Sendable () throws(StoreError) -> [UInt8] = { () throws(StoreError) in try BootSession.id() }
  /// The bytes left on the volume of a path.
  var availableBytes: @Sendable (String) -> Int? = { FileSystem.availableBytes($0) }

  static let real = CacheSystem()
}
