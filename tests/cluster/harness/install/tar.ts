/**
 * Tar files in the format of POSIX ustar, from entries held in memory.
 *
 * The same entries always give the same bytes: owner 0, time 0, in the order given. Format: POSIX.1
 * (IEEE 1003.1), `pax`, "ustar Interchange Format".
 *
 * @module
 */

/** What one entry is. Paths have no `/` at the start; directories come before what they hold. */
export type TarEntry =
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly content: Bytes }
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "symlink"; readonly path: string; readonly target: string };

/** Bytes that may be hashed and written. */
export type Bytes = Uint8Array<ArrayBuffer>;

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** The tar file. Throws a `RangeError` for a path that its header cannot hold. */
export function tar(entries: readonly TarEntry[]): Bytes {
  const parts: Bytes[] = [];
  for (const entry of entries) {
    parts.push(header(entry));
    if (entry.type === "file") {
      parts.push(entry.content);
      const over = entry.content.length % BLOCK;
      if (over > 0) parts.push(new Uint8Array(BLOCK - over));
    }
  }
  parts.push(new Uint8Array(2 * BLOCK));
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function header(entry: TarEntry): Bytes {
  const bytes = new Uint8Array(BLOCK);
  const encoder = new TextEncoder();
  const put = (at: number, text: string): void => bytes.set(encoder.encode(text), at);
  const octal = (at: number, value: number, digits: number): void =>
    put(at, value.toString(8).padStart(digits, "0"));
  const { prefix, name } = splitPath(entry.type === "directory" ? `${entry.path}/` : entry.path);
  put(0, name);
  octal(100, entry.type === "symlink" ? 0o777 : entry.mode, 7);
  octal(108, 0, 7);
  octal(116, 0, 7);
  octal(124, entry.type === "file" ? entry.content.length : 0, 11);
  octal(136, 0, 11);
  put(156, { file: "0", symlink: "2", directory: "5" }[entry.type]);
  if (entry.type === "symlink") put(157, checkLength(entry.target, NAME_BYTES));
  put(257, "ustar\u000000");
  put(345, prefix);
  // The sum counts its own eight bytes as spaces.
  const sum = bytes.reduce((total, byte) => total + byte, 8 * 0x20);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return bytes;
}

/** Splits at a `/` so that the name has at most 100 bytes and what is before it at most 155. */
function splitPath(path: string): { prefix: string; name: string } {
  const size = (text: string): number => new TextEncoder().encode(text).length;
  if (size(path) <= NAME_BYTES) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && size(name) <= NAME_BYTES && size(prefix) <= PREFIX_BYTES) {
      return { prefix, name };
    }
  }
  throw new RangeError(`Cannot write ${path} to a tar file: its path is too long to be split`);
}

function checkLength(text: string, most: number): string {
  if (new TextEncoder().encode(text).length > most) {
    throw new RangeError(`Cannot write a link to ${text}: it is longer than ${most} bytes`);
  }
  return text;
}
