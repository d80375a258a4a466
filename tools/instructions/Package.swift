// swift-tools-version: 6.2

import PackageDescription

// A client in another package, as applications are: what it costs across the module boundary is part of the figure.
let package = Package(
  name: "instructions",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Holdfast", path: "../..")],
  targets: [
    .executableTarget(
      name: "instructions",
      dependencies: [.product(name: "LMDB", package: "Holdfast"), .product(name: "Holdfast", package: "Holdfast")]),
    .executableTarget(
      name: "inline-threshold",
      dependencies: [.product(name: "LMDB", package: "Holdfast"), .product(name: "Holdfast", package: "Holdfast")]),
  ],
  swiftLanguageModes: [.v6]
)
