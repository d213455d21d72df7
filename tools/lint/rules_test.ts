import assert from "node:assert/strict";
import { argumentCount } from "./argument_count.ts";
import { commentOpening } from "./comment_opening.ts";
import { errorMessage } from "./error_message.ts";
import { fileLength, fileName, functionLength, MAX_LINES, moduleDoc } from "./file_shape.ts";
import { injectedWorld, pureShared } from "./ambient.ts";
import { layers } from "./layers.ts";
import { lintSource, placeOf, resolveImport } from "./place.ts";
import {
  noBlindAssertion,
  noDefaultExport,
  noInheritance,
  noModuleState,
  noPrivateKeyword,
  noReexport,
} from "./plain_constructs.ts";
import plugin from "./plugin.ts";
import { proseInAssertions } from "./prose_in_assertions.ts";
import { returnType } from "./return_type.ts";

/** Sources that a rule accepts, and those that it refuses once, with a message like this. */
interface Cases {
  readonly rule: Deno.lint.Rule;
  /** @default {"shared/a.ts"} */
  readonly path?: string;
  readonly accepts?: readonly string[];
  readonly refuses?: readonly (readonly [source: string, message: RegExp])[];
}

const refused = (message: RegExp, ...sources: string[]): NonNullable<Cases["refuses"]> =>
  sources.map((source) => [source, message]);

/** Functions that reach the world, and objects with such members. */
const AMBIENT = [
  ...["fetch", "setTimeout", "setInterval", "queueMicrotask", "Date.now", "Math.random"],
  ...["crypto.randomUUID", "crypto.getRandomValues", "AbortSignal.timeout"],
  ...["Deno", "console", "process", "performance"],
];

const DOC = "/**\n * What it is for.\n *\n * @module\n */\nf();\n";
const LINES = (count: number): string => "f();\n".repeat(count);
const BODY = (lines: number): string => `{\n${"  f();\n".repeat(lines - 2)}}`;

