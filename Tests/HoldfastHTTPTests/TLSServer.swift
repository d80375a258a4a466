import Foundation

/// A server on the loopback interface that speaks TLS, with a certificate that nobody has signed but itself.
final class TLSServer {
  private static let script = """
    import os, signal, socket, ssl, sys, tempfile
    # Threads of the cooperative pool block signals, and hand that on.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(sys.argv[1])
        file.flush()
        context.load_cert_chain(file.name)
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    while True:
        client, _ = server.accept()
        try:
            with context.wrap_socket(client, server_side=True) as session:
                session.recv(65536)
                session.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
        except OSError:
            client.close()
    """

  /// Made for this test; it protects nothing.
  private static let identity = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWunV1qndwSAuEFh8
    Z40Yirqn9LateANvr7Is1E2On2mhRANCAARdoV1uS2eqWb2zJzvTQt2xC2VGYhHp
    Vb0t8k/uXYIobycjPOZ0RQ1icxbFEVQm1GZxmzUEepcqcBHlOe+5A1l/
    -----END PRIVATE KEY-----
    -----BEGIN CERTIFICATE-----
    MIIBkTCCATagAwIBAgIUamo+nrpAUNPrQfpDc8aHklGEq54wCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEzMDEwMzcwNFoYDzIxMjYxMTA2
    MTAzNzA0WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAARdoV1uS2eqWb2zJzvTQt2xC2VGYhHpVb0t8k/uXYIobycjPOZ0RQ1i
    cxbFEVQm1GZxmzUEepcqcBHlOe+5A1l/o2QwYjAdBgNVHQ4EFgQU3v6Qwjip/u7F
    OfJ0pv2SXe6fxiowHwYDVR0jBBgwFoAU3v6Qwjip/u7FOfJ0pv2SXe6fxiowDwYD
    VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
    IQCHk+iPx5dEP0fCXCMhfVb7WfZUjPT7fT6PhzxfHCC8SgIhAOffkWUTSMS9fGMQ
    Q4569DqjZ29zKlUMNIEAVEAdgnzw
    -----END CERTIFICATE-----
    """

  private let process = Process()
  let url: String

  init() throws {
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.script, Self.identity]
    process.standardOutput = pipe
    try process.run()
    var line = ""
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
      line += String(decoding: byte, as: UTF8.self)
    }
    url = "https://127.0.0.1:\(line)/"
  }

  deinit { process.terminate() }
}
