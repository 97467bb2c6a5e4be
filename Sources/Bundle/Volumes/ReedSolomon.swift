import CIsal

/// The Reed-Solomon code of parity volumes, over GF(2^8) with the polynomial 0x11d. Section 5 of `docs/FORMAT.md`
/// defines it.
///
/// With `count` data pieces, row `i` below `count` is row `i` of the unit matrix, for data piece `i`. Each row `r`
/// from `count` on is a parity piece. Its coefficient for data piece `i` is the inverse of `r XOR i`. So a row does
/// not depend on the number of parity pieces, and any `count` rows are independent.
struct ReedSolomon {
  /// The most data and parity pieces together, because the field has 256 elements.
  static let mostPieces = 256

  /// The number of data pieces.
  let count: Int

  /// The tables that compute parity pieces from all data pieces.
  /// - Parameter rows: the rows of the parity pieces, from `count` on and below `mostPieces`.
  func parity(_ rows: Range<Int>) -> PieceTables {
    PieceTables(matrix(upTo: rows.upperBound)[(rows.lowerBound * count)...], inputs: count)
  }

  /// The tables that compute missing data pieces from `count` present pieces.
  /// - Parameters:
  ///   - missing: the rows of the missing data pieces.
  ///   - present: the rows of the present pieces, in the order in which they will be read.
  /// - Returns: nil if `present` is not `count` different rows.
  func rebuilding(_ missing: [Int], from present: [Int]) -> PieceTables? {
    guard present.count == count, let last = present.max(), last < Self.mostPieces else { return nil }
    let all = matrix(upTo: max(last + 1, count))
    // The present pieces are the product of this matrix and the data pieces. So its inverse gives the data pieces.
    var known = present.flatMap { row in all[(row * count)..<((row + 1) * count)] }
    var inverse = [UInt8](repeating: 0, count: count * count)
    guard gf_invert_matrix(&known, &inverse, Int32(count)) == 0 else { return nil }
    let rows = missing.flatMap { row in inverse[(row * count)..<((row + 1) * count)] }
    return PieceTables(rows[...], inputs: count)
  }

  private func matrix(upTo rows: Int) -> [UInt8] {
    precondition(count >= 1 && rows >= count && rows <= Self.mostPieces, "the code has these rows")
    var matrix = [UInt8](repeating: 0, count: rows * count)
    gf_gen_cauchy1_matrix(&matrix, Int32(rows), Int32(count))
    return matrix
  }
}

/// A matrix over GF(2^8), prepared to be multiplied with many bytes.
struct PieceTables {
  /// The number of input pieces, and the number of output pieces.
  let inputs: Int
  let outputs: Int
  private var tables: [UInt8]

  /// The bytes that ISA-L needs for each coefficient.
  private static let bytesOfCoefficient = 32

  /// - Parameter rows: the coefficients of the matrix, row by row.
  fileprivate init(_ rows: ArraySlice<UInt8>, inputs: Int) {
    self.inputs = inputs
    outputs = rows.count / inputs
    tables = [UInt8](repeating: 0, count: rows.count * Self.bytesOfCoefficient)
    var coefficients = Array(rows)
    ec_init_tables(Int32(inputs), Int32(outputs), &coefficients, &tables)
  }

  /// Computes a stripe of all outputs.
  /// - Parameters:
  ///   - stripe: `bytes` bytes of each input, one input after another.
  ///   - bytes: the number of bytes of each piece in the stripe.
  ///   - result: gets `bytes` bytes of each output, one output after another.
  mutating func compute(_ stripe: inout [UInt8], bytes: Int, into result: inout [UInt8]) {
    precondition(stripe.count >= inputs * bytes && result.count >= outputs * bytes, "the buffers hold a stripe")
    let (inputs, outputs) = (inputs, outputs)
    stripe.withUnsafeMutableBufferPointer { stripe in
      result.withUnsafeMutableBufferPointer { result in
        guard let from = stripe.baseAddress, let to = result.baseAddress else { return }
        var sources: [UnsafeMutablePointer<UInt8>?] = (0..<inputs).map { from + $0 * bytes }
        var targets: [UnsafeMutablePointer<UInt8>?] = (0..<outputs).map { to + $0 * bytes }
        ec_encode_data(Int32(bytes), Int32(inputs), Int32(outputs), &tables, &sources, &targets)
      }
    }
  }
}
