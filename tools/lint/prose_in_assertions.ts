/**
 * Sentences that people read are asserted once, in a table beside the code that makes them. Its file is
 * named after them, such as `webhook_sentences_test.ts`. Other tests assert reason codes and values, so
 * that a message can be improved in two places: where it is made, and in the table.
 *
 * @module
 */
import { placeOf } from "./place.ts";

/** Four alphabetic tokens in a row, with one space between two of them. */
const PROSE = /(?:(?:a|[A-Za-z][a-z']+)[,;:]? ){3}(?:a|[A-Za-z][a-z']+)/;

const TABLE = /_sentences_test\.ts$/;

/** Index of the argument that says what a failed assertion means; it is not asserted. */
function messageArgument(callee: string): number {
  if (callee === "assert.fail") return 0;
  if (/^assert(\.ok|\.doesNotReject|\.doesNotThrow)?$/.test(callee)) return 1;
  return callee.startsWith("assert.") ? 2 : -1;
}

/** The fixed text of a string, a template or a regular expression. */
function textOf(node: Deno.lint.Literal | Deno.lint.TemplateLiteral): string {
  if (node.type === "TemplateLiteral") return node.quasis.map(({ cooked }) => cooked).join("\n");
  if (node.value instanceof RegExp) return node.value.source;
  return typeof node.value === "string" ? node.value : "";
}

/** Calls that compare a text with their argument; what other calls get is an input of the test. */
const COMPARES = /\.(?:endsWith|includes|indexOf|match|matchAll|search|startsWith)$/;

/** Whether the node is part of what a call of an `assert` function around it asserts. */
function isAsserted(node: Deno.lint.Node, sourceCode: Deno.lint.SourceCode): boolean {
  const path = [...sourceCode.getAncestors(node), node];
  for (let i = path.length - 2; i >= 0; i--) {
    const call = path[i]!;
    if (call.type !== "CallExpression") continue;
    const index = call.arguments.findIndex(({ range }) => range[0] === path[i + 1]!.range[0]);
    if (index < 0) continue;
    const callee = sourceCode.getText(call.callee);
    if (callee.startsWith("assert")) return messageArgument(callee) !== index;
    if (!COMPARES.test(callee)) return false;
  }
  return false;
}

/** Refuses assertions on sentences outside of the tables of sentences. */
export const proseInAssertions: Deno.lint.Rule = {
  create(context) {
    const { test, path } = placeOf(context.filename);
    if (!test || TABLE.test(path)) return {};
    const look = (node: Deno.lint.Literal | Deno.lint.TemplateLiteral): void => {
      if (!PROSE.test(textOf(node)) || !isAsserted(node, context.sourceCode)) return;
      context.report({
        node,
        message: "The assertion contains a sentence",
        hint:
          "Assert the reason code and values; the sentence belongs in a table, *_sentences_test.ts",
      });
    };
    return { Literal: look, TemplateLiteral: look };
  },
};
