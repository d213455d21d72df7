/**
 * Each source file begins by saying what it is for, in a doc comment with `@module`.
 *
 * @module
 */
import { placeOf } from "./place.ts";

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
