// What Apple's systems do with a folder of their own accord: back it up, and lock it with the device.
#if canImport(Darwin)
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  extension DiskCache {
    /// Keeps a folder out of backups, and gives what is made in it a class of protection.
    ///
    /// - Returns: What could not be done, as on a volume that knows neither; the cache works without.
    static func mark(_ path: String, _ protection: Configuration.FileProtection) -> StoreError? {
      do {
        var url = URL(fileURLWithPath: path, isDirectory: true)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        #if !os(macOS)
          let type: FileProtectionType =
            switch protection {
            case .untilFirstUnlock: .completeUntilFirstUserAuthentication
            case .none: .none
            }
          try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
        #endif
        return nil
      } catch {
        return StoreError(.io, "The folder \(path) could not be kept out of backups or protected: \(error).")
      }
    }
  }
#endif
