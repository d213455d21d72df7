/**
 * What a Markdown text refers to: files by relative links, and tasks by `deno task NAME`.
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

/** Names of the tasks that the text tells the reader to run. */
export function taskNames(markdown: string): string[] {
  const runs = markdown.matchAll(/\bdeno(?:@[\d.]+)? task ([a-z][\w:-]*)/g);
  return [...new Set([...runs].map((match) => match[1] ?? ""))];
}
