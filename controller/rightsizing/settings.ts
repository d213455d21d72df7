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
  `${POLICY_INTERVAL}: each policy sets its own reconciliationInterval`,
  (text) => {
    const ms = parseDuration(text);
    return ms === parseDuration(POLICY_INTERVAL) ? ms : undefined;
  },
);

const RIGHTSIZING_SHAPE = {
  rightsizing: setting("rightsizing.enabled", {
    kind: switchKind,
    default: "off",
    description:
      "Turns rightsizing by OptimizationPolicies on. The component rightsizing of the manifests " +
      "sets it, and adds the CustomResourceDefinitions and permissions",
  }),
  rightsizingDryRun: setting("rightsizing.dryRun", {
    kind: switchKind,
    default: "false",
    description: "Publishes recommendations and applies none, whatever the policies' modes. " +
      "controller.dryRun does the same for rightsizing, placement and the market",
    live: true,
  }),
  rightsizingWorkers: setting("rightsizing.workers", {
    kind: numberKind({ min: 1, max: 100, whole: true }),
    default: "10",
    description: "Number of workloads that are reconciled in parallel",
    live: true,
  }),
  policyNamespaces: setting("rightsizing.policyNamespaces", {
    kind: namespacesKind,
    default: "",
    description:
      "Namespaces with policies that act on all namespaces; a list in the file. Policies " +
      "elsewhere act on their own namespace only. Empty: the installation's namespace",
    live: true,
  }),
  annotateWorkloads: setting("rightsizing.annotateWorkloads", {
    kind: switchKind,
    default: "false",
    description:
      "on: writes recommendations to optipod.io/… annotations of the workloads, too. off: " +
      "deletes these annotations",
    live: true,
  }),
  ...PROVIDER_SETTINGS.shape,
  rightsizingProvider: setting("rightsizing.provider", {
    kind: optionalKind(choiceKind(USAGE_PROVIDERS)),
    default: "",
    description:
      "Source of usage for policies without metricsConfig.provider. Empty: such policies are " +
      "not valid",
  }),
  rightsizingInterval: setting("rightsizing.interval", {
    kind: policyIntervalKind,
    default: POLICY_INTERVAL,
    description:
      "Accepted and of no effect: each policy has its own reconciliationInterval, 5m by default",
  }),
  leaderElection: setting("controller.leaderElection", {
    kind: alwaysOnKind("true: leader election can't be switched off"),
    default: "true",
    description: "Accepted and of no effect: leader election is always on",
  }),
};

/** A part of the controller's settings. */
export const RIGHTSIZING_SETTINGS: z.ZodObject<typeof RIGHTSIZING_SHAPE> = z.object(
  RIGHTSIZING_SHAPE,
);