const RULES: readonly Cases[] = [
  {
    rule: argumentCount,
    accepts: [
      "export function f(a: A, b: B) {}",
      "export function f(a: A, b: B, { c = 1 }: Options = {}) {}",
      "export function f(a: A, b: B, options: Options) {}",
      "export function f(a: A, b: B, options: Options = {}) {}",
      "export const f = (a: A, b: B) => 1;",
      "export class ApiError extends Error { constructor(a: A, b: B, c: C, d: D) { super(); } }",
      "function inner(a: A, b: B, c: C) {}",
    ],
    refuses: [
      ...refused(
        /^f\(\) .* 3 .* 2$/,
        "export function f(a: A, b: B, c: C) {}",
        "export function f(a: A, b: B, c: C, options: Options) {}",
        "export const f = (a: A, b: B, c: C) => 1;",
        "export const f = function (a: A, b: B, c: C) {};",
      ),
      ["export class K { g(a: A, b: B, c: C) {} }", /^g\(\) /],
      ["export class K { constructor(a: A, b: B, c: C) {} }", /^constructor\(\) /],
      ["export class KError extends Error { g(a: A, b: B, c: C) {} }", /^g\(\) /],
    ],
  },
  {
    rule: commentOpening,
    accepts: [
      "/** The pods that what is left is divided among. Often none. */\nf();",
      "// Whatever is left. Offers: what a pod gets\nf(/* what */ 1);",
      'f("// What is left", `/** Of each pod. */`);',
    ],
    refuses: refused(
      /begins with (What|Of)$/,
      "/** What is left. */\nf();",
      "/**\n * Of each pod, millicores.\n */\nf();",
      "/** Divides it. What is left is lost. */\nf();",
      "/**\n * Divides it.\n *\n * @returns What is left\n */\nf();",
      "f(); // Of each pod",
      "f(/* What waits */ 1);",
      "/** Pods by node.\n * Of each class half. */\nf();",
    ),
  },
  {
    rule: errorMessage,
    accepts: [
      'throw new RangeError("Cannot clear: capacity is NaN");',
      "throw new RangeError(`Cannot clear: capacity is ${capacity}`);",
      'throw new TypeError("Cannot clear: " + `capacity is ${capacity}`);',
      "throw new Error(message, { cause });",
      'throw new ApiError(404, "NotFound", "no such pod.");',
    ],
    refuses: [
      ['throw new Error("Bad capacity");', /begin .*"Cannot "/],
      ["throw new Error(`${name} is bad`);", /begin .*"Cannot "/],
      ['f(new TypeError("Cannot clear: no bids."));', /period/],
      ['throw new Error("Cannot clear: " + "no bids.");', /period/],
      ["throw new Error();", /no message/],
    ],
  },
  { rule: errorMessage, path: "shared/a_test.ts", accepts: ['throw new Error("boom");'] },
  ...["shared/a.ts", "shared/a_test.ts"].map((path) => ({
    rule: fileLength,
    path,
    accepts: [LINES(MAX_LINES)],
    refuses: refused(/401 lines, more than 400$/, LINES(MAX_LINES + 1)),
  })),
  ...["function f() ", "const f = () => ", "const f = { f: function () "].map((head) => ({
    rule: functionLength,
    accepts: [head + BODY(80) + (head.includes("{") ? "}" : "")],
    refuses: refused(/81 lines, more than 80$/, head + BODY(81) + (head.includes("{") ? "}" : "")),
  })),
  { rule: functionLength, path: "shared/a_test.ts", accepts: [`function f() ${BODY(81)}`] },
  ...[
    "shared/clock.ts",
    "shared/clock_test.ts",
    "shared/cgroup/v2_layout.ts",
    "lab/bench/solver_bench.ts",
  ].map((path) => ({ rule: fileName, path, accepts: ["f();"] })),
  ..."utils helpers common manager misc types constants index mod pod_utils types_test".split(" ")
    .map((name) => ({
      rule: fileName,
      path: `shared/${name}.ts`,
      refuses: refused(new RegExp(` ${name}\\.ts .*content`), "f();"),
    })),
  ...["podAllocation.ts", "pod-allocation.ts", "Pod.ts", "pod__a.ts", "_pod.ts"].map((base) => ({
    rule: fileName,
    path: `shared/${base}`,
    refuses: refused(new RegExp(` ${base} .*snake_case`), "f();"),
  })),
  {
    rule: moduleDoc,
    accepts: [DOC, `#!/usr/bin/env -S deno run\n${DOC}`],
    refuses: refused(/./, "f();\n", "/** Does f. */\nf();\n", `f();\n${DOC}`),
  },
  { rule: moduleDoc, path: "shared/a_test.ts", accepts: ["f();\n"] },
  ...["agent", "controller", "lab/simulation", "lab/arena"].map((area) => ({
    rule: injectedWorld,
    path: `${area}/a.ts`,
    refuses: ["Date.now", "Math.random", "console", "setTimeout"].map((use) =>
      [`f(${use});`, new RegExp(`^${area}/ .* ${use}$`)] as const
    ),
  })),
  ...["agent/main.ts", "agent/a_test.ts", "adapters/system_clock.ts", "cli/a.ts"].map((path) => ({
    rule: injectedWorld,
    path,
    accepts: ["f(Date.now());"],
  })),
  {
    rule: pureShared,
    accepts: [
      "client.fetch(url);",
      "const ports = { fetch: 1, console: 2 };",
      "interface Port { fetch(url: string): void; console: string }",
      "new Date(clock.wall()).toISOString();",
      "Math.floor(1.5);",
      "f();",
      "new Map();",
      'import { fetch as load } from "./load.ts";',
    ],
    refuses: [
      ...([
        ["const d = { Deno };", "Deno"],
        ["globalThis.fetch(url);", "globalThis"],
        ["new Date();", "new Date\\(\\)"],
        ["Date();", "Date\\(\\)"],
        ["const now = Date.now;", "Date.now"],
        ...AMBIENT.map((name) => [`${name}(f);`, name] as const),
      ] as const).map(([source, name]) =>
        [source, new RegExp(`^shared/ .* use ${name}$`)] as const
      ),
      ['import { join } from "node:path";', /^shared\/ .*import node:path$/],
    ],
  },
  { rule: pureShared, path: "shared/a_test.ts", accepts: ["Deno.cwd();"] },
  { rule: pureShared, path: "adapters/a.ts", accepts: ["Deno.cwd();"] },
  { rule: noDefaultExport, refuses: refused(/^No default exports$/, "export default 1;") },
  { rule: noDefaultExport, path: "tools/lint/plugin.ts", accepts: ["export default 1;"] },
  {
    rule: noReexport,
    accepts: ["const b = 1; export { b };"],
    refuses: refused(/^No re-exports$/, 'export * from "./b.ts";', 'export { b } from "./b.ts";'),
  },
  { rule: noReexport, path: "a/b_library.ts", accepts: ['export { b } from "./b.ts";'] },
  {
    rule: noPrivateKeyword,
    accepts: ["class A { #a = 1; b() {} }"],
    refuses: [
      ["class A { private a = 1; }", /^No private keyword$/],
      ["class A { protected a() {} }", /^No protected keyword$/],
    ],
  },
  {
    rule: noInheritance,
    accepts: ["class ApiError extends Error {}", "class A implements B {}"],
    refuses: refused(/^No class inheritance$/, "class A extends B {}", "class A extends B.C {}"),
  },
  {
    rule: noModuleState,
    accepts: ["const a = 1; function f() { let b = 2; }"],
    refuses: refused(/^No module-level let$/, "let a = 1;", "export let a = 1;"),
  },
  {
    rule: noBlindAssertion,
    accepts: ["f(a[i]!);"],
    refuses: refused(/^No non-null assertion$/, "f(a.b!);", "f(a!.b);"),
  },
  { rule: noBlindAssertion, path: "shared/a_test.ts", accepts: ["a!;"] },
  {
    rule: proseInAssertions,
    path: "shared/a_test.ts",
    accepts: [
      "assert.match(text, /web-1.*250m.*300m/);",
      'assert.equal(reason, "QuotaExceeded", "the pod has no limit");',
      'const input = "the pod has no limit";',
      'assert.fail("the pod has no limit");',
      'assert.throws(() => read("the pod has no limit"), RangeError);',
    ],
    refuses: refused(
      /./,
      'assert.equal(text, "the pod has no limit");',
      "assert.equal(text, `${pod} has no such limit ${cpu}`);",
      "assert.match(text, /the pod has no limit/);",
      'assert.ok(text.includes("the pod has no limit"));',
      'assertReported(a, [{ message: "the pod has no limit" }]);',
      'assert.throws(() => read("x"), { message: "Cannot read a pod without limits" });',
    ),
  },
  ...["shared/market/solver_sentences_test.ts", "shared/market/solver.ts"].map((path) => ({
    rule: proseInAssertions,
    path,
    accepts: ['assertSentences([["A", () => a, "the pod has no limit"]]);'],
  })),
  ...["tests/fixtures/assert_sentences.ts", "shared/market/sentences_test.ts"].map((path) => ({
    rule: proseInAssertions,
    path,
    refuses: refused(/./, 'assertSentences([["A", () => a, "the pod has no limit"]]);'),
  })),
  {
    rule: returnType,
    accepts: [
      "function f(): void {}",
      "export const f = (): void => {};",
      "export const f: F = (a) => a;",
      "export const rule: Rule = { create() { return {}; } };",
      "export class A { constructor() {} set b(c: number) {} d(): void {} }",
      "const inner = (a: number) => a;",
    ],
    refuses: refused(
      /./,
      "function f() {}",
      "export async function f() {}",
      "export const f = (a: number) => a;",
      "class A { b() {} }",
      "class A { get b() { return 1; } }",
    ),
  },
  ...["await import(S);", "export * from S;", "export { a } from S;", "type A = import(S).A;"].map(
    (text) => ({
      rule: layers,
      path: "agent/a.ts",
      refuses: refused(/^agent .* cli$/, text.replace("S", '"../cli/top.ts"')),
    }),
  ),
];

