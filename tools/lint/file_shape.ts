/**
 * What a file looks like: its name, its first comment, at most 400 lines, tests and tools included, and
 * functions that fit on a screen.
 *
 * @module
 */
import { placeOf } from "./place.ts";

/** Lines at most; half of it is what to aim for. */
export const MAX_LINES = 400;

/** Refuses files that are too long. */
export const fileLength: Deno.lint.Rule = {
  create(context) {
    return {
      Program() {
        const lines = context.sourceCode.text.replace(/\n$/, "").split("\n").length;
        if (lines > MAX_LINES) {
          context.report({
            range: [0, 1],
            message: `The file has ${lines} lines, more than ${MAX_LINES}`,
            hint: "Find the second idea in it and give that a file of its own",
          });
        }
      },
    };
  },
};

/** Lines of a function at most, from its first to its last. */
export const MAX_FUNCTION_LINES = 80;

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
export const fileName: Deno.lint.Rule = {
  create(context) {
    return {
      Program() {
        const base = placeOf(context.filename).path.split("/").at(-1) ?? "";
        const name = base.replace(/\.d\.ts$|\.[a-z]+$/, "").replace(/_(test|bench)$/, "");
        const vague = VAGUE_NAMES.has(name) ||
          name.split("_").some((part) => VAGUE_PARTS.has(part));
        const range: Deno.lint.Range = [0, 1];
        if (vague) {
          context.report({ range, message: `The file name ${base} says nothing of its content` });
        } else if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) {
          context.report({ range, message: `The file name ${base} is not in snake_case` });
        }
      },
    };
  },
};

/** Refuses source files without a module comment at the top. */
export const moduleDoc: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).test) return {};
    return {
      Program() {
        const text = context.sourceCode.text.replace(/^#!.*\n/, "").trimStart();
        const comment = text.startsWith("/**") ? text.slice(0, text.indexOf("*/")) : "";
        if (!/^\s*\*?\s*@module\b/m.test(comment)) {
          context.report({
            range: [0, 1],
            message: "The file does not begin with a doc comment that ends in @module",
          });
        }
      },
    };
  },
};
