/**
 * Imports point one way: shared, then adapters, then the programs. The programs never import each
 * other; the simulation runs the loops of agent and controller through their ports. Features, which
 * `deno task check:structure` keeps apart, are no layers.
 *
 * @module
 */
import { importSources, type Place, placeOf, resolveImport } from "./place.ts";

const EVERYTHING_BUT_TESTS = [
  "shared",
  "adapters",
  "agent",
  "controller",
  "cli",
  "cli/terminal",
  "cli/coalloc/simulate",
  "lab/simulation",
  "lab/task",
  "lab/demo",
  "lab/arena",
  "lab/bench",
  "tools",
];

/** Layers that the lab's tasks import: they run loops of the product and print. */
const TASK = ["shared", "agent", "controller", "cli/terminal", "lab/simulation", "lab/task"];

/**
 * The layers that the files of a layer may import, beside their own. A folder in the table does not belong to
 * the layer above it. Tests may import anything.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  adapters: ["shared"],
  agent: ["shared", "adapters"],
  controller: ["shared", "adapters"],
  "lab/simulation": ["shared", "agent", "controller"],
  "lab/task": ["shared", "cli/terminal", "lab/simulation"],
  "lab/demo": TASK,
  "lab/arena": TASK,
  cli: ["shared", "adapters", "cli/terminal", "cli/coalloc/simulate"],
  "cli/terminal": [],
  "cli/coalloc/simulate": [
    ...["shared", "adapters", "cli", "cli/terminal"],
    ...["lab/simulation", "lab/arena", "lab/task"],
  ],
  "lab/bench": EVERYTHING_BUT_TESTS,
  tools: EVERYTHING_BUT_TESTS,
};

/** Packages with one door: only files below this folder import them. */
const ONE_DOOR: Readonly<Record<string, string>> = { "@kubernetes/client-node": "adapters/kube/" };

/** The layer of a file: its innermost folder in the table, else its area. */
function layerOf({ path, area }: Place): string {
  const layers = Object.keys(MAY_IMPORT).filter((layer) => path.startsWith(`${layer}/`));
  return layers.sort((a, b) => b.length - a.length)[0] ?? area;
}

/** Refuses an import against the direction of the layers. */
export const layers: Deno.lint.Rule = {
  create(context) {
    const from = placeOf(context.filename);
    const layer = layerOf(from);
    const allowed = MAY_IMPORT[layer];
    return importSources((specifier, node) => {
      for (const [name, door] of Object.entries(ONE_DOOR)) {
        const named = specifier === name || specifier.startsWith(`${name}/`);
        if (named && !from.test && !from.path.startsWith(door)) {
          context.report({ node, message: `Only ${door} imports ${name}` });
        }
      }
      if (!specifier.startsWith(".") || from.test || allowed === undefined) return;
      const to = placeOf(resolveImport(from.path, specifier));
      const target = layerOf(to);
      // Benchmarks on real parts and the release stand on the same scaffolding as the tests.
      const scaffolding = ["lab/bench", "tools"].includes(layer) && to.area === "tests" &&
        !to.path.endsWith("_test.ts");
      if (scaffolding) return;
      if (to.test) {
        context.report({ node, message: `${from.path} imports the test file ${to.path}` });
      } else if (target !== layer && !allowed.includes(target)) {
        context.report({
          node,
          message: `${layer} may not import ${target || "the root"}`,
          hint: `${layer} may import: ${[layer, ...allowed].join(", ")}`,
        });
      }
    });
  },
};
