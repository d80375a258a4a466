/// When what a benchmark writes is safe. Rows of different classes are never compared.
public enum Durability: String, Sendable, Codable {
  /// Lost with the process.
  case none
  /// Survives the end of the process; a power cut may take it.
  case processCrashSafe = "process-crash-safe"
  /// Survives a power cut.
  case powerLossSafe = "power-loss-safe"
}
