import SatchelValues

extension TrackedTable {
  /// The positions of the columns whose values name attachments.
  public var attachmentColumns: [Int] { rules.attachments.compactMap { schema.position(of: $0) } }

  /// The attachments that a row names.
  public func attachments(of row: Row) -> Set<AttachmentPath> {
    Set(attachmentColumns.compactMap { AttachmentPath(row.values[$0]) })
  }

  /// The attachments that a row names after this change, in the changed columns.
  public func attachments(of change: Change) -> Set<AttachmentPath> {
    switch change {
    case .insert(let row): attachments(of: row)
    case .update(let changes):
      Set(changes.filter { attachmentColumns.contains($0.column) }.compactMap { AttachmentPath($0.value) })
    case .delete: []
    }
  }

  /// The attachments that a row named before this change, in the changed columns.
  public func attachments(before change: Change) -> Set<AttachmentPath> {
    switch change {
    case .insert: []
    case .update(let changes):
      Set(changes.filter { attachmentColumns.contains($0.column) }.compactMap { AttachmentPath($0.was) })
    case .delete(let was): attachments(of: was)
    }
  }
}
