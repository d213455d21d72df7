/**
 * Messages of built-in errors read "Cannot <action>: <state with the value>", without a period.
 *
 * @module
 */
import { placeOf } from "./place.ts";

const BUILT_IN: ReadonlySet<string> = new Set([
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
]);

/** The fixed text at both ends of a message; undefined where it is not written in place. */
function ends(node: Deno.lint.Node): { start: string; end: string } | undefined {
  if (node.type === "Literal" && typeof node.value === "string") {
    return { start: node.value, end: node.value };
  }
  if (node.type === "TemplateLiteral") {
    const start = node.quasis.at(0)?.cooked ?? "";
    return { start, end: node.quasis.at(-1)?.cooked ?? "" };
  }
  if (node.type === "BinaryExpression" && node.operator === "+") {
    const [left, right] = [ends(node.left), ends(node.right)];
    return left === undefined ? undefined : { start: left.start, end: right?.end ?? "" };
  }
  return undefined;
}

/** Refuses messages of built-in errors in another form. */
export const errorMessage: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).test) return {};
    return {
      NewExpression(node) {
        if (node.callee.type !== "Identifier" || !BUILT_IN.has(node.callee.name)) return;
        const message = node.arguments[0];
        if (message === undefined) {
          context.report({ node, message: "The error has no message" });
          return;
        }
        const text = ends(message);
        if (text === undefined) return;
        if (!text.start.startsWith("Cannot ")) {
          context.report({
            node: message,
            message: 'The error message does not begin with "Cannot "',
            hint: 'Write "Cannot <action>: <state with the value>"',
          });
        }
        if (text.end.endsWith(".")) {
          context.report({ node: message, message: "The error message ends with a period" });
        }
      },
    };
  },
};
