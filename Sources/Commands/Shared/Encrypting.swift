import SatchelWorkspace

/// Whether a command's bundles are encrypted.
enum Encrypting {
  static let option = OptionSpec(
    "encrypt", help: "so that only its receiver (and keys that the dataset names) can read it")
}

extension ParsedCommand {
  var encryption: Encryption { flag(Encrypting.option.long) ? .always : .asTheDatasetSays }
}
