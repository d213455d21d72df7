/**
 * Runs `deno doc --lint` over all modules but tests and fails on what {@linkcode isMinded} minds.
 * All modules at once, so that a type exported by another of them counts as public.
 *
 * @module
 */
import { placeOf } from "./lint/place.ts";
import { projectFiles } from "./project_files.ts";

/** A finding, as one line for the reader. */
export interface DocFinding {
  readonly code: string;
  readonly message: string;
  /** Path and line, as Deno prints them. */
  readonly place: string;
  /** The source line that is pointed at. */
  readonly line: string;
}

/** The findings in the output of `deno doc --lint` without colours. */
export function parseDocFindings(output: string): DocFinding[] {
  return output.split(/^(?=error\[)/m).flatMap((block) => {
    const head = /^error\[([\w-]+)\]: (.*)$/m.exec(block);
    const place = /^\s*--> (.*)$/m.exec(block);
    const line = /^\s*\d+ \| ?(.*)$/m.exec(block);
    if (head === null || place === null) return [];
    return [{
      code: head[1] ?? "",
      message: head[2] ?? "",
      place: place[1] ?? "",
      line: line?.[1] ?? "",
    }];
  });
}

/**
 * Whether a finding counts. Four kinds do not: members of a documented interface, since their names say
 * enough without a unit or rule to add; schemas, with an inferred type that is their purpose;
 * functions in a constant with a declared type that says what they return; and types of packages, which
 * are documented there.
 */
export function isMinded(finding: DocFinding, ownTypes: ReadonlySet<string>): boolean {
  switch (finding.code) {
    case "missing-jsdoc":
      return !/^\s/.test(finding.line);
    case "missing-explicit-type":
      return !/^export const \w+Schema\b/.test(finding.line);
    case "missing-return-type":
      return !/^export const \w+: /.test(finding.line);
    case "private-type-ref":
      return ownTypes.has(/private type '([^']+)'/.exec(finding.message)?.[1] ?? "");
    default:
      return true;
  }
}

/** Names of the types that a source text declares. */
export function declaredTypes(source: string): string[] {
  const declaration = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;
  return [...source.matchAll(declaration)].map((match) => match[1] ?? "");
}

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  const files = (await projectFiles(root, ".ts")).filter((path) => !placeOf(path).test);
  const sources = await Promise.all(files.map((path) => Deno.readTextFile(new URL(path, root))));
  const ownTypes = new Set(sources.flatMap(declaredTypes));

  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", ...files],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  const output = new TextDecoder().decode(stderr);
  const findings = parseDocFindings(output);
  const minded = findings.filter((finding) => isMinded(finding, ownTypes));
  for (const { code, message, place } of minded) console.error(`${place} ${code}: ${message}`);

  if (code !== 0 && findings.length === 0) {
    console.error(output);
    Deno.exit(1);
  }
  console.log(`${files.length} modules, ${minded.length} without the docs or types they need`);
  if (minded.length > 0) Deno.exit(1);
}
