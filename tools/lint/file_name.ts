/**
 * A file is named in snake_case after its main export; a name that fits any content is refused.
 *
 * @module
 */
import { placeOf } from "./place.ts";

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
