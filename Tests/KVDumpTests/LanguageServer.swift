import Foundation

/// sourcekit-lsp, asked over its standard input and output (the Language Server Protocol 3.17) to index a package.
struct LanguageServer {
  static let path = RealFileTests.find("sourcekit-lsp")

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  struct Ended: Error {}

  /// Starts it, has it index a package, and ends it.
  static func index(_ package: String, opening file: String) throws {
    let server = try LanguageServer(package)
    let root = URL(fileURLWithPath: package).absoluteString
    try server.call("initialize", ["processId": Int(getpid()), "rootUri": root, "capabilities": [String: String]()])
    try server.send(["method": "initialized", "params": [String: String]()])
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
    let document: [String: Any] = [
      "uri": URL(fileURLWithPath: file).absoluteString, "languageId": "swift", "version": 1, "text": text,
    ]
    try server.send(["method": "textDocument/didOpen", "params": ["textDocument": document]])
    // Answers once everything is indexed.
    try server.call("workspace/synchronize", ["index": true])
    try server.call("shutdown", [:])
    try server.send(["method": "exit"])
    server.process.waitUntilExit()
  }

  private init(_ package: String) throws {
    process.executableURL = URL(fileURLWithPath: Self.path ?? "")
    process.currentDirectoryURL = URL(fileURLWithPath: package)
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  private func send(_ message: [String: Any]) throws {
    let body = try JSONSerialization.data(withJSONObject: message.merging(["jsonrpc": "2.0"]) { $1 })
    try input.fileHandleForWriting.write(contentsOf: Data("Content-Length: \(body.count)\r\n\r\n".utf8) + body)
  }

  /// Sends a request and waits for its answer; what the server asks meanwhile is answered with nothing.
  private func call(_ method: String, _ parameters: [String: Any]) throws {
    try send(["id": method, "method": method, "params": parameters])
    while true {
      let message = try receive()
      if message["method"] != nil, let id = message["id"] { try send(["id": id, "result": NSNull()]) }
      if message["method"] == nil, message["id"] as? String == method { return }
    }
  }

  private func receive() throws -> [String: Any] {
    var length = 0
    while true {
      var line = ""
      while !line.hasSuffix("\r\n") { line += String(decoding: try read(1), as: UTF8.self) }
      if line == "\r\n" { break }
      if line.hasPrefix("Content-Length: ") { length = Int(line.dropFirst(16).filter(\.isNumber)) ?? 0 }
    }
    return try JSONSerialization.jsonObject(with: read(length)) as? [String: Any] ?? [:]
  }

  private func read(_ count: Int) throws -> Data {
    var data = Data()
    while data.count < count {
      guard let part = try output.fileHandleForReading.read(upToCount: count - data.count), !part.isEmpty else {
        throw Ended()
      }
      data += part
    }
    return data
  }
}
