// swift-tools-version: 6.2

import PackageDescription

/// What every target is compiled with: the language modes that later Swift versions turn on, warnings as errors, and
/// the lifetime annotations that keep transactions inside their scope (clients need no flag for them).
let policy: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

/// Sources also say `unsafe` where they are. The macros of tests expand to code that this would reject.
let strict = policy + [.strictMemorySafety()]

let package = Package(
  name: "Holdfast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: ["Holdfast", "HoldfastHTTP", "LMDB"].map { Product.`library`(name: $0, targets: [$0]) } + [
    .executable(name: "kvdump", targets: ["kvdump"]),
    .executable(name: "offline-comments", targets: ["offline-comments"]),
  ],
  targets: [
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "LMDB", dependencies: ["CLMDB"], swiftSettings: strict),
    .target(name: "LMDBFile", swiftSettings: strict),
    .target(name: "Holdfast", dependencies: ["LMDB"], swiftSettings: strict),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .target(
      name: "Networking", dependencies: ["LMDB", .target(name: "CCurl", condition: .when(platforms: [.linux]))],
      swiftSettings: strict),
    .target(name: "HoldfastHTTP", dependencies: ["Holdfast", "Networking"], swiftSettings: strict),
    .executableTarget(
      name: "kvdump", dependencies: ["LMDB", "LMDBFile", "Holdfast"], path: "tools/kvdump", swiftSettings: strict),
    .executableTarget(
      name: "offline-comments", dependencies: ["Holdfast", "HoldfastHTTP"], path: "tools/offline-comments",
      exclude: ["run", "make-comments", "comments.jsonl"], swiftSettings: strict),
    .executableTarget(
      name: "crashlab", dependencies: ["Holdfast", "LMDB"], path: "tools/crashlab",
      exclude: ["run", "recorder.c", "outbox"],
      swiftSettings: strict),
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: policy),
    .testTarget(
      name: "HoldfastTests", dependencies: ["Holdfast", "LMDB", "TestSupport"], exclude: ["Outbox/Fixtures"],
      swiftSettings: policy),
    .testTarget(name: "HoldfastCacheTests", dependencies: ["Holdfast", "LMDB", "TestSupport"], swiftSettings: policy),
    .testTarget(
      name: "HoldfastHTTPTests", dependencies: ["Holdfast", "HoldfastHTTP", "LMDB", "Networking", "TestSupport"],
      swiftSettings: policy),
    .testTarget(
      name: "KVDumpTests", dependencies: ["Holdfast", "LMDB", "LMDBFile", "TestSupport", "kvdump", "offline-comments"],
      swiftSettings: policy),
    .testTarget(
      name: "LMDBFileTests", dependencies: ["LMDBFile", "LMDB", "TestSupport"], exclude: ["Fixtures"],
      swiftSettings: policy),
    .testTarget(name: "LMDBTests", dependencies: ["LMDB", "TestSupport"], swiftSettings: policy),
  ],
  swiftLanguageModes: [.v6]
)
