/**
 * Calls a function for each module that a file names: static and dynamic imports, re-exports and
 * types by `import("...")`.
 *
 * @module
 */

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
