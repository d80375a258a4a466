import LMDB

/// The entries that this process has read and found as they were written, up to 65,536 of them.
///
/// By the place where they lie in the map, which is known before their bytes have arrived from memory, so that both
/// are waited for at once. An entry that moves there, as one in a page that is written anew, is checked again.
struct DiskCacheKnown: Sendable {
  /// The version that was read last of those that share the place; zero for none.
  let versions = AtomicTable(bits: 16)

  /// The version that is known at a place; to be asked before the entry is looked at.
  @inline(__always)
  func version(at place: UInt64) -> UInt64 { versions.load(place) }

  /// Remembers that the version at a place is as it was written.
  func remember(_ version: UInt64, at place: UInt64) { versions.store(version, place) }
}
