/**
 * The faults in the structure of the source.
 *
 * @module
 */
import { placeOf } from "../lint/place.ts";
import { featureImports, folderGraph, folderOf, importGraph, onCycles } from "./import_graph.ts";
import { privateWords } from "./vocabulary.ts";

/** Source files of a folder at most; tests beside them not counted. */
export const MAX_FILES = 20;

const LONG_FUNCTION = /^ *\/\/ deno-lint-ignore house\/function-length$/m;

/** Each fault of sources and documents, text by path below the project's root, as a line. */
export function structureFaults(texts: ReadonlyMap<string, string>): readonly string[] {
  const sources = [...texts].filter(([path]) => path.endsWith(".ts") && !/_test\.ts$/.test(path));
  const graph = importGraph(new Map(sources.filter(([path]) => !placeOf(path).test)));
  const folders = Map.groupBy(sources, ([path]) => folderOf(path));
  return [
    ...[...folders].filter(([, { length }]) => length > MAX_FILES)
      .map(([folder, { length }]) => `${folder}: ${length} source files, at most ${MAX_FILES}`),
    ...onCycles(graph).map((path) => `${path}: on an import cycle`),
    ...onCycles(folderGraph(graph)).map((folder) => `${folder}: on an import cycle of folders`),
    ...featureImports(graph).map(([from, to]) => `${from}: may not import the feature of ${to}`),
    ...sources.filter(([, text]) => LONG_FUNCTION.test(text))
      .map(([path]) => `${path}: a function is longer than house/function-length accepts`),
    ...[...texts].flatMap(([path, text]) =>
      privateWords(path, text).map(({ word, line, instead }) =>
        `${path}:${line}: private word ${word}; instead: ${instead}`
      )
    ),
  ];
}
