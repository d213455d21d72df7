import { assertTexts, messageOf } from "../tests/fixtures/assert_sentences.ts";
import { permissionFlags } from "./build/permission_flags.ts";
import { optimizationPolicyCRD } from "./crd/definitions.ts";
import { devPlan } from "./dev.ts";
import { figureFaults, figuresSchema } from "./figures/figures.ts";

function problem(found: Parameters<typeof devPlan>[0]): string {
  const plan = devPlan(found);
  return "problem" in plan ? plan.problem : "";
}

/** Distinct messages of the rules that match, of the definition of OptimizationPolicy. */
function validated(pattern: RegExp): string {
  const messages = JSON.stringify(optimizationPolicyCRD()).matchAll(/"message":"([^"]*)"/g);
  const distinct = new Set([...messages].map(([, message = ""]) => message));
  return [...distinct].filter((message) => pattern.test(message)).join("; ");
}

/** Faults of a page with a figure, a row and a text less than docs/figures.json says. */
function figureProblems(): string {
  const source = figuresSchema.parse({
    complete: { "README.md": "Figures" },
    measurements: [{
      command: "deno task bench:wait",
      commit: "0123abc",
      date: "2026-11-22",
      machine: "2 CPUs",
      scene: ["50 bursts"],
      code: ["shared/market"],
      figures: { "README.md": { wait: "1.5" } },
    }],
  });
  const page = "# Figures\n\nUp to 9 s.\n\n| | ours |\n| - | - |\n| wait | 1.4 |\n";
  return figureFaults(source, { pages: new Map([["README.md", page]]), files: [] }).join("; ");
}

Deno.test("sentences of the tools", () =>
  assertTexts(
    {
      "figures": figureProblems,
      "permissions": () => messageOf(() => permissionFlags({ all: true })),
      "missing tools": () =>
        problem({ installed: new Set(["kubectl"]), kindClusters: [], follow: true }),
      "no daemon": () =>
        problem({
          installed: new Set(["docker", "kind", "kubectl"]),
          dockerRuns: false,
          kindClusters: [],
          follow: true,
        }),
      "no Kind cluster": () =>
        problem({
          installed: new Set(["docker", "kind", "kubectl"]),
          context: "production",
          kindClusters: [],
          follow: true,
        }),
      "duration in a CRD": () => validated(/duration|00d$|10s$/),
    },
    `\
figures
  README.md does not have "1.5" (wait); No page of deno task bench:wait has "50 bursts"; deno task bench:wait depends on shared/market, which is not there; README.md has figures without origin in the row "wait"; README.md has the figure 9 s without origin: "Up to 9 s."
permissions
  Cannot turn the permission set into flags: all is true, expected one of read, write, net, env, sys, run, ffi, import with true, false or a list without commas
missing tools
  Cannot run dev: docker is missing: install Docker Engine (docs.docker.com/engine/install); kind is missing: install Kind 0.31 or newer (kind.sigs.k8s.io)
no daemon
  Cannot run dev: Docker's daemon does not answer; start it, or join the group docker if docker info says that permission is denied
no Kind cluster
  Cannot run dev: the context production is not a Kind cluster, so images can't be loaded into it; unset KUBECONFIG for a new Kind cluster, or push images and apply manifests/overlays/release
duration in a CRD
  must be a duration, for instance 90s, 1h30m or 7d; must be at most 100000d; must be at least 10s
`,
  ));
