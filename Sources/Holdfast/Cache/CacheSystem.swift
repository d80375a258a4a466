import LMDB

/// What a cache asks the machine, so that tests can answer.
package struct CacheSystem: Sendable {
  var time = SystemTime.real
  /// What names the time since the machine was last started.
  package var bootID: @Sendable () throws(StoreError) -> [UInt8] = { () throws(StoreError) in try BootSession.id() }
  /// The bytes left on the volume of a path.
  var availableBytes: @Sendable (String) -> Int? = { FileSystem.availableBytes($0) }

  /// A number from 0 to 1, for what is better not done by all at once.
  var random: @Sendable () -> Double = { .random(in: 0..<1) }

  package static let real = CacheSystem()
}
