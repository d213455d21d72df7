/**
 * The section of a release in the changelog, from the commits since the last one.
 *
 * @module
 */

/** A release and what came before it. */
export interface ReleaseHistory {
  /** For instance `1.2.0`. */
  readonly version: string;
  /** `2026-11-26`. */
  readonly date: string;
  /** Undefined for the first release. */
  readonly previous: string | undefined;
  /** Since the previous release, newest first. */
  readonly commits: readonly ReleaseCommit[];
}

/** A commit that is no merge. */
export interface ReleaseCommit {
  readonly subject: string;
  readonly body: string;
}

/** The footer of a commit that asks users to do something. */
const BREAKING = /^BREAKING CHANGE: (.+)$/m;

/**
 * The section as Markdown. Throws a `RangeError` where the version is not a later one by semver: with a
 * breaking change the next major version, before 1.0.0 the next minor one.
 */
export function changelogSection({ version, date, previous, commits }: ReleaseHistory): string {
  const heading = `## ${version} (${date})\n`;
  if (previous === undefined) return `${heading}\nThe first release.\n`;
  const breaking = commits.flatMap(({ body }) => BREAKING.exec(body)?.[1] ?? []);
  const [now, before] = [numbersOf(version), numbersOf(previous)];
  const changed = now.findIndex((number, place) => number !== before[place]);
  const most = breaking.length === 0 ? 2 : now[0] === 0 ? 1 : 0;
  if (changed === -1 || (now[changed] ?? 0) < (before[changed] ?? 0) || changed > most) {
    throw new RangeError(
      `Cannot release ${version}: the last release is ${previous}, with ${breaking.length} breaking ` +
        `changes since; raise the ${["major", "minor", "patch"][most]} version in deno.json`,
    );
  }
  const list = (items: readonly string[]): string => items.map((item) => `- ${item}\n`).join("");
  return [
    heading,
    ...(breaking.length === 0 ? [] : [`### Breaking changes\n`, list(breaking)]),
    "### Changes\n",
    list(commits.map(({ subject }) => subject)),
  ].join("\n");
}

function numbersOf(version: string): readonly number[] {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new RangeError(`Cannot read the version ${version}: expected MAJOR.MINOR.PATCH`);
  }
  return version.split(".").map(Number);
}
