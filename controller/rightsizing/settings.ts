/**
 * Settings of rightsizing, as the controller's table of settings has them.
 *
 * @module
 */
import { type LoginFiles, readLoginFiles } from "../../shared/config/login_files.ts";
import { namedTableKind } from "../../shared/config/named_table_kind.ts";
import { serverURLKind } from "../../shared/config/server_url_kind.ts";
import type { Setting, SettingKind } from "../../shared/config/setting.ts";
import {
  choiceKind,
  durationKind,
  numberKind,
  optionalKind,
  switchKind,
  termsKind,
} from "../../shared/config/setting_kinds.ts";
import { USAGE_PROVIDERS, type UsageProvider } from "../../shared/api/optimization_policy.ts";
import { parseDuration } from "../../shared/duration.ts";
import { MOST_SLOTS } from "../../shared/rightsizing/usage_ring.ts";

/** A user's own server, and how to log in to it. */
export interface CustomSource {
  readonly url: string;
  readonly login: LoginFiles;
}

/** Sources by the name that policies say. */
export type CustomSourceTable = ReadonlyMap<string, CustomSource>;

/** A map of names to addresses, with a login after them; without any, the map is empty. */
export const customSourceTableKind: SettingKind<CustomSourceTable> = namedTableKind({
  expects: "a map of names to addresses, which may be followed by tokenFile=FILE, or user=NAME " +
    "passwordFile=FILE, and caFile=FILE",
  of: "a source",
  read(text) {
    const [address = "", ...rest] = text.trim().split(/\s+/);
    const url = serverURLKind.parse(address) ?? undefined;
    const login = readLoginFiles(rest.join(" "));
    if (url === undefined) {
      const why = serverURLKind.explain?.(address) ??
        "it does not begin with the address of a server";
      return { fault: `: ${why}` };
    }
    return "fault" in login ? { fault: `: ${login.fault}` } : { value: { url, login } };
  },
});

/** A name of a namespace (RFC 1123, as Kubernetes has it). */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** What the schema of policies says where a policy says nothing. */
const POLICY_INTERVAL = "5m";

/** The rows, by the names that the program's code uses. */
export interface RightsizingRows {
  readonly rightsizing: Setting<boolean>;
  readonly rightsizingDryRun: Setting<boolean>;
  readonly rightsizingWorkers: Setting<number>;
  /** Empty: the installation's own namespace alone. */
  readonly policyNamespaces: Setting<readonly string[]>;
  readonly annotateWorkloads: Setting<boolean>;
  readonly samplerInterval: Setting<number>;
  readonly samplerSize: Setting<number>;
  readonly customSources: Setting<CustomSourceTable>;
  /** Null: each policy has to name its own. */
  readonly rightsizingProvider: Setting<UsageProvider | null>;
  /** Checked, and of no effect: each policy has its own. */
  readonly rightsizingInterval: Setting<number>;
  /** Checked, and of no effect: always true. */
  readonly leaderElection: Setting<boolean>;
}

/** Spread these into the controller's table. */
export const RIGHTSIZING_ROWS: RightsizingRows = {
  rightsizing: {
    key: "rightsizing.enabled",
    flag: "--rightsizing",
    env: "MBCAS_RIGHTSIZING",
    default: "off",
    description: "Follows OptimizationPolicies; the component rightsizing of the manifests turns " +
      "it on, and brings definitions and rights",
    kind: switchKind,
  },
  rightsizingDryRun: {
    key: "rightsizing.dryRun",
    flag: "--rightsizing-dry-run",
    env: "MBCAS_RIGHTSIZING_DRY_RUN",
    default: "false",
    description: "Recommendations for all, and nothing applied, whatever the policies' modes; " +
      "controller.dryRun says the same for rightsizing and the market",
    kind: switchKind,
    live: true,
  },
  rightsizingWorkers: {
    key: "rightsizing.workers",
    flag: "--rightsizing-workers",
    env: "MBCAS_RIGHTSIZING_WORKERS",
    default: "10",
    description: "Workloads that are looked at at the same time",
    kind: numberKind({ least: 1, most: 100, whole: true }),
    live: true,
  },
  policyNamespaces: {
    key: "rightsizing.policyNamespaces",
    flag: "--policy-namespaces",
    env: "MBCAS_POLICY_NAMESPACES",
    default: "",
    description: "Policies of these namespaces act on all others, too; policies elsewhere act on " +
      "their own namespace alone. Empty: that of the installation; a list in the file",
    kind: termsKind("names of namespaces, separated by commas", NAMESPACE),
    live: true,
  },
  annotateWorkloads: {
    key: "rightsizing.annotateWorkloads",
    flag: "--annotate-workloads",
    env: "MBCAS_ANNOTATE_WORKLOADS",
    default: "false",
    description: "Recommendations are written to annotations optipod.io/… of the workloads, too; " +
      "off deletes those",
    kind: switchKind,
    live: true,
  },
  samplerInterval: {
    key: "rightsizing.samplerInterval",
    flag: "--sampler-interval",
    env: "MBCAS_SAMPLER_INTERVAL",
    default: "30s",
    description:
      "Time between two readings of metrics-server, for policies that take usage from it",
    kind: durationKind({ leastMs: 5000, mostMs: 600_000 }),
    live: true,
  },
  samplerSize: {
    key: "rightsizing.samplerSize",
    flag: "--sampler-size",
    env: "MBCAS_SAMPLER_SIZE",
    default: "16",
    description: "Parts of its window in which the history of a container from metrics-server is " +
      "kept. A part leaves when its first sample must: 16 cover 15/16 of the window at least; more " +
      "cover more, and take more memory",
    kind: numberKind({ least: 2, most: MOST_SLOTS, whole: true }),
  },
  customSources: {
    key: "rightsizing.customSources",
    default: "",
    description: "Servers that policies with the provider custom may name. In the file only",
    kind: customSourceTableKind,
  },
  rightsizingProvider: {
    key: "rightsizing.provider",
    flag: "--metrics-provider",
    env: "MBCAS_METRICS_PROVIDER",
    default: "",
    description: "Where usage comes from for policies that do not say it in " +
      "metricsConfig.provider; empty: such a policy is not valid",
    kind: optionalKind(choiceKind(USAGE_PROVIDERS)),
    aliases: ["metricsProvider"],
  },
  rightsizingInterval: {
    key: "rightsizing.interval",
    flag: "--reconciliation-interval",
    env: "MBCAS_RECONCILIATION_INTERVAL",
    default: POLICY_INTERVAL,
    description: "Accepted and of no effect: each policy has its own reconciliationInterval, and " +
      "the server stores 5m where none is written",
    kind: {
      expects: `${POLICY_INTERVAL}: others are said in each policy, as its reconciliationInterval`,
      parse(text) {
        const ms = parseDuration(text);
        return ms === parseDuration(POLICY_INTERVAL) ? ms : undefined;
      },
    },
    aliases: ["reconciliationInterval"],
  },
  leaderElection: {
    key: "controller.leaderElection",
    flag: "--enable-leader-election",
    env: "MBCAS_LEADER_ELECTION",
    default: "true",
    description: "Accepted and of no effect: of all controllers one works, always",
    kind: {
      expects: "true: of all controllers one works, which can't be switched off",
      parse: (text) => switchKind.parse(text) === true ? true : undefined,
    },
    aliases: ["leaderElection", "controller.leaderElection.enabled"],
  },
};
