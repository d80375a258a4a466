// swift-tools-version: 6.2

import PackageDescription

// A client in another package, as applications are: what it costs across the module boundary is part of each figure.
// The peers are Debian's packages of tools/packages-bench.

let policy: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]
let strict = policy + [.strictMemorySafety()]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Holdfast", path: "..")],
  targets: [
    // Its keys and values are spans of an array.
    .target(name: "Harness", swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
    .target(
      name: "CPeers",
      linkerSettings: ["lmdb", "sqlite3", "rocksdb", "leveldb", "kyotocabinet", "wiredtiger"].map {
        .linkedLibrary($0)
      }),
    .target(
      name: "HitRatio", dependencies: ["Harness", .product(name: "Holdfast", package: "Holdfast")],
      swiftSettings: strict),
    .target(name: "Peers", dependencies: ["CPeers", "Harness"], swiftSettings: strict),
    .executableTarget(
      name: "bench",
      dependencies: [
        "Harness", "HitRatio", "Peers", .product(name: "LMDB", package: "Holdfast"),
        .product(name: "Holdfast", package: "Holdfast"),
      ], swiftSettings: strict),
    .testTarget(name: "HarnessTests", dependencies: ["Harness", "HitRatio"], swiftSettings: policy),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
