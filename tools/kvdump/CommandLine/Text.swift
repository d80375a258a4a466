import Foundation

/// Text that is safe to show on a terminal: control characters, and what could reorder the line, are escaped.
func printable(_ text: String, limit: Int = .max) -> String {
  var shown = ""
  var count = 0
  for scalar in text.unicodeScalars {
    if count == limit { return shown + "…" }
    count += 1
    switch scalar.properties.generalCategory {
    // The joiner of emoji is the one format character that does no harm.
    case .format where scalar == "\u{200D}": shown.unicodeScalars.append(scalar)
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .format:
      shown += scalar.isASCII ? escape(UInt8(scalar.value)) : "\\u{\(String(scalar.value, radix: 16))}"
    default: shown.unicodeScalars.append(scalar)
    }
  }
  return shown
}

private func escape(_ byte: UInt8) -> String {
  "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
}

/// A sentence as a part of another one.
func clause(_ sentence: String) -> String { sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence }

/// A number of bytes for people.
func size(_ bytes: Int) -> String {
  var value = Double(bytes)
  for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
    if value < 1024 { return unit == "B" ? "\(bytes) B" : String(format: "%.1f \(unit)", value) }
    value /= 1024
  }
  return String(format: "%.1f PiB", value)
}

/// A time in milliseconds since 1970, in UTC.
func timestamp(_ milliseconds: Int64) -> String {
  Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
}

/// How many of something, in the singular or the plural.
func count(_ number: Int, _ noun: String, _ nouns: String? = nil) -> String {
  "\(number) \(number == 1 ? noun : nouns ?? noun + "s")"
}

/// The time in milliseconds since 1970.
func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
