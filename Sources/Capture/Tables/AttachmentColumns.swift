import SatchelValues

extension TrackedTable {
  /// The positions of the columns that name files.
  public var attachmentColumns: [Int] { rules.attachments.compactMap { schema.position(of: $0) } }

  /// The files that a row names, each once.
  public func attachments(of row: Row) -> Set<AttachmentPath> {
    Set(attachmentColumns.compactMap { AttachmentPath(row.values[$0]) })
  }

  /// The files that a change begins to name.
  public func attachments(of change: Change) -> Set<AttachmentPath> {
    switch change {
    case .insert(let row): attachments(of: row)
    case .update(let changes):
      Set(changes.filter { attachmentColumns.contains($0.column) }.compactMap { AttachmentPath($0.value) })
    case .delete: []
    }
  }

  /// The files that a change no longer names.
  public func attachments(before change: Change) -> Set<AttachmentPath> {
    switch change {
    case .insert: []
    case .update(let changes):
      Set(changes.filter { attachmentColumns.contains($0.column) }.compactMap { AttachmentPath($0.was) })
    case .delete(let was): attachments(of: was)
    }
  }
}
