import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// Sticks that are missing, that lose bytes, or that have other bytes than were written.
@Suite("A medium is proved")
struct MediumTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openBesideStick()
  }

  private static let bundle = "stick/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel"

  /// Makes the kernel's list of mounts contain these paths.
  /// - Parameter stick: the path at which the stick's folder seems to be mounted.
  private func mount(_ paths: String..., stick: String? = nil) throws {
    let lines = paths.enumerated().map { "\($0 + 20) 1 8:\($0) / \($1) rw - ext4 /dev/sd\($0) rw\n" }
    try camp.write("mounts", lines.joined())
    var files = TroubledFiles()
    files.instead = ["/proc/self/mountinfo": camp.path("mounts")]
    if let stick { files.instead[camp.path("stick")] = stick }
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
  }

  @Test("a stick that loses bytes gets no bundle, keeps its former one, and is not said to be safe to remove")
  func forgetful() throws {
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    let former = try camp.read(Self.bundle)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine too' WHERE id = 'r1'")
    var files = TroubledFiles()
    files.forgetful = TroubledFiles.Forgetful(camp.path("stick"))
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    let outcome = camp.device("tablet", "sync", camp.path("stick"))
    #expect(outcome.code == 1)
    #expect(outcome.error.contains("gave back other bytes than were written"), "\(outcome.error)")
    #expect(outcome.out.contains("Not everything is on the stick"), "\(outcome.out)")
    #expect(!outcome.out.contains("safe to remove"))
    #expect(try camp.read(Self.bundle) == former)
    let copied = camp.device("tablet", "export", "--to", camp.path("stick"), "--json")
    #expect(try copied.json["error"]?["reason"] == "not-as-written")
    camp.platform = .real
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine too")
  }

  @Test("a file on the stick is there only if it has the bundle's bytes")
  func otherBytes() throws {
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    let whole = try camp.read(Self.bundle)
    try Data(whole.dropLast() + [whole[whole.count - 1] ^ 1]).write(to: URL(filePath: camp.path(Self.bundle)))
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    #expect(try camp.read(Self.bundle) == whole)
    #expect(camp.device("tablet", "sync", camp.path("stick")).out.contains("It is on the stick already."))
  }

  @Test(
    "a folder in a place for sticks is refused while nothing is mounted there, and nothing is written",
    arguments: ["/media/satchel-test/none", "/run/media/satchel-test/none", "/mnt/satchel-test"])
  func notMounted(folder: String) throws {
    try mount("/", "/home")
    for words in [["sync", folder], ["export", "--to", folder]] {
      let outcome = camp.deviceAnywhere(["-C", camp.path("tablet")] + words + ["--json"])
      #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "not-mounted", "\(outcome.out)")
      // With `--plain-folder` the command passes this check. The next check finds that the folder does not exist.
      let plain = camp.deviceAnywhere(["-C", camp.path("tablet")] + words + ["--json", "--plain-folder"])
      #expect(try plain.json["error"]?["reason"] == "no-folder", "\(plain.out)")
    }
    for outcome in [
      camp.hub("emit", "--all", "--to", folder, "--json"), camp.hub("backup", "\(folder)/monday.satchel", "--json"),
      camp.hub("device", "provision", "new", "--user", "ann", "--into", "\(folder)/new", "--json"),
    ] {
      #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "not-mounted", "\(outcome.out)")
    }
    try mount("/", folder)
    #expect(try camp.device("tablet", "sync", folder, "--json").json["error"]?["reason"] == "no-folder")
  }

  @Test("only a mounted medium is said to be safe to remove")
  func safeToRemove() throws {
    #expect(camp.device("tablet", "sync", camp.path("stick")).out.hasSuffix("Done: everything is in the folder.\n"))
    // The cases are: the mounted folder itself, a folder on a mounted medium, a folder on a disk, and a missing stick.
    for (path, mounts, end) in [
      ("/media/ann/STICK", "/media/ann/STICK", "Done: the stick is safe to remove.\n"),
      ("/mnt", "/mnt", "Done: the stick is safe to remove.\n"),
      ("/mnt/archive", "/mnt", "Done: everything is in the folder.\n"),
      ("/media/ann/STICK/x", "/media/ann/STICK", "Done: everything is in the folder.\n"),
      ("/srv/data", "/srv/data", "Done: everything is in the folder.\n"), ("/media/ann/STICK", "/media", ""),
    ] {
      try mount("/", mounts, stick: path)
      let outcome = camp.device("tablet", "sync", camp.path("stick"))
      #expect(outcome.out.hasSuffix(end) && outcome.out.isEmpty == end.isEmpty, "\(path): \(outcome)")
    }
  }

  @Test("a stick that is mounted at a name that is not UTF-8 is named by watch")
  func nameThatIsNoText() throws {
    try StockTool.bash("-euc", #"mkdir -p media/$'ST\xffCK'"#, in: camp.root)
    let (start, end) = ("20 1 8:0 / \(camp.path("media/ST"))", "CK rw - vfat /dev/sda1 rw\n")
    let mounts = Array(start.utf8) + [0xff] + Array(end.utf8)
    try Data(mounts).write(to: URL(filePath: camp.path("mounts")))
    var files = TroubledFiles()
    files.instead = ["/proc/self/mountinfo": camp.path("mounts")]
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    let outcome = camp.device("tablet", "watch", "--once", camp.path("media"))
    #expect(outcome.code != 0 && outcome.error.contains("is not UTF-8, and Satchel cannot use it"), "\(outcome)")
    try StockTool.bash("-euc", "rm -r media", in: camp.root)
  }

  @Test("a machine whose lists of mounts cannot be read has plain folders")
  func unreadableLists() throws {
    var files = TroubledFiles()
    files.instead = ["/proc/self/mountinfo": camp.path("none"), "/etc/fstab": camp.path("none")]
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    #expect(camp.device("tablet", "sync", camp.path("stick")).out.hasSuffix("Done: everything is in the folder.\n"))
  }

  @Test("the administrator's list of mounts may be a link")
  func linkedList() throws {
    try mount("/")
    try camp.write("fstab-of-machine", "UUID=12-34 \(camp.path("stick")) vfat noauto 0 0\n")
    try FileManager.default.createSymbolicLink(
      atPath: camp.path("fstab"), withDestinationPath: camp.path("fstab-of-machine"))
    var files = TroubledFiles()
    files.instead = ["/proc/self/mountinfo": camp.path("mounts"), "/etc/fstab": camp.path("fstab")]
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    let outcome = camp.device("tablet", "sync", camp.path("stick"), "--json")
    #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "not-mounted", "\(outcome)")
  }

  @Test("a path is looked at where it leads: links and .. hide no missing stick")
  func resolved() throws {
    try FileManager.default.createSymbolicLink(atPath: camp.path("link"), withDestinationPath: "/media")
    let files = HostFileSystem()
    #expect(try files.resolved("\(camp.path("link"))/none/x") == "/media/none/x")
    #expect(try files.resolved("\(camp.path("stick"))/../stick/./none") == files.resolved(camp.path("stick")) + "/none")
  }

  @Test("--to puts bundles where sync looks for them if a medium is mounted, also if it was never used")
  func toNewMedium() throws {
    let stick = camp.path("stick")
    try mount("/", "/media/ann/STICK", stick: "/media/ann/STICK")
    let exported = camp.device("tablet", "export", "--to", stick, "--json")
    #expect(try exported.json["copy"]?.stringValue == camp.path(Self.bundle), "\(exported)")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    #expect(camp.hub("emit", "--all", "--to", stick).code == 0)
    let emitted = camp.path("stick/SATCHEL/camp/tablet/hub/camp-hub-tablet-2.satchel")
    #expect(FileManager.default.fileExists(atPath: emitted))
    #expect(try FileManager.default.contentsOfDirectory(atPath: stick) == ["SATCHEL"])
  }

  @Test("sync takes what --to put beside the stick's folder, and only what is for this replica")
  func besides() throws {
    let stick = camp.path("stick")
    #expect(camp.device("tablet", "export", "--to", stick).code == 0)
    let bundle = "stick/camp-tablet-hub-1.satchel"
    // North-tablet's bundle has a name that ends like the name of a bundle for the tablet.
    #expect(
      camp.hub("device", "provision", "north-tablet", "--user", "ann", "--into", camp.path("north")).code == 0)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    #expect(camp.hub("emit", "--all", "--to", stick).code == 0)
    let taken = camp.hub("sync", stick)
    #expect(taken.code == 0 && taken.out.contains("Bundle 1 of tablet: 1 change taken"), "\(taken)")
    // The file was put beside the stick's folder. It stays there, because a person may keep bundles there.
    #expect(FileManager.default.fileExists(atPath: camp.path(bundle)))
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Big lake")
  }

  @Test("volumes beside the stick's folder are taken, too")
  func volumesBeside() throws {
    let stick = camp.path("stick")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = hex(randomblob(200000)) WHERE id = 'r1'")
    #expect(camp.device("tablet", "export", "--volume-size", "64K", "--to", stick).code == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: stick).count > 1)
    #expect(camp.hub("sync", stick).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT length(words) FROM reviews WHERE id = 'r1'") == "400000")
  }

  @Test("a small bundle goes onto a nearly full stick, and a full one is named with the room that it needs")
  func room() throws {
    func sync(free: Int64) throws -> CommandLineFixture.Outcome {
      camp.platform = Platform(files: TroubledFiles(free: free), clock: SystemClock(), random: SystemRandom())
      return camp.device("tablet", "sync", camp.path("stick"))
    }
    let full = try sync(free: 60 << 10)
    #expect(full.code == 1 && full.error.contains("needs 64 KiB of them for its folders"), "\(full)")
    #expect(full.out.contains("Not everything is on the stick"))
    #expect(try sync(free: 300 << 10).code == 0)
  }

  @Test("a sync that could not make its bundle does not say that it is done")
  func notMade() throws {
    #expect(camp.hub("emit", "--all", "--to", camp.path("stick")).code == 0)
    #expect(camp.device("tablet", typing: ["secret", "secret"], "keys", "protect").code == 0)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    let outcome = camp.device("tablet", "sync", camp.path("stick"))
    #expect(outcome.code == 5 && outcome.out.contains("Not everything is on the stick"), "\(outcome)")
  }

  @Test("paths of an administrator's list are read as the system reads them")
  func planned() {
    let text = """
      # a comment
      UUID=1 / ext4 defaults 0 1
      UUID=2\t/mnt/two\\040words vfat noauto 0 0
      UUID=3 none swap sw 0 0
      UUID=4 /srv/disk/ ext4 defaults 0 2

      """
    #expect(Mount.planned(Array(text.utf8)) == ["/", "/mnt/two words", "/srv/disk"])
  }
}
