/**
 * References in a Markdown text: files by relative links, tests by file and name, and tasks by `deno
 * task NAME`.
 *
 * @module
 */

/** Relative link targets, without their fragment; in fenced code nothing is a link. */
export function relativeLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const html = [...prose.matchAll(/<(?:img|a)\b[^>]*?\b(?:src|href)="([^"]+)"/g)];
  const reference = [...prose.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)];
  return [...inline, ...html, ...reference]
    .map((match) => match[1] ?? "")
    .filter((target) => !/^([a-z][a-z0-9+.-]*:|#)/i.test(target))
    .map((target) => target.replace(/#.*$/, ""));
}

/** Names of the tasks that the text asks the reader to run. */
export function taskNames(markdown: string): string[] {
  const runs = markdown.matchAll(/\bdeno(?:@[\d.]+)? task ([a-z][\w:-]*)/g);
  return [...new Set([...runs].map((match) => match[1] ?? ""))];
}

/** A test that the text names. */
export interface TestReference {
  /** As the link has it. */
  readonly file: string;
  readonly name: string;
}

/**
 * Tests that follow a link to their file, as in `[a_test.ts](a_test.ts): "name"; "another name"`. Lines
 * may break anywhere.
 */
export function testReferences(markdown: string): TestReference[] {
  const found = markdown.matchAll(/\]\(([^)\s]+_test\.ts)\):((?:;?\s+"[^"]+")+)/g);
  return [...found].flatMap(([, file = "", names = ""]) =>
    Array.from(names.matchAll(/"([^"]+)"/g), ([, name = ""]) => ({
      file,
      name: name.replaceAll(/\s+/g, " "),
    }))
  );
}

/** Whether the source of tests has one of this name, written whole or in parts. */
export function hasTest(source: string, name: string): boolean {
  return wholeNames(source).includes(`"${name}"`);
}

/** On what condition the test of this name is left out, as its source has it; undefined: on none. */
export function ignoredIf(source: string, name: string): string | undefined {
  const [before = "", after = ""] = wholeNames(source).split(`"${name}"`);
  if (/\bDeno\.test\.ignore\(\s*$/.test(before)) return "true";
  if (!/\bname:\s*$/.test(before)) return undefined;
  // The test's text around its name: up to its beginning, and up to its function.
  const own = before.slice(before.lastIndexOf("Deno.test(")) + after.split(/\bfn\b/, 1)[0];
  return /\bignore(?::\s*([^\n]+?))?,?\n/.exec(own)?.slice(1).map((one) => one ?? "ignore")[0];
}

/** The source with names of several parts in one. */
function wholeNames(source: string): string {
  return source.replaceAll(/"\s*\+\s*"/g, "");
}
