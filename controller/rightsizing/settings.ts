/**
 * The settings of rightsizing.
 *
 * @module
 */
import * as z from "zod";
import {
  alwaysOnKind,
  choiceKind,
  type Kind,
  kindOf,
  namespacesKind,
  numberKind,
  optionalKind,
  switchKind,
} from "../../shared/config/kinds.ts";
import { setting } from "../../shared/config/setting.ts";
import { parseDuration } from "../../shared/duration.ts";
import { USAGE_PROVIDERS } from "../../shared/api/optimization_policy.ts";
import { PROVIDER_SETTINGS } from "./sources/providers.ts";

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
    kind: numberKind({ min: 1, max: 100, whole: true }),
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
  ...PROVIDER_SETTINGS.shape,
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
