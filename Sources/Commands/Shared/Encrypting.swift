import SatchelWorkspace

/// The option that encrypts a command's bundles.
enum Encrypting {
  static let option = OptionSpec(
    "encrypt", help: "so that only its receiver (and keys that the dataset names) can read it")
}

extension ParsedCommand {
  var encryption: Encryption { flag(Encrypting.option.long) ? .always : .asTheDatasetSays }
}
