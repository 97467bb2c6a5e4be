import SatchelBundle
import SatchelValues
import SatchelWorkspace

extension DeviceWorkspace {
  /// Cuts an export into volumes, unless it fits as it is. Returns the paths of the volumes; empty: the export fits.
  /// - Parameters:
  ///   - size: the largest size of a volume's file, in bytes.
  ///   - parity: the number of parity volumes, which come last. Any missing volume can be computed from them.
  ///   - target: the folder for the volumes; nil: the outbox.
  public func cut(
    _ report: ExportReport, size: Int64, parity: ParityShare = .none, into target: String?
  ) throws -> [String] {
    try locked {
      let session = try session()
      return try BundleVolumes(folder, reader: reader, platform: platform).cut(
        report.file, size: size, parity: parity, into: target, trust: ownKeys(), key: keys.signing()
      ) {
        try Encryption.always.recipients(session.state.hubRecipient, name: session.state.hubName, session.dataset, keys)
      }
    }
  }

  /// Puts as many volumes of an export on a medium as fit. Begins with the volumes that no medium has yet.
  /// - Parameters:
  ///   - file: the path of the export.
  ///   - parity: the number of parity volumes, which come last.
  public func putVolumes(
    of file: String, on medium: some VolumeMedium, parity: ParityShare
  ) throws -> CarriedVolumes {
    try lockedWithoutDatabase {
      try BundleVolumes(folder, reader: reader, platform: platform).put(
        file, on: medium, parity: parity, trust: ownKeys(), key: keys.signing()
      ) {
        if isDocked {
          throw WorkspaceError(
            .docked, "An encrypted export cannot be cut into volumes while its database is on the tablet.",
            hint: "Use a stick with more room.")
        }
        let session = try session()
        return try Encryption.always.recipients(
          session.state.hubRecipient, name: session.state.hubName, session.dataset, keys)
      }
    }
  }
}
