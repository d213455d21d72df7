/**
 * A function fits on a screen: at most 80 lines.
 *
 * @module
 */
import { placeOf } from "./place.ts";

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