Deno.test("each rule accepts what it should, and refuses once, with its message", () => {
  for (const { rule, path = "shared/a.ts", accepts = [], refuses = [] } of RULES) {
    const lint = (source: string): string[] => lintSource(rule, { path, source });
    for (const source of accepts) assert.deepEqual(lint(source), [], `${path}: ${source}`);
    for (const [source, message] of refuses) {
      const messages = lint(source);
      assert.equal(messages.length, 1, `${path}: ${source}`);
      assert.match(messages.join(), message);
    }
  }
});

const CLIENT = "@kubernetes/client-node";

/** Imports by the importing file; a message where the rule `layers` refuses them. */
const IMPORTS: readonly (readonly [path: string, specifier: string, message?: RegExp])[] = [
  ["shared/market/solver.ts", "../quantity.ts"],
  ["adapters/kube/pods.ts", "../../shared/api/pod.ts"],
  ["agent/main.ts", "../adapters/system_clock.ts"],
  ["controller/main.ts", "../adapters/kube/pods.ts"],
  ["lab/simulation/cluster.ts", "../../agent/node_loop.ts"],
  ["lab/simulation/cluster.ts", "../../controller/allocation/enforcement.ts"],
  ["cli/coalloc/run_coalloc.ts", "./simulate/replay.ts"],
  ["cli/coalloc/simulate/replay.ts", "../../../lab/simulation/cluster.ts"],
  ["cli/coalloc/simulate/replay.ts", "../formats.ts"],
  ["lab/demo/chart.ts", "../../cli/terminal/chart_frame.ts"],
  ["lab/bench/solver.ts", "../../shared/market/solver.ts"],
  ["lab/bench/reaction.ts", "../../tests/cluster/scene/until.ts"],
  ["shared/log.ts", "zod"],
  ["adapters/kube/pods.ts", CLIENT],
  ["shared/log.ts", "../adapters/log.ts", /^shared .* adapters$/],
  ["adapters/log.ts", "../agent/ports.ts", /^adapters .* agent$/],
  ["agent/main.ts", "../controller/main.ts", /^agent .* controller$/],
  ["controller/main.ts", "../cli/top.ts", /^controller .* cli$/],
  ["cli/top.ts", "../agent/view.ts", /^cli .* agent$/],
  ["cli/top.ts", "../lab/simulation/cluster.ts", /^cli .* lab\/simulation$/],
  ["cli/coalloc/top.ts", "../../lab/task/task.ts", /^cli .* lab\/task$/],
  ["cli/terminal/rows.ts", "../../lab/demo/chart.ts", /^cli\/terminal .* lab\/demo$/],
  ["cli/coalloc/simulate/a.ts", "../../../lab/demo/a.ts", /^cli\/coalloc\/simulate .* lab\/demo$/],
  ["lab/demo/chart.ts", "../../cli/coalloc/output.ts", /^lab\/demo .* cli$/],
  ["agent/main.ts", "../lab/simulation/cluster.ts", /^agent .* lab\/simulation$/],
  ["lab/simulation/cluster.ts", "../../adapters/log.ts", /^lab\/simulation .* adapters$/],
  ["agent/main.ts", "../main.ts", /^agent .* root$/],
  // A test imports anything, and nothing else imports a test.
  ["shared/log_test.ts", "../lab/simulation/cluster.ts"],
  ["tests/contract/pods.ts", "../../adapters/kube/pods.ts"],
  ["tests/cluster/pods.ts", CLIENT],
  ["lab/bench/a.ts", "../../shared/solver_test.ts", /^lab\/bench\/a.ts .* shared\/solver_test.ts$/],
  ["lab/bench/a.ts", "../../tests/browser/b_test.ts", /test.* tests\/browser\/b_test.ts$/],
  ["tools/size.ts", "../tests/cluster/scene/until.ts"],
  ["tools/size.ts", "../tests/cluster/rbac_test.ts", /^tools\/size.ts .* tests\/cluster\//],
  ["controller/main.ts", CLIENT, /adapters\/kube\/ .*@kubernetes\/client-node$/],
  ["adapters/log.ts", `${CLIENT}/dist/gen`, /adapters\/kube\/ .*@kubernetes\/client-node$/],
];

Deno.test("layers refuses imports that point up, across, to a test or past adapters/kube/", () => {
  for (const [path, specifier, message] of IMPORTS) {
    const found = lintSource(layers, { path, source: `import { a } from "${specifier}";` });
    assert.equal(found.length, message === undefined ? 0 : 1, `${path} -> ${specifier}: ${found}`);
    if (message !== undefined) assert.match(found.join(), message);
  }
});

Deno.test("placeOf() distinguishes areas, tests and entries, however the file is named", () => {
  const root = new URL("../../", import.meta.url);
  const expected = { path: "shared/a.ts", area: "shared", test: false, main: false };
  for (const prefix of ["", "./", root.pathname, root.href]) {
    assert.deepEqual(placeOf(`${prefix}shared/a.ts`), expected);
  }
  const tests = ["shared/a_test.ts", "tests/contract/clock.ts", "shared/contest.ts"];
  assert.deepEqual(tests.map((path) => placeOf(path).test), [true, true, false]);
  assert.deepEqual(["agent/main.ts", "agent/domain.ts"].map((path) => placeOf(path).main), [
    true,
    false,
  ]);
  assert.equal(placeOf("main.ts").area, "");
  assert.equal(resolveImport("agent/ports.ts", "../shared/api/pod.ts"), "shared/api/pod.ts");
  assert.equal(resolveImport("agent/ports.ts", "./config.ts"), "agent/config.ts");
});

Deno.test("plugin reports a file's faults under the names of its rules", () => {
  const source = "export default function f(a, b, c) { throw new Error('boom.'); }\n";
  const ids = Deno.lint.runPlugin(plugin, "shared/utils.ts", source).map(({ id }) => id);
  const names = "error-message error-message file-name module-doc no-default-export return-type";
  assert.deepEqual(ids.toSorted(), names.split(" ").map((name) => `house/${name}`));
});
