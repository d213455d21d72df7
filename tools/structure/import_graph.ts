/**
 * The graph of imports: cycles, and imports between features.
 *
 * @module
 */
import { resolveImport } from "../lint/place.ts";

/** Imported paths by path, below the project's root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Folders of the features, which meet only outside of them. */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  market: [
    "shared/market/",
    "shared/demand/",
    "shared/pacing/",
    "shared/scarcity/",
    "controller/allocation/",
  ],
  rightsizing: ["shared/rightsizing/", "controller/rightsizing/"],
  placement: ["shared/placement/", "controller/placement/"],
};

/** Folders that all features share: they import no feature. */
const SHARED: readonly string[] = ["shared/resize/", "controller/resize/"];

/** Relative imports of these sources; types count, too. */
export function importGraph(sources: ReadonlyMap<string, string>): ImportGraph {
  return new Map(
    [...sources].map(([path, text]) => [
      path,
      [...text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
        .map(({ 1: specifier = "" }) => resolveImport(path, specifier))
        .filter((to) => sources.has(to)),
    ]),
  );
}

/** The same between folders that do not contain each other. */
export function folderGraph(graph: ImportGraph): ImportGraph {
  const folders = new Map<string, string[]>();
  for (const [path, imports] of graph) {
    const from = folderOf(path);
    const to = imports.map(folderOf).filter((folder) =>
      !`${folder}/`.startsWith(`${from}/`) && !`${from}/`.startsWith(`${folder}/`)
    );
    folders.set(from, [...new Set([...folders.get(from) ?? [], ...to])]);
  }
  return folders;
}

/** The nodes from which imports lead back to them. */
export function onCycles(graph: ImportGraph): readonly string[] {
  const leadsBack = (start: string): boolean => {
    const seen = new Set<string>();
    const open = [...graph.get(start) ?? []];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node === start) return true;
      if (seen.has(node)) continue;
      seen.add(node);
      open.push(...graph.get(node) ?? []);
    }
    return false;
  };
  return [...graph.keys()].filter(leadsBack).sort();
}

/** Imports of another feature, or by what features share: the importing file, and the imported one. */
export function featureImports(graph: ImportGraph): readonly (readonly [string, string])[] {
  return [...graph].flatMap(([path, imports]) => {
    const own = featureOf(path);
    if (own === undefined && !SHARED.some((folder) => path.startsWith(folder))) return [];
    const others = imports.filter((to) => ![own, undefined].includes(featureOf(to)));
    return others.map((to) => [path, to] as const);
  });
}

/** The folder of a path; empty at the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function featureOf(path: string): string | undefined {
  return Object.entries(FEATURES)
    .find(([, folders]) => folders.some((folder) => path.startsWith(folder)))?.[0];
}
