/**
 * Imports point one way: shared, then adapters, then the programs. The programs never import each
 * other; the simulation runs the loops of agent and controller through their ports. Features, which
 * `deno task check:structure` keeps apart, are no layers.
 *
 * @module
 */
import { importSources, placeOf, resolveImport } from "./place.ts";

const EVERYTHING_BUT_TESTS = [
  "shared",
  "adapters",
  "agent",
  "controller",
  "lab/simulation",
  "lab/arena",
  "cli",
  "lab/bench",
  "tools",
];

/** The areas that files of an area may import, beside their own. Tests may import anything. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  adapters: ["shared"],
  agent: ["shared", "adapters"],
  controller: ["shared", "adapters"],
  "lab/simulation": ["shared", "agent", "controller"],
  "lab/arena": ["shared", "agent", "controller", "lab/simulation"],
  cli: ["shared", "adapters", "lab/simulation", "lab/arena"],
  "lab/bench": EVERYTHING_BUT_TESTS,
  tools: EVERYTHING_BUT_TESTS,
};

/** Packages with one door: only files below this folder import them. */
const ONE_DOOR: Readonly<Record<string, string>> = { "@kubernetes/client-node": "adapters/kube/" };

/** Refuses an import against the direction of the layers. */
export const layers: Deno.lint.Rule = {
  create(context) {
    const from = placeOf(context.filename);
    const allowed = MAY_IMPORT[from.area];
    return importSources((specifier, node) => {
      for (const [name, door] of Object.entries(ONE_DOOR)) {
        const named = specifier === name || specifier.startsWith(`${name}/`);
        if (named && !from.test && !from.path.startsWith(door)) {
          context.report({ node, message: `Only ${door} imports ${name}` });
        }
      }
      if (!specifier.startsWith(".") || from.test || allowed === undefined) return;
      const to = placeOf(resolveImport(from.path, specifier));
      // Benchmarks on real parts and the release stand on the same scaffolding as the tests.
      const scaffolding = ["lab/bench", "tools"].includes(from.area) && to.area === "tests" &&
        !to.path.endsWith("_test.ts");
      if (scaffolding) return;
      if (to.test) {
        context.report({ node, message: `${from.path} imports the test file ${to.path}` });
      } else if (to.area !== from.area && !allowed.includes(to.area)) {
        context.report({
          node,
          message: `${from.area} may not import ${to.area || "the root"}`,
          hint: `${from.area} may import: ${[from.area, ...allowed].join(", ")}`,
        });
      }
    });
  },
};
