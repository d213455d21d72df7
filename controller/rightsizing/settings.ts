/**
 * The settings of rightsizing.
 *
 * @module
 */
import * as z from "zod";
import {
  alwaysOnKind,
  choiceKind,
  durationKind,
  type Kind,
  kindOf,
  namespacesKind,
  numberKind,
  optionalKind,
  refusalOf,
  switchKind,
  valueOf,
} from "../../shared/config/kinds.ts";
import { namedTableKind } from "../../shared/config/map_kinds.ts";
import {
  type LoginFiles,
  readLoginFiles,
  serverURLKind,
} from "../../shared/config/server_kinds.ts";
import { setting } from "../../shared/config/setting.ts";
import { parseDuration } from "../../shared/duration.ts";
import { USAGE_PROVIDERS } from "../../shared/api/optimization_policy.ts";
import { MOST_SLOTS } from "../../shared/rightsizing/usage_ring.ts";

/** A user's own server, and how to log in to it. */
export interface CustomSource {
  readonly url: string;
  readonly login: LoginFiles;
}

/** Sources by the name that policies say. */
export type CustomSourceTable = ReadonlyMap<string, CustomSource>;

/** A map of names to addresses, with a login after them; without any, the map is empty. */
export const customSourceTableKind: Kind<CustomSourceTable> = namedTableKind({
  expects: "a map of names to addresses, which may be followed by tokenFile=FILE, or user=NAME " +
    "passwordFile=FILE, and caFile=FILE",
  of: "a source",
  read(text) {
    const [address = "", ...terms] = text.trim().split(/\s+/);
    const url = valueOf(serverURLKind, address);
    const login = readLoginFiles(terms.join(" "));
    if (url === undefined) {
      const reason = refusalOf(serverURLKind, address) ??
        "it does not begin with the address of a server";
      return { fault: `: ${reason}` };
    }
    return "fault" in login ? { fault: `: ${login.fault}` } : { value: { url, login } };
  },
});

/** The default of a policy's reconciliationInterval in the CustomResourceDefinition. */
const POLICY_INTERVAL = "5m";

/** Accepted for its name: OptiPod's default, and no other value. */
const policyIntervalKind: Kind<number> = kindOf(
  `${POLICY_INTERVAL}: others are said in each policy, as its reconciliationInterval`,
  (text) => {
    const ms = parseDuration(text);
    return ms === parseDuration(POLICY_INTERVAL) ? ms : undefined;
  },
);

const RIGHTSIZING_SHAPE = {
  rightsizing: setting("rightsizing.enabled", {
    kind: switchKind,
    default: "off",
    description: "Follows OptimizationPolicies; the component rightsizing of the manifests turns " +
      "it on, and brings definitions and rights",
  }),
  rightsizingDryRun: setting("rightsizing.dryRun", {
    kind: switchKind,
    default: "false",
    description: "Recommendations for all, and nothing applied, whatever the policies' modes; " +
      "controller.dryRun says the same for rightsizing and the market",
    live: true,
  }),
  rightsizingWorkers: setting("rightsizing.workers", {
    kind: numberKind({ least: 1, most: 100, whole: true }),
    default: "10",
    description: "Workloads that are reconciled at the same time",
    live: true,
  }),
  policyNamespaces: setting("rightsizing.policyNamespaces", {
    kind: namespacesKind,
    default: "",
    description: "Policies of these namespaces act on all others, too; policies elsewhere act on " +
      "their own namespace alone. Empty: that of the installation; a list in the file",
    live: true,
  }),
  annotateWorkloads: setting("rightsizing.annotateWorkloads", {
    kind: switchKind,
    default: "false",
    description: "Recommendations are written to annotations optipod.io/… of the workloads, too; " +
      "off deletes those",
    live: true,
  }),
  samplerInterval: setting("rightsizing.samplerInterval", {
    kind: durationKind({ leastMs: 5000, mostMs: 600_000 }),
    default: "30s",
    description:
      "Time between two readings of metrics-server, for policies that take usage from it",
    live: true,
  }),
  samplerSize: setting("rightsizing.samplerSize", {
    kind: numberKind({ least: 2, most: MOST_SLOTS, whole: true }),
    default: "16",
    description: "Parts of its window in which the history of a container from metrics-server is " +
      "kept. A part leaves when its first sample must: 16 cover 15/16 of the window at least; more " +
      "cover more, and take more memory",
  }),
  customSources: setting("rightsizing.customSources", {
    kind: customSourceTableKind,
    default: "",
    description: "Servers that policies with the provider custom may name. In the file only",
    onlyBy: "file",
  }),
  rightsizingProvider: setting("rightsizing.provider", {
    kind: optionalKind(choiceKind(USAGE_PROVIDERS)),
    default: "",
    description: "Where usage comes from for policies that do not say it in " +
      "metricsConfig.provider; empty: such a policy is not valid",
  }),
  rightsizingInterval: setting("rightsizing.interval", {
    kind: policyIntervalKind,
    default: POLICY_INTERVAL,
    description: "Accepted and of no effect: each policy has its own reconciliationInterval, and " +
      "the server stores 5m where none is written",
  }),
  leaderElection: setting("controller.leaderElection", {
    kind: alwaysOnKind("true: of all controllers one works, which can't be switched off"),
    default: "true",
    description: "Accepted and of no effect: of all controllers one works, always",
  }),
};

/** A part of the controller's settings. */
export const RIGHTSIZING_SETTINGS: z.ZodObject<typeof RIGHTSIZING_SHAPE> = z.object(
  RIGHTSIZING_SHAPE,
);
