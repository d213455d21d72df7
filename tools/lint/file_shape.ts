/**
 * Rules for the shape of a file: its name, its first comment, at most 400 lines, tests and tools
 * included, and functions that fit on a screen.
 *
 * @module
 */
import { type Place, placeOf } from "./place.ts";

/** Refuses files for which the check returns a message. */
function fileRule(
  check: (place: Place, text: string) => string | undefined,
  { hint }: { readonly hint?: string } = {},
): Deno.lint.Rule {
  return {
    create: (context) => ({
      Program() {
        const message = check(placeOf(context.filename), context.sourceCode.text);
        if (message !== undefined) {
          context.report({ range: [0, 1], message, ...(hint === undefined ? {} : { hint }) });
        }
      },
    }),
  };
}

/** Lines at most; half of it is what to aim for. */
export const MAX_LINES = 400;

/** Refuses files that are too long. */
export const fileLength: Deno.lint.Rule = fileRule((_, text) => {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > MAX_LINES ? `The file has ${lines} lines, more than ${MAX_LINES}` : undefined;
}, { hint: "Find the second idea in it and give that a file of its own" });

/** Lines of a function at most, from its first to its last. */
const MAX_FUNCTION_LINES = 80;

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** Refuses functions that are too long. */
export const functionLength: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).test) return {};
    const check = (node: FunctionNode): void => {
      const lines = context.sourceCode.getText(node).split("\n").length;
      if (lines > MAX_FUNCTION_LINES) {
        context.report({
          range: [node.range[0], node.range[0] + 1],
          message: `The function has ${lines} lines, more than ${MAX_FUNCTION_LINES}`,
          hint: "Take the second step in it out, as a function that returns a value",
        });
      }
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};

/** Refused as a whole name and as a part of a longer one. */
const VAGUE_PARTS: ReadonlySet<string> = new Set([
  "util",
  "utils",
  "helper",
  "helpers",
  "misc",
  "manager",
  "types",
  "constants",
]);

/** Refused as a whole name only: `jain_index.ts` is a fine name. */
const VAGUE_NAMES: ReadonlySet<string> = new Set(["common", "index", "mod"]);

/** Refuses file names that are vague or not in snake_case. */
export const fileName: Deno.lint.Rule = fileRule(({ path }) => {
  const base = path.split("/").at(-1) ?? "";
  const name = base.replace(/\.d\.ts$|\.[a-z]+$/, "").replace(/_(test|bench)$/, "");
  if (VAGUE_NAMES.has(name) || name.split("_").some((part) => VAGUE_PARTS.has(part))) {
    return `The file name ${base} says nothing of its content`;
  }
  return /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)
    ? undefined
    : `The file name ${base} is not in snake_case`;
});

/** Refuses source files without a module comment at the top. */
export const moduleDoc: Deno.lint.Rule = fileRule(({ test }, source) => {
  const text = source.replace(/^#!.*\n/, "").trimStart();
  const comment = text.startsWith("/**") ? text.slice(0, text.indexOf("*/")) : "";
  return test || /^\s*\*?\s*@module\b/m.test(comment)
    ? undefined
    : "The file does not begin with a doc comment that ends in @module";
});
