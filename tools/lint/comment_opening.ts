/**
 * A comment begins with a verb or a noun phrase that says what the thing is or does.
 *
 * @module
 */

/**
 * Opens a clause without a head, at the beginning of a sentence or of a tag's text. The pronouns for
 * persons are in `tools/structure/vocabulary.ts`.
 */
const HEADLESS = /(?:^|[.!?] |@\w+ )(What|Of)\b/;

/** Refuses comments with a sentence that begins with a headless clause. */
export const commentOpening: Deno.lint.Rule = {
  create: (context) => ({
    Program() {
      for (const { range, value } of context.sourceCode.getAllComments()) {
        const text = value.replaceAll(/^[ \t]*\*/gm, "").replaceAll(/\s+/g, " ").trim();
        const [, opening] = HEADLESS.exec(text) ?? [];
        if (opening === undefined) continue;
        context.report({
          range,
          message: `A sentence of the comment begins with ${opening}`,
          hint:
            "Begin with the noun, or with a verb: The containers to change, Millicores of each pod",
        });
      }
    },
  }),
};
