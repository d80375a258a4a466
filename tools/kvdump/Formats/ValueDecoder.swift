import Foundation
import Holdfast
import LMDBFile

/// Shows a value as what it holds.
enum ValueDecoder: String, CaseIterable, Sendable {
  case json, msgpack, cbor, plist, int, hex, dump

  /// The value as text.
  ///
  /// - Throws: `damagedData` if it is not what it should be.
  func text(of value: [UInt8], _ layout: Layout) throws(Failure) -> String {
    switch self {
    case .hex: return hexadecimal(value)
    case .dump: return String(HexDump.lines(value).dropLast())
    case .int:
      guard [1, 2, 4, 8].contains(value.count) else {
        throw Failure(.damagedData, "the value has \(count(value.count, "byte")), which is no integer")
      }
      return "\(KeyText.number(value, layout))"
    case .json:
      do {
        let object = try JSONSerialization.jsonObject(with: Data(value), options: .fragmentsAllowed)
        let options: JSONSerialization.WritingOptions = [
          .prettyPrinted, .sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes,
        ]
        let data = try JSONSerialization.data(withJSONObject: object, options: options)
        return printable(lines: String(decoding: data, as: UTF8.self))
      } catch {
        throw Failure(.damagedData, "the value is not JSON; add --decode dump to see its bytes")
      }
    case .plist:
      do {
        return try PropertyListDecoder().decode(PropertyValue.self, from: Data(value)).text
      } catch {
        throw Failure(.damagedData, "the value is not a property list; add --decode dump to see its bytes")
      }
    case .msgpack, .cbor:
      var reader = PackedReader(value, isCBOR: self == .cbor)
      return try reader.text()
    }
  }

  private func printable(lines text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { kvdump.printable(String($0)) }
      .joined(separator: "\n")
  }
}

/// A property list of any shape, as JSON.
private struct PropertyValue: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let values = try? container.decode([String: PropertyValue].self) {
      let items = values.sorted { $0.key < $1.key }.map { "\(JSONText.quoted($0.key)):\($0.value.text)" }
      text = "{" + items.joined(separator: ",") + "}"
    } else if let values = try? container.decode([PropertyValue].self) {
      text = "[" + values.map(\.text).joined(separator: ",") + "]"
    } else if let value = try? container.decode(Bool.self) {
      text = "\(value)"
    } else if let value = try? container.decode(Int64.self) {
      text = "\(value)"
    } else if let value = try? container.decode(Double.self) {
      text = value.isFinite ? "\(value)" : "\"\(value)\""
    } else if let value = try? container.decode(Date.self) {
      text = JSONText.quoted(value.formatted(.iso8601))
    } else if let value = try? container.decode(Data.self) {
      text = "{\"b64\":\"\(value.base64EncodedString())\"}"
    } else {
      text = JSONText.quoted(try container.decode(String.self))
    }
  }
}
