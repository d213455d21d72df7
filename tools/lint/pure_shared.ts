/**
 * Code in `shared/` computes; it does no I/O and knows neither time nor chance but by argument.
 *
 * @module
 */
import { ambientUses, HOST, TIME_AND_CHANCE } from "./ambient.ts";
import { importSources } from "./import_sources.ts";
import { placeOf } from "./place.ts";

/** Refuses globals of the host and `node:` modules in `shared/`. */
export const pureShared: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (place.area !== "shared" || place.test) return {};
    const hint = "Take a Clock, Random, Log or port as an argument";
    return {
      ...ambientUses([...TIME_AND_CHANCE, ...HOST], (name, node) => {
        context.report({ node, message: `shared/ is pure: it may not use ${name}`, hint });
      }),
      ...importSources((specifier, node) => {
        if (specifier.startsWith("node:")) {
          context.report({
            node,
            message: `shared/ is pure: it may not import ${specifier}`,
            hint,
          });
        }
      }),
    };
  },
};
