/**
 * Prints the size of the source by area: `deno task size`, with `--json` for programs.
 *
 * @module
 */
import { placeOf } from "./lint/place.ts";
import { projectFiles } from "./project_files.ts";

/** One file. */
export interface FileSize {
  /** First folder of its path. */
  readonly area: string;
  readonly test: boolean;
  readonly lines: number;
  /** Lines that hold nothing but a comment. */
  readonly commentLines: number;
}

/** The files of one area, or of all. Lines are counted with comments and blank ones. */
export interface AreaSize {
  readonly area: string;
  readonly files: number;
  readonly lines: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  /** Comment lines / lines, 0 to 1. */
  readonly commentShare: number;
  /** Test lines / source lines. */
  readonly testRatio: number;
}

/** Lines of a text, and how many of them hold only a comment. */
export function countLines(text: string): { lines: number; commentLines: number } {
  const rows = text.replace(/\n$/, "").split("\n");
  let inBlock = false;
  let commentLines = 0;
  for (const row of rows) {
    const line = row.trim();
    const begins = !inBlock && line.startsWith("/*");
    if (inBlock || begins || line.startsWith("//")) commentLines++;
    if (inBlock || begins) inBlock = !line.endsWith("*/");
  }
  return { lines: rows.length, commentLines };
}

/** The smallest value that at least this share of the values does not exceed; 0 of none. */
export function nearestRank(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The summary of one area's files. */
export function areaSize(area: string, files: readonly FileSize[]): AreaSize {
  const sum = (list: readonly FileSize[], field: "lines" | "commentLines"): number =>
    list.reduce((total, file) => total + file[field], 0);
  const sources = files.filter((file) => !file.test);
  const sizes = sources.map((file) => file.lines);
  const lines = sum(sources, "lines");
  return {
    area,
    files: sources.length,
    lines,
    median: nearestRank(sizes, 0.5),
    p95: nearestRank(sizes, 0.95),
    max: Math.max(0, ...sizes),
    commentShare: lines === 0 ? 0 : sum(sources, "commentLines") / lines,
    testRatio: lines === 0 ? 0 : sum(files.filter((file) => file.test), "lines") / lines,
  };
}

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  const paths = await projectFiles(root, ".ts");
  const files = await Promise.all(paths.map(async (path) => {
    const { area, test } = placeOf(path);
    return { area, test, ...countLines(await Deno.readTextFile(new URL(path, root))) };
  }));
  const areas = [...new Set(files.map((file) => file.area))].sort();
  const table: AreaSize[] = [
    ...areas.map((area) => areaSize(area, files.filter((file) => file.area === area))),
    areaSize("total", files),
    areaSize("tests", files.filter((file) => file.test).map((file) => ({ ...file, test: false }))),
  ].filter((row) => row.files > 0);

  if (Deno.args.includes("--json")) {
    console.log(JSON.stringify(table, null, 2));
  } else {
    const header = ["area", "files", "lines", "median", "p95", "max", "comments", "tests:src"];
    const rows = table.map((row) => [
      row.area,
      ...[row.files, row.lines, row.median, row.p95, row.max].map(String),
      `${Math.round(row.commentShare * 100)} %`,
      row.testRatio.toFixed(2),
    ]);
    for (const row of [header, ...rows]) {
      console.log(row.map((cell, i) => i === 0 ? cell.padEnd(12) : cell.padStart(10)).join(""));
    }
  }
}
