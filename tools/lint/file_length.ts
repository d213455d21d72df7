/**
 * One idea a file: at most 400 lines, tests and tools included.
 *
 * @module
 */

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
