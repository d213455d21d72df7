/**
 * What the structure of the source is judged by: each measure counts what should not be there.
 *
 * @module
 */
import { placeOf } from "../lint/place.ts";
import { featureImports, folderGraph, folderOf, importGraph, onCycles } from "./import_graph.ts";
import { privateWords } from "./vocabulary.ts";

/** Source files of a folder at most; tests beside them not counted. */
export const MAX_FILES = 20;

const LONG_FUNCTION = /^ *\/\/ deno-lint-ignore house\/function-length$/m;

/** Counts by folder; folders with none are left out. */
export type Counts = Readonly<Record<string, number>>;

/** The measures' names, and what each counts. */
export const MEASURES = {
  folderSize: `Source files beyond ${MAX_FILES} in a folder`,
  fileCycles: "Files on an import cycle",
  folderCycles: "Folders on an import cycle",
  featureImports: "Imports of another feature",
  longFunctions: "Functions that are longer than house/function-length accepts",
  privateWords: "Private words in source and documents (tools/structure/vocabulary.ts)",
} as const;

const MEASURE_NAMES = Object.keys(MEASURES) as (keyof typeof MEASURES)[];

/** All measures. */
export type StructureCounts = { readonly [name in keyof typeof MEASURES]: Counts };

/** Measures sources and documents, text by path below the project's root. */
export function measureStructure(texts: ReadonlyMap<string, string>): StructureCounts {
  const sources = new Map(
    [...texts].filter(([path]) => path.endsWith(".ts") && !/_test\.ts$/.test(path)),
  );
  const graph = importGraph(new Map([...sources].filter(([path]) => !placeOf(path).test)));
  const files = countBy([...sources.keys()], folderOf);
  return {
    folderSize: Object.fromEntries(
      Object.entries(files).filter(([, count]) => count > MAX_FILES)
        .map(([folder, count]) => [folder, count - MAX_FILES]),
    ),
    fileCycles: countBy(onCycles(graph), folderOf),
    folderCycles: countBy(onCycles(folderGraph(graph)), (folder) => folder),
    featureImports: sumBy([...featureImports(graph)], ([path]) => folderOf(path)),
    longFunctions: sumBy(
      [...sources].map(([path, text]) => [path, text.split(LONG_FUNCTION).length - 1]),
      ([path]) => folderOf(path),
    ),
    privateWords: sumBy(
      [...texts].filter(([path]) => !path.startsWith("tools/structure/"))
        .map(([path, text]) => [path, privateWords(text).length]),
      ([path]) => folderOf(path),
    ),
  };
}

/** Folders with more than is allowed, one line each. */
export function growth(actual: StructureCounts, allowed: Partial<StructureCounts>): string[] {
  return MEASURE_NAMES.flatMap((name) =>
    Object.entries(actual[name]).flatMap(([folder, count]) => {
      const most = allowed[name]?.[folder] ?? 0;
      return count <= most
        ? []
        : [`${folder || "."}: ${MEASURES[name]}: ${count}, at most ${most}`];
    })
  );
}

/** Measures whose sum is more than is allowed, one line each. */
export function totalGrowth(actual: StructureCounts, allowed: Partial<StructureCounts>): string[] {
  return MEASURE_NAMES.flatMap((name) => {
    const [count, most] = [sumOf(actual[name]), sumOf(allowed[name] ?? {})];
    return count <= most ? [] : [`${MEASURES[name]}: ${count}, at most ${most}`];
  });
}

/** The sum of each measure, by what it counts. */
export function totals(counts: StructureCounts): Readonly<Record<string, number>> {
  return Object.fromEntries(MEASURE_NAMES.map((name) => [MEASURES[name], sumOf(counts[name])]));
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function countBy(items: readonly string[], keyOf: (item: string) => string): Counts {
  return sumBy(items.map((item) => [item, 1]), ([item]) => keyOf(item));
}

function sumBy(
  items: readonly (readonly [string, number])[],
  keyOf: (item: readonly [string, number]) => string,
): Counts {
  const sums: Record<string, number> = {};
  for (const item of items) {
    if (item[1] > 0) sums[keyOf(item)] = (sums[keyOf(item)] ?? 0) + item[1];
  }
  return Object.fromEntries(Object.entries(sums).sort(([a], [b]) => a < b ? -1 : 1));
}
