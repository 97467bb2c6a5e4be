import Foundation
import TestSupport
import Testing

@Suite("Installation")
struct InstallTests {
  private static let top = PackageFolder.url.path

  private func install(into folder: TemporaryFolder) throws {
    let tools = URL(filePath: builtProgram("satchel")).deletingLastPathComponent().path
    let done = try runProgram(
      at: "/usr/bin/env", ["DESTDIR=\(folder.path)", "\(Self.top)/scripts/install.sh", tools, "/opt/satchel"],
      in: folder.path)
    #expect(done.status == 0, "\(done.complaint)")
  }

  @Test(
    "tools, manual pages, completion, units and the rule for sticks lie where they belong, and units name the tools")
  func everything() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let root = "\(folder.path)/opt/satchel"
    for tool in ["satchel", "satchel-hub"] {
      #expect(try runProgram(at: "\(root)/bin/\(tool)", ["--version"], in: root).text.hasPrefix("\(tool) "))
      for file in ["share/man/man1/\(tool).1", "share/bash-completion/completions/\(tool)"] {
        #expect(try !String(contentsOfFile: "\(root)/\(file)", encoding: .utf8).isEmpty)
      }
      for (kind, sticks) in [("user", "/media/%u"), ("system", "/run/satchel/sticks")] {
        let unit = try String(contentsOfFile: "\(root)/lib/systemd/\(kind)/\(tool)-watch@.service", encoding: .utf8)
        #expect(unit.contains("ExecStart=\"/opt/satchel/bin/\(tool)\" -C \"%f\" watch "), "\(unit)")
        #expect(unit.contains(sticks) && !unit.contains("@TOOL@"))
      }
    }
    let units = "\(root)/lib/systemd/system"
    let stick = try String(contentsOfFile: "\(units)/satchel-stick@.service", encoding: .utf8)
    #expect(stick.contains("/bin/mount -t vfat,exfat,ntfs3,ext4 -o nosymfollow,nosuid,nodev,noexec /dev/%i "))
    for tool in ["satchel", "satchel-hub"] {
      let lines = try String(contentsOfFile: "\(units)/\(tool)-watch@.service", encoding: .utf8).split(separator: "\n")
      for line in [
        "ProtectSystem=strict", "ProtectHome=read-only", #"ReadWritePaths="%f" -/run/satchel/sticks"#,
        "PrivateNetwork=yes", "NoNewPrivileges=yes", "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_CHOWN CAP_FOWNER",
        "PrivateTmp=yes", "PrivateDevices=yes", "RestrictAddressFamilies=none", "RestrictNamespaces=yes",
        "MemoryDenyWriteExecute=yes", "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
      ] {
        #expect(lines.contains { $0 == line }, "\(tool): \(line)")
      }
    }
    #expect(
      try String(contentsOfFile: "\(root)/lib/udev/rules.d/90-satchel.rules", encoding: .utf8).contains(
        "satchel-stick@%k.service"))
  }

  @Test("the icon on the desktop opens the window of the device that the person's file names, and shows a failure")
  func icon() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let root = "\(folder.path)/opt/satchel"
    let icon = try String(contentsOfFile: "\(root)/share/applications/satchel-window.desktop", encoding: .utf8)
    #expect(icon.contains("\nExec=/opt/satchel/bin/satchel-window\n") && icon.contains("\nTerminal=true\n"), "\(icon)")
    // A tool and a browser that only record how they were called.
    for name in ["bin", "home", "home/.config", "home/.config/satchel"] { _ = try folder.folder(name) }
    try folder.write(
      Array(
        """
        #!/bin/sh
        echo "satchel $*" >>"$HOME/calls"
        [ "$2" != none ] || { echo "There is no workspace" >&2; exit 1; }
        printf 'Open this:\n\n  http://127.0.0.1:8123/?token=abc\n\n'

        """.utf8), to: "bin/satchel")
    try folder.write(Array("#!/bin/sh\necho \"open $*\" >>\"$HOME/calls\"\n".utf8), to: "bin/xdg-open")
    for name in ["satchel", "xdg-open"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("bin/\(name)"))
    }
    func open() throws -> ToolResult {
      try runProgram(
        at: "/usr/bin/env",
        ["-u", "XDG_CONFIG_HOME", "PATH=\(folder("bin")):/usr/bin:/bin", "HOME=\(folder("home"))"]
          + ["/usr/bin/setsid", "--wait", "\(root)/bin/satchel-window"], in: folder.path)
    }
    #expect(try open().text.contains("Open this:"))
    try folder.write(Array("/data/my tablet".utf8), to: "home/.config/satchel/window")
    _ = try open()
    let opened = "open http://127.0.0.1:8123/?token=abc\n"
    #expect(
      try folder.text("home/calls")
        == "satchel -C \(folder("home"))/satchel window\n\(opened)satchel -C /data/my tablet window\n\(opened)")
    try folder.write(Array("none\n".utf8), to: "home/.config/satchel/window")
    let failed = try open().text
    #expect(failed.contains("There is no workspace") && failed.contains("Show these lines to the office."), "\(failed)")
  }

  @Test("sticks are mounted by a service with few rights, and only if they have one of the known file systems")
  func sticks() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let unit = try lines(of: "systemd/system/satchel-stick@.service", in: folder)
    for line in [
      "NoNewPrivileges=yes", "CapabilityBoundingSet=CAP_SYS_ADMIN CAP_DAC_OVERRIDE", "RestrictAddressFamilies=AF_UNIX",
      "RestrictNamespaces=yes", "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service @mount",
    ] {
      #expect(unit.contains(line), "\(line)")
    }
    let rules = try lines(of: "udev/rules.d/90-satchel.rules", in: folder).filter { !$0.hasPrefix("#") }
    // One rule is for USB sticks, and the other is for cards.
    #expect(rules.count == 2)
    for rule in rules {
      for part in [
        #"ENV{ID_FS_USAGE}=="filesystem""#, #"ENV{ID_FS_TYPE}=="vfat|exfat|ntfs|ntfs3|ext4""#,
        #"ENV{SYSTEMD_WANTS}+="satchel-stick@%k.service""#,
      ] {
        #expect(rule.components(separatedBy: ", ").contains(part), "\(part) in \(rule)")
      }
    }
  }

  @Test("a user's own service has no network, gets no new rights, and makes only the usual system calls")
  func userService() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    for tool in ["satchel", "satchel-hub"] {
      let unit = try lines(of: "systemd/user/\(tool)-watch@.service", in: folder)
      for line in [
        "NoNewPrivileges=yes", "RestrictAddressFamilies=none", "RestrictRealtime=yes", "LockPersonality=yes",
        "MemoryDenyWriteExecute=yes", "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
      ] {
        #expect(unit.contains(line), "\(tool): \(line)")
      }
    }
  }

  private func lines(of file: String, in folder: TemporaryFolder) throws -> [String] {
    try String(contentsOfFile: "\(folder.path)/opt/satchel/lib/\(file)", encoding: .utf8).split(separator: "\n")
      .map { String($0) }
  }

  private func check(_ folder: TemporaryFolder, path: String? = nil) throws -> ToolResult {
    try runProgram(
      at: "/usr/bin/env",
      [
        "PATH=\(path ?? "/usr/sbin:/usr/bin:/sbin:/bin")", "/bin/bash", "\(Self.top)/scripts/check-units.sh",
        folder.path,
        "/opt/satchel",
      ],
      in: folder.path)
  }

  @Test(
    """
    systemd finds nothing wrong with the units, and finds a unit with a mistake; of the rule it is said whether udev \
    was asked
    """,
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
  func units() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let done = try check(folder)
    #expect(done.status == 0, "\(done.complaint)")
    #expect(
      done.text.contains("units for system: 3 verified") && done.text.contains("units for user: 2 verified"),
      "\(done.text)")
    if FileManager.default.isExecutableFile(atPath: "/usr/bin/udevadm"), getuid() == 0 {
      #expect(
        done.text.contains("rule: ") || done.complaint.contains("The rule was not checked"),
        "\(done.text)\(done.complaint)")
    }
    for kind in ["system", "user"] {
      let path = "\(folder.path)/opt/satchel/lib/systemd/\(kind)/satchel-watch@.service"
      let unit = try String(contentsOfFile: path, encoding: .utf8)
      for mistake in [("RestartSec", "RestartSeconds"), ("/bin/satchel\"", "/bin/sachtel\"")] {
        let spoilt = unit.replacingOccurrences(of: mistake.0, with: mistake.1)
        #expect(spoilt != unit)
        try spoilt.write(toFile: path, atomically: true, encoding: .utf8)
        let refused = try check(folder)
        #expect(refused.status == 1 && refused.complaint.contains("satchel-watch@x.service"), "\(kind) \(mistake)")
      }
      try unit.write(toFile: path, atomically: true, encoding: .utf8)
    }
  }

  @Test("if systemd and udev are not installed, the report says that nothing was checked")
  func noSystemd() throws {
    let folder = try TemporaryFolder()
    try install(into: folder)
    let tools = "\(folder.path)/tools"
    try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
    for name in ["mktemp", "rm", "bash"] {
      try FileManager.default.createSymbolicLink(atPath: "\(tools)/\(name)", withDestinationPath: "/bin/\(name)")
    }
    let done = try check(folder, path: tools)
    #expect(done.status == 0, "\(done.complaint)")
    #expect(
      done.complaint.contains("The units were not checked") && done.complaint.contains("The rule was not checked"))
  }
}
