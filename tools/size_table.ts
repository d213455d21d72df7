/**
 * Prints the size of the source by area: `deno task size`, with `--json` for programs.
 *
 * @module
 */
import { placeOf } from "./lint/place.ts";
import { projectFiles } from "./project_files.ts";
import { type AreaSize, areaSize, countLines } from "./source_size.ts";

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
