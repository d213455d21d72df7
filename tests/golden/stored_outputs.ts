/**
 * The files of `tests/golden/expected/`.
 *
 * @module
 */

/** Stored texts by file name. */
export interface StoredOutputs {
  /** The text; undefined where there is no such file. */
  read(file: string): Promise<string | undefined>;
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Names of all files. */
  names(): Promise<readonly string[]>;
  /** Bytes of all files as they are stored. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

/** Files of this folder; those that end in `.gz` are gzipped. */
export function storedOutputs(folder: URL): StoredOutputs {
  const pathOf = (file: string): URL => new URL(file, folder);
  return {
    async read(file) {
      try {
        const bytes = await Deno.readFile(pathOf(file));
        return new TextDecoder().decode(file.endsWith(".gz") ? await unzipped(bytes) : bytes);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async write(file, text) {
      const bytes = new TextEncoder().encode(text);
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeFile(pathOf(file), file.endsWith(".gz") ? await zipped(bytes) : bytes);
    },
    remove: (file) => Deno.remove(pathOf(file)),
    async names() {
      const names: string[] = [];
      for await (const { name } of Deno.readDir(folder)) names.push(name);
      return names.sort();
    },
    async sizes() {
      const sizes = new Map<string, number>();
      for await (const { name } of Deno.readDir(folder)) {
        sizes.set(name, (await Deno.stat(pathOf(name))).size);
      }
      return sizes;
    },
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Names no time and no file, so that the same text gives the same bytes. */
function zipped(bytes: Bytes): Promise<Bytes> {
  return through(bytes, new CompressionStream("gzip"));
}

function unzipped(bytes: Bytes): Promise<Bytes> {
  return through(bytes, new DecompressionStream("gzip"));
}

async function through(bytes: Bytes, stream: CompressionStream): Promise<Bytes> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}
