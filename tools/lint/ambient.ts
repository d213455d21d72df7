/**
 * Finds uses of the ambient world: time, chance, output and the host, reached through globals
 * instead of arguments.
 *
 * @module
 */
import { importSources, placeOf } from "./place.ts";

/** Globals that are time or chance, whatever is done with them. */
const TIME_AND_CHANCE: readonly string[] = [
  "performance",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "Date.now",
  "Date()",
  "Math.random",
  "crypto.getRandomValues",
  "crypto.randomUUID",
  "AbortSignal.timeout",
  "Temporal.Now",
];

/** Globals that reach out of the program or depend on how it is hosted. */
export const HOST: readonly string[] = [
  "Deno",
  "process",
  "console",
  "fetch",
  "WebSocket",
  "Worker",
  "queueMicrotask",
  "globalThis",
  "localStorage",
];

/** True when an identifier is a mere name: of a member, a key, or in an import. */
function isMereName(node: Deno.lint.Identifier): boolean {
  const parent: Deno.lint.Node = node.parent;
  const same = (other: Deno.lint.Node): boolean =>
    other.range[0] === node.range[0] && other.range[1] === node.range[1];
  switch (parent.type) {
    case "MemberExpression":
      return !parent.computed && same(parent.property);
    case "Property":
      return !parent.computed && !parent.shorthand && same(parent.key);
    case "MethodDefinition":
    case "PropertyDefinition":
    case "TSPropertySignature":
    case "TSMethodSignature":
      return same(parent.key);
    case "ImportSpecifier":
    case "ExportSpecifier":
      return true;
    default:
      return false;
  }
}

/** A visitor that reports each use of a global of the list, with the node to point at. */
function ambientUses(
  globals: readonly string[],
  report: (name: string, node: Deno.lint.Node) => void,
): Deno.lint.LintVisitor {
  const banned = new Set(globals);
  // A shorthand `{ fetch }` is visited twice, as key and as value, at the same place.
  let lastSeen = -1;
  return {
    Identifier(node) {
      if (!banned.has(node.name) || isMereName(node) || node.range[0] === lastSeen) return;
      lastSeen = node.range[0];
      report(node.name, node);
    },
    MemberExpression(node) {
      if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
      const name = `${node.object.name}.${node.property.name}`;
      if (banned.has(name)) report(name, node);
    },
    // `new Date(ms)` only formats a time that was passed in; without arguments it reads the clock.
    NewExpression(node) {
      const isDate = node.callee.type === "Identifier" && node.callee.name === "Date";
      if (isDate && node.arguments.length === 0 && banned.has("Date()")) report("new Date()", node);
    },
    CallExpression(node) {
      const isDate = node.callee.type === "Identifier" && node.callee.name === "Date";
      if (isDate && banned.has("Date()")) report("Date()", node);
    },
  };
}

const AREAS: readonly string[] = ["agent", "controller", "lab/simulation", "lab/demo", "lab/arena"];

/** Refuses ambient time, chance and console in code that must run in a simulated cluster. */
export const injectedWorld: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!AREAS.includes(place.area) || place.test || place.main) return {};
    return ambientUses([...TIME_AND_CHANCE, "console"], (name, node) => {
      context.report({
        node,
        message: `${place.area}/ also runs in virtual time: it may not use ${name}`,
        hint: "Take a Clock, Random or Log as an argument",
      });
    });
  },
};

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
