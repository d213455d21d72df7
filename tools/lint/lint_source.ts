/**
 * Runs one rule over a piece of source, for the tests of the rules.
 *
 * @module
 */

/** The messages that a rule reports for a file of this path below the root with this source. */
export function lintSource(
  rule: Deno.lint.Rule,
  { path, source }: { path: string; source: string },
): string[] {
  const plugin: Deno.lint.Plugin = { name: "house", rules: { rule } };
  return Deno.lint.runPlugin(plugin, path, source).map((diagnostic) => diagnostic.message);
}
