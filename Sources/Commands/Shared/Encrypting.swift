import SatchelWorkspace

/// Whether a command's bundles are encrypted.
enum Encrypting {
  static let option = OptionSpec(
    "encrypt", help: "so that nobody but its receiver (and who the dataset names) can read it")
}

extension ParsedCommand {
  var encryption: Encryption { flag(Encrypting.option.long) ? .always : .asTheDatasetSays }
}
