// swift-tools-version: 6.2
import PackageDescription

/// Rules that every target of ours obeys: a warning stops the build, and a raw C call outside the rooms that own
/// pointers is a warning.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// The rooms where pointers live: they wrap a C library and hand out values.
let wrapsC: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
]

let tests: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
]

/// The tests alone are not optimised: they run as fast, because what they call is optimised, and they build faster. All
/// cores compile their files in batches.
let notOptimised: [SwiftSetting] = [.unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"])]

func room(_ name: String, _ dependencies: [String], settings: [SwiftSetting] = strict) -> Target {
  .target(
    name: "Satchel\(name)",
    dependencies: dependencies.map {
      .init(stringLiteral: $0.hasPrefix("C") && clibraries.contains($0) ? $0 : "Satchel\($0)")
    },
    path: "Sources/\(name)",
    swiftSettings: settings)
}

let clibraries = ["CLinux", "CSQLite", "CArchive", "CSodium", "CZstd", "CIsal", "CQRCode", "CMicroHTTPD"]

func check(_ name: String, exclude: [String] = [], _ dependencies: [String]) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: dependencies.map { .init(stringLiteral: $0 == "TestSupport" ? $0 : "Satchel\($0)") },
    path: "Tests/\(name)",
    exclude: exclude,
    swiftSettings: tests + notOptimised)
}

