import Foundation

/// An HTTP server that answers each connection with given bytes, and keeps what it was sent.
public final class ScriptServer {
  private static let script = """
    import signal, socket, sys
    # Threads of the cooperative pool block signals, and hand that on.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    answers = [bytes.fromhex(word) for word in sys.argv[1:]]
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    for answer in answers:
        client, _ = server.accept()
        data = b""
        while b"\\r\\n\\r\\n" not in data:
            piece = client.recv(65536)
            if not piece:
                break
            data += piece
        head, _, body = data.partition(b"\\r\\n\\r\\n")
        length = 0
        for line in head.split(b"\\r\\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        while len(body) < length:
            piece = client.recv(65536)
            if not piece:
                break
            body += piece
        print((head + b"\\r\\n\\r\\n" + body).hex(), flush=True)
        client.sendall(answer)
        client.close()
    """

  private let process = Process()
  private let pipe = Pipe()
  public let url: String

  /// - Parameter answers: What to send to each connection in turn; an empty one closes it without a word.
  public init(_ answers: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let words = answers.map { $0.utf8.map { String(format: "%02x", $0) }.joined() }
    process.arguments = ["python3", "-c", Self.script] + words
    process.standardOutput = pipe
    try process.run()
    var line = ""
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
      line += String(decoding: byte, as: UTF8.self)
    }
    url = "http://127.0.0.1:\(line)/"
  }

  /// What the connections sent; waits until the script is through.
  public func requests() throws -> [String] {
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map { line in
      let digits = Array(line)
      let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  deinit {
    if process.isRunning { process.terminate() }
  }
}
