import Foundation

/// Text for standard output: collected, and written in whole; a failed write is an error, not a success.
struct Output {
  private var text = ""

  mutating func line(_ line: String) {
    text += line
    text += "\n"
  }

  /// Writes columns that are as wide as their longest cell; `right` names those that hold numbers.
  mutating func table(_ rows: [[String]], right: Set<Int> = []) {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      var cells: [String] = []
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        cells.append(right.contains(column) ? padding + cell : column == columns - 1 ? cell : cell + padding)
      }
      line(cells.joined(separator: "  "))
    }
  }

  mutating func flush() throws(Failure) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
      text = ""
    } catch {
      throw Failure(.io, "standard output cannot be written: \(error.localizedDescription)")
    }
  }
}

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

/// A number of bytes for people.
func size(_ bytes: Int) -> String {
  var value = Double(bytes)
  for unit in ["B", "KiB", "MiB", "GiB"] {
    if value < 1024 { return unit == "B" ? "\(bytes) B" : String(format: "%.1f \(unit)", value) }
    value /= 1024
  }
  return String(format: "%.1f TiB", value)
}

/// A time in milliseconds since 1970, in UTC.
func timestamp(_ milliseconds: Int64) -> String {
  Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
}
