/**
 * Texts in files, of which those that end in `.gz` are gzipped.
 *
 * @module
 */
import { gunzipSync, gzipSync } from "node:zlib";

/** Stored texts by file name. */
export interface StoredOutputs {
  /** The text; undefined where there is no such file. */
  read(file: string): Promise<string | undefined>;
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Bytes of all files as they are stored. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

/** The text of a file. */
export async function read(file: URL): Promise<string> {
  const bytes = await Deno.readFile(file);
  return new TextDecoder().decode(file.pathname.endsWith(".gz") ? gunzipSync(bytes) : bytes);
}

/** Files of this folder. */
export function storedOutputs(folder: URL): StoredOutputs {
  const pathOf = (file: string): URL => new URL(file, folder);
  return {
    async read(file) {
      try {
        return await read(pathOf(file));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async write(file, text) {
      const bytes = new TextEncoder().encode(text);
      await Deno.writeFile(pathOf(file), file.endsWith(".gz") ? gzipSync(bytes) : bytes);
    },
    remove: (file) => Deno.remove(pathOf(file)),
    async sizes() {
      const sizes = new Map<string, number>();
      for await (const { name } of Deno.readDir(folder)) {
        sizes.set(name, (await Deno.stat(pathOf(name))).size);
      }
      return sizes;
    },
  };
}
