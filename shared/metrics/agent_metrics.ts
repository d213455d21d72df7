/**
 * Metrics of an agent: its node, the pods in the market on it, and its own work.
 *
 * @module
 */
import { counter, gauge, histogram } from "./metric.ts";

const POD = ["namespace", "pod"] as const;

/** Seconds: from 0.5 ms to a quarter of a second, the time between two samples. */
const LOOP = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25] as const;

const podGauge = (name: string, help: string) => gauge(name, { help, labels: POD });
const podCounter = (name: string, help: string) => counter(name, { help, labels: POD });

/** Metrics of each pod in the market on the node; its series end with the pod. */
export const POD_METRICS = {
  usage: podGauge("mbcas_pod_usage_cores", "CPU usage of the pod over the last interval."),
  demand: podGauge("mbcas_pod_demand_cores", "CPU that the pod would use without a limit."),
  limit: podGauge(
    "mbcas_pod_limit_cores",
    "CPU limit of the pod that the agent last decided.",
  ),
  enforced: podGauge(
    "mbcas_pod_enforced_limit_cores",
    "Sum of the CPU quotas that the kernel enforces on the pod's containers.",
  ),
  floor: podGauge("mbcas_pod_floor_cores", "Floor of the pod's limit."),
  ceiling: podGauge("mbcas_pod_ceiling_cores", "Ceiling of the pod's limit."),
  original: podGauge("mbcas_pod_original_limit_cores", "Original CPU limit of the pod."),
  price: podGauge("mbcas_pod_price_per_core", "Price of CPU at the pod's last clearing."),
  credit: podGauge(
    "mbcas_pod_credit",
    "Mean credit of the pod's containers, a factor on their weights.",
  ),
  throttled: podCounter(
    "mbcas_pod_throttled_seconds_total",
    "Throttled time of the pod, summed over its threads.",
  ),
  pressure: podCounter(
    "mbcas_pod_pressure_cpu_waiting_seconds_total",
    "Time in which at least one thread of the pod waited for CPU or quota (PSI).",
  ),
  unenforced: podGauge(
    "mbcas_pod_unenforced_limits",
    "Number of containers without an enforced limit (QuotaOff); absent if there are none.",
  ),
};

/** Metrics of the node. */
export const NODE_METRICS = {
  mode: gauge("mbcas_node_mode", {
    help: "1 for the mode of the last clearing (uncongested, congested or overloaded), 0 for the " +
      "others.",
    labels: ["mode"],
  }),
  price: gauge("mbcas_node_price_per_core", {
    help: "Price of CPU: weight per core; +Inf if there is no CPU to divide.",
  }),
  scarce: gauge("mbcas_node_scarce", {
    help: "1 while the node's CPU is scarce, 0 while it is free.",
  }),
  scarceSeconds: counter("mbcas_node_scarce_seconds_total", {
    help: "Time for which the node's CPU was scarce.",
  }),
  pressure: counter("mbcas_node_pressure_cpu_waiting_seconds_total", {
    help: "Time in which at least one thread of the node waited for CPU or quota (PSI).",
  }),
  allocatable: gauge("mbcas_node_allocatable_cores", { help: "Allocatable CPU of the node." }),
  capacity: gauge("mbcas_node_capacity_cores", {
    help: "CPU that the market divides among its pods.",
  }),
  unmanaged: gauge("mbcas_node_unmanaged_cores", {
    help: "CPU that pods outside of the market hold.",
  }),
  committed: gauge("mbcas_node_committed_cores", {
    help: "Part of the market's capacity that limits hold.",
  }),
  wait: gauge("mbcas_node_wait_seconds", {
    help: "Time for which 99 of 100 requests wait at most for quota under the present limits.",
  }),
  held: gauge("mbcas_node_limits_held", {
    help: "1 while the agent moves no limit of the node, with the reason (SchedExt).",
    labels: ["reason"],
  }),
  toCeiling: counter("mbcas_limits_to_ceiling_total", {
    help: "Limits raised to their ceilings because CPU was free.",
  }),
  lowered: counter("mbcas_limits_lowered_total", { help: "Limits lowered while CPU was scarce." }),
};

/** Metrics of the agent's own work. */
export const AGENT_METRICS = {
  samples: histogram("mbcas_sample_duration_seconds", {
    help: "Duration of one sample of the cgroups.",
    buckets: LOOP,
  }),
  lateness: histogram("mbcas_sample_lateness_seconds", {
    help: "Delay of samples; above about 50 ms, the agent waits for CPU.",
    buckets: LOOP,
  }),
  clearings: histogram("mbcas_clear_duration_seconds", {
    help: "Duration of one clearing and the plan of its changes.",
    buckets: LOOP,
  }),
  writes: counter("mbcas_writes_total", {
    help: "Writes of desired limits by outcome: ok, or the HTTP status of the refusal.",
    labels: ["outcome"],
  }),
};