let package = Package(
  name: "satchel",
  products: [
    .executable(name: "satchel", targets: ["satchel"]),
    .executable(name: "satchel-hub", targets: ["satchel-hub"]),
    // The device's half, for apps that bring it along: docs/EMBEDDING.md.
    .library(
      name: "SatchelDevice",
      targets: [
        "SatchelDevice", "SatchelWorkspace", "SatchelConflicts", "SatchelRows", "SatchelPlatform", "SatchelValues",
      ]
    ),
  ],
  targets: [
    .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
    .systemLibrary(
      name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CArchive", path: "Sources/CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
    .systemLibrary(name: "CZstd", path: "Sources/CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CIsal", path: "Sources/CIsal", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(
      name: "CSodium", path: "Sources/CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
      name: "CQRCode", path: "Sources/CQRCode", pkgConfig: "qrcodegen", providers: [.apt(["libqrcodegen-dev"])]),

    .systemLibrary(
      name: "CMicroHTTPD", path: "Sources/CMicroHTTPD", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"])]),

    // Each line may name only targets above it: dependencies point one way.
    room("Values", []),
    room("Platform", ["CLinux", "Values"]),
    room("Web", ["CMicroHTTPD", "Platform"], settings: wrapsC),
    room("JSON", ["Values"]),
    room("QRCode", ["CQRCode"], settings: wrapsC),
    room("Crypto", ["CSodium", "Values"], settings: wrapsC),
    room("Geometry", ["Values"]),
    room("SQLite", ["CSQLite", "Values", "Geometry"], settings: wrapsC),
    room("Dataset", ["Values", "JSON", "Crypto"]),
    room("Bundle", ["CArchive", "CZstd", "CIsal", "Values", "Platform", "JSON", "Crypto"], settings: wrapsC),
    room("Merge", ["Values", "JSON", "Dataset"]),
    room("Capture", ["Values", "SQLite", "Dataset"]),
    room("Rows", ["Values", "Platform", "JSON", "Crypto", "SQLite", "Dataset", "Bundle", "Capture"]),
    room(
      "Conflicts",
      ["Values", "Platform", "JSON", "Crypto", "Geometry", "SQLite", "Dataset", "Bundle", "Merge", "Capture", "Rows"]),
    room(
      "Workspace",
      [
        "Values", "Platform", "JSON", "Crypto", "Geometry", "SQLite", "Dataset", "Bundle", "Merge", "Capture", "Rows",
        "Conflicts",
      ]),
    room(
      "Device",
      [
        "Values", "Platform", "JSON", "Crypto", "SQLite", "Dataset", "Bundle", "Merge", "Capture", "Rows", "Conflicts",
        "Workspace",
      ]),
    room(
      "Hub",
      [
        "Values", "Platform", "JSON", "Crypto", "SQLite", "Dataset", "Bundle", "Merge", "Capture", "Rows", "Conflicts",
        "Workspace",
      ]),
    room(
      "Commands",
      [
        "Values", "Platform", "JSON", "QRCode", "Crypto", "Geometry", "SQLite", "Dataset", "Bundle", "Rows",
        "Conflicts", "Workspace", "Device", "Hub",
      ]),
    .executableTarget(
      name: "satchel", dependencies: ["SatchelCommands", "SatchelWeb"], path: "Sources/satchel", swiftSettings: strict),
    .executableTarget(
      name: "satchel-hub", dependencies: ["SatchelCommands", "SatchelWeb"], path: "Sources/satchel-hub",
      swiftSettings: strict),

    .target(
      name: "TestSupport",
      dependencies: [
        "SatchelValues", "SatchelPlatform", "SatchelCrypto", "SatchelGeometry", "SatchelSQLite", "SatchelDataset",
        "SatchelBundle", "SatchelRows", "SatchelConflicts", "SatchelWorkspace", "SatchelDevice", "SatchelHub",
      ], path: "Tests/Support", swiftSettings: tests),
    .target(
      name: "SimulatedWorld", dependencies: ["CSQLite", "SatchelValues", "SatchelPlatform", "TestSupport"],
      path: "Tests/SimulatedWorld", swiftSettings: tests),
    .target(
      name: "Simulation",
      dependencies: [
        "SatchelValues", "SatchelPlatform", "SatchelSQLite", "SatchelBundle", "SatchelRows", "SatchelConflicts",
        "SatchelWorkspace", "SatchelDevice", "SatchelHub",
        "SimulatedWorld", "TestSupport",
      ], path: "Tests/Simulation", swiftSettings: tests),
    .executableTarget(name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: tests),
    .executableTarget(
      name: "make-golden", dependencies: ["TestSupport"], path: "Tests/MakeGolden", swiftSettings: tests),
    .executableTarget(
      name: "mutate", dependencies: ["TestSupport", "SatchelPlatform"], path: "Tests/Mutate", swiftSettings: tests),
    .executableTarget(
      name: "embedding", dependencies: ["SatchelDevice", "SatchelWorkspace", "SatchelPlatform", "SatchelValues"],
      path: "examples/embedding", swiftSettings: tests),
    .target(name: "SatchelFuzz", dependencies: ["TestSupport"], path: "Tests/Fuzz", swiftSettings: tests),
    .executableTarget(
      name: "bench",
      dependencies: [
        "SatchelValues", "SatchelPlatform", "SatchelSQLite", "SatchelDataset", "SatchelBundle", "SatchelCapture",
        "SatchelHub", "TestSupport",
      ],
      path: "Tests/Bench", exclude: ["floors.c", "peers.py"], swiftSettings: tests),
    check("Platform", ["Values", "Platform", "TestSupport"]),
    check("CommandEngine", ["Platform", "Commands"]),
    check("JSON", ["JSON", "Values", "TestSupport"]),
    check("Crypto", ["Values", "Crypto", "TestSupport"]),
    check("Bundle", ["Values", "Platform", "Crypto", "Bundle", "TestSupport"]),
    check(
      "Interop", exclude: ["digests.py", "members.py", "reader.py", "validate.py"],
      ["Values", "Platform", "Crypto", "Bundle", "SQLite", "Workspace", "Device", "Hub", "TestSupport"]),
    check(
      "Attacks",
      [
        "Values", "Platform", "JSON", "Crypto", "SQLite", "Bundle", "Conflicts", "Workspace", "Device", "Hub",
        "Commands", "TestSupport",
      ]),
    check("Golden", ["Values", "Platform", "Crypto", "Dataset", "Bundle", "TestSupport"]),
    check("Commands", ["Values", "Platform", "Web", "JSON", "SQLite", "QRCode", "Commands", "TestSupport"]),
    check("Concurrency", ["Platform", "TestSupport"]),
    check("Crash", ["Platform", "Commands", "TestSupport"]),
    check("Geometry", ["Geometry", "TestSupport"]),
    check("GeoPackage", ["Values", "Platform", "JSON", "Geometry", "SQLite", "Commands", "TestSupport"]),
    check("Merge", ["Values", "Dataset", "Merge"]),
    check(
      "Hub",
      ["Values", "Platform", "SQLite", "Dataset", "Capture", "Rows", "Conflicts", "Workspace", "Hub", "TestSupport"]),
    .testTarget(
      name: "SeasonTests",
      dependencies: [
        "SatchelPlatform", "SatchelSQLite", "SatchelWorkspace", "SatchelDevice", "SatchelHub", "Simulation",
        "SimulatedWorld", "TestSupport",
      ], path: "Tests/Seasons", swiftSettings: tests),
    check("Protocol", ["Values", "Platform", "SQLite", "Workspace", "Device", "Hub", "Bundle", "TestSupport"]),
    check("Leaks", ["Values", "Platform", "SQLite", "Rows", "Workspace", "Device", "Hub", "Bundle", "TestSupport"]),
    check("Dataset", ["Values", "Crypto", "JSON", "Dataset", "TestSupport"]),
    check("SQLite", ["Values", "SQLite"]),
    check("Capture", ["Values", "SQLite", "Dataset", "Capture", "TestSupport"]),
  ]
)
