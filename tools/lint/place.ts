/**
 * Where a file stands in the project, which modules it names, and one rule run over a piece of source.
 *
 * @module
 */

const ROOT = new URL("../../", import.meta.url).pathname;

/** A file's place in the project. */
export interface Place {
  /** Path below the project's root with `/`, for instance `shared/market/solver.ts`. */
  readonly path: string;
  /** First folder, for instance `shared`, or `lab/bench`; empty for a file at the root. */
  readonly area: string;
  /** True for `*_test.ts` and everything in `tests/`. */
  readonly test: boolean;
  /** True for the program's entry, which wires the real clock, log and files to the core. */
  readonly main: boolean;
}

/** The place of a file, given absolute or below the root. */
export function placeOf(filename: string): Place {
  const plain = filename.replace(/^file:\/\//, "").replaceAll("\\", "/");
  const path = plain.startsWith(ROOT) ? plain.slice(ROOT.length) : plain.replace(/^\.?\//, "");
  const area = /^(lab\/[^/]+|[^/]+)\//.exec(path)?.[1] ?? "";
  return {
    path,
    area,
    test: area === "tests" || /_test\.[jt]sx?$/.test(path),
    main: /(^|\/)main\.ts$/.test(path),
  };
}

/** The path below the root that a relative import of `from` leads to. */
export function resolveImport(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** The messages that a rule reports for a file of this path below the root with this source. */
export function lintSource(
  rule: Deno.lint.Rule,
  { path, source }: { path: string; source: string },
): string[] {
  const plugin: Deno.lint.Plugin = { name: "house", rules: { rule } };
  return Deno.lint.runPlugin(plugin, path, source).map((diagnostic) => diagnostic.message);
}

/** A visitor that reports each literal module specifier with the node to point at. */
export function importSources(
  visit: (specifier: string, node: Deno.lint.Node) => void,
): Deno.lint.LintVisitor {
  const literal = (source: Deno.lint.Node | null): void => {
    if (source?.type === "Literal" && typeof source.value === "string") {
      visit(source.value, source);
    }
  };
  return {
    ImportDeclaration: (node) => literal(node.source),
    ExportAllDeclaration: (node) => literal(node.source),
    ExportNamedDeclaration: (node) => literal(node.source),
    ImportExpression: (node) => literal(node.source),
    TSImportType: (node) => {
      const argument = node.argument;
      literal(argument.type === "TSLiteralType" ? argument.literal : argument);
    },
  };
}
