public import LMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension StoreError: LocalizedError {
  /// The ``message``, so that `localizedDescription` says it too; it is not translated.
  public var errorDescription: String? { message }
}
