/**
 * Which of `deno doc --lint`'s findings this project minds.
 *
 * @module
 */

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
 * enough where there is no unit or rule to add; schemas, with an inferred type that is their purpose;
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
