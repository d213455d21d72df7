/**
 * Tables of benchmarks.
 *
 * @module
 */

/** Lines with each column as wide as its widest cell; the first to the left, the rest to the right. */
export function alignedColumns(rows: readonly (readonly string[])[]): string[] {
  const width = (index: number): number => Math.max(...rows.map((row) => row[index]?.length ?? 0));
  return rows.map((row) =>
    row.map((cell, index) => index === 0 ? cell.padEnd(width(index)) : cell.padStart(width(index)))
      .join("  ").trimEnd()
  );
}
