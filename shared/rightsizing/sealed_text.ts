/**
 * A text that outlives the process, with what tells later whether it can be read.
 *
 * @module
 */
import { createBitWriter } from "./bit_text.ts";

const SUM_BITS = 32;
const SUM_CHARACTERS = 6;

/** As much as a ConfigMap holds in all; nothing that was sealed here is longer. */
const MOST_CHARACTERS = 2 ** 20;

/** The version of its format, a colon, the text itself, and a check sum over all before. */
export function sealText(body: string, version: number): string {
  const text = `${version}:${body}`;
  return text + checkSum(text);
}

/**
 * What was sealed under this version. Throws a `SyntaxError` that says what is wrong with a text of
 * another version, or one that was cut or changed. `what`: names the text in it.
 */
export function unsealText(
  text: string,
  { version, what }: { readonly version: number; readonly what: string },
): string {
  const unreadable = (why: string): SyntaxError => new SyntaxError(`Cannot read ${what}: ${why}`);
  const [, found] = /^(\d{1,9}):/.exec(text) ?? [];
  if (found === undefined) throw unreadable("it does not begin with a version");
  if (found !== String(version)) {
    throw unreadable(`its version is ${found}, expected ${version}`);
  }
  if (text.length > MOST_CHARACTERS) {
    throw unreadable(`it has ${text.length} characters, expected at most ${MOST_CHARACTERS}`);
  }
  const end = text.length - SUM_CHARACTERS;
  if (text.slice(end) !== checkSum(text.slice(0, Math.max(0, end)))) {
    throw unreadable("its check sum is another, so it was cut or changed");
  }
  return text.slice(found.length + 1, end);
}

/**
 * FNV-1a over the characters (Fowler, Noll, Vo; draft-eastlake-fnv): each step is a bijection, so one
 * character that is another always shows, and anything else but once in 2^32.
 */
function checkSum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  const writer = createBitWriter();
  writer.fixed(hash >>> 0, SUM_BITS);
  return writer.text();
}
