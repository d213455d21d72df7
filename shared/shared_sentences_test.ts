import * as z from "zod";
import { DEFAULT_MARKET_CONFIG } from "../controller/config.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { sampleContainer, samplePod } from "../tests/contract/support/sample_objects.ts";
import { assertLines, messageOf } from "../tests/fixtures/assert_sentences.ts";
import {
  type ClaimFields,
  containerAt,
  cpuRanges,
  decideClaim,
  enforcedContainer,
  jvm,
  marketClaim,
  podOf,
  podWith,
  wants,
} from "../tests/fixtures/market/decide_claim.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
import { sampleHPA, sampleVPA } from "../tests/fixtures/sample_workloads.ts";
import { MANAGED, SKIP_GUARANTEED } from "./api/market_keys.ts";
import type { Texts } from "./api/object.ts";
import { NO_RESOURCES, type Pod } from "./api/pod.ts";
import { sentenceOf } from "./api/reasons/reasons.ts";
import { findLayout } from "./cgroup/layout.ts";
import {
  addressKind,
  choiceKind,
  durationKind,
  type Kind,
  kindMeta,
  listenKind,
  numberKind,
  refusalOf,
  switchKind,
} from "./config/kinds.ts";
import { effectiveSettings, type SettingSources } from "./config/load.ts";
import { labelSelectorKind, treeKind } from "./config/map_kinds.ts";
import { DRY_RUN_SETTING } from "./config/schema.ts";
import {
  labelMatchersKind,
  loginFilesKind,
  requestHeadersKind,
  serverURLKind,
} from "./config/server_kinds.ts";
import { setting, type SettingsSchema } from "./config/setting.ts";
import { createWorkQueue } from "./control/work_queue.ts";
import { parseGoDuration } from "./duration.ts";
import { formatBytes, formatCPU, parseCPU } from "./quantity.ts";
import { outOfScope, restoredMessage, type ScopeSubject } from "./resize/scope.ts";

function layoutOf(...directories: readonly string[]): string {
  const files = directories.map((directory) => [`${directory}/cpu.stat`, ""] as const);
  return findLayout(createMemoryTree(Object.fromEntries(files))).description;
}

pure("sentences of quantities, queues and layouts", () =>
  assertLines(
    {
      "known reason": () => sentenceOf("OptedOut"),
      "unknown reason": () => sentenceOf("NoSuchReason"),
      "negative quantity": () => messageOf(() => parseCPU("-1")),
      "fraction of a millicore": () => messageOf(() => formatCPU(0.5)),
      "fraction of a byte": () => messageOf(() => formatBytes(0.5)),
      "duration": () => messageOf(() => parseGoDuration("1w")),
      "work not taken": () =>
        messageOf(() => createWorkQueue(createVirtualClock({ wallStart: 0 })).done("a")),
      "cgroup v1": () => layoutOf("cpu/kubepods", "cpuacct/kubepods"),
      "cgroup v2": () => layoutOf("kubepods.slice"),
      "no layout": () => messageOf(() => layoutOf("cpu/docker/x", "cpuacct/docker/x")),
    },
    `\
known reason: the pod or its namespace opted out
unknown reason: a reason that this version does not know
negative quantity: Cannot parse CPU quantity: "-1" is negative, expected at least 0
fraction of a millicore: Cannot format CPU quantity: 0.5 is not a whole number of millicores
fraction of a byte: Cannot format memory quantity: 0.5 is not a whole number of bytes
duration: Cannot parse duration: "1w" is not a sum of numbers with a unit (ns, us, ms, s, m, h, d), for instance 90s, 1h30m or 7d
work not taken: Cannot end the work on "a": it was not handed out
cgroup v1: cgroup v1, cpu and cpuacct apart, cgroupfs driver, pods under kubepods
cgroup v2: cgroup v2, systemd driver, pods under kubepods.slice
no layout: Cannot find the cgroups of pods: no directory is named kubepods, kubepods.slice or *-kubepods.slice. Tried cgroup v1, cpu and cpuacct joined (not mounted); cgroup v1, cpuacct and cpu joined (not mounted); cgroup v1, cpu and cpuacct apart (no pods' root, directories searched: 3); cgroup v2 (no pods' root, directories searched: 1); cgroup v2 under unified (not mounted). Is the cgroup root the host's /sys/fs/cgroup, and does a kubelet run here?
`,
  ));

const RULES = { default: "", description: "" };
const SCHEMA = z.object({
  listen: setting("controller.listen", { ...RULES, kind: numberKind({ max: 100 }), default: "80" }),
  headers: setting("controller.headers", { ...RULES, kind: requestHeadersKind }),
  dryRun: DRY_RUN_SETTING,
});

function faults(sources: SettingSources, schema: SettingsSchema = SCHEMA): string {
  const read = effectiveSettings(schema, sources);
  return "faults" in read ? read.faults.join("\n") : "";
}

/** Faults of a file with this text, and with keys beside it. */
const inFile = (text: string, schema?: SettingsSchema) => () =>
  faults({ file: { path: "config.yaml", text } }, schema);

const beside = (key: string, text: string) => () => {
  const keys = { beside: "config.yaml", place: "/etc/", texts: new Map([[key, "on"]]) };
  return faults({ file: { path: "config.yaml", text, keys } });
};

const typed = (...flags: readonly (readonly [string, string])[]) => () =>
  faults({ flags: new Map(flags) });

const exported = (name: string, value: string) => () => faults({ env: { [name]: value } });

pureYAML("sentences of sources of settings", () =>
  assertLines(
    {
      "value": exported("MBCAS_CONTROLLER_LISTEN", "all"),
      "no value": typed(["--listen", ""]),
      "two names": typed(["--listen", "1"], ["--metrics-addr", "2"]),
      "variable": exported("MBCAS_CONTROLLER_LISTN", "80"),
      "variable of Spotalis": exported("SPOTALIS_HEALTH_ENABLED", "true"),
      "key": inFile("controller: {listn: 80}"),
      "key beside the file": beside("dryRan", ""),
      "key and file": beside("dryRun", "dryRun: off"),
      "YAML": () => inFile("a: *b")().replace(/: Unresolved.*/, ""),
      "sections": inFile("[1]"),
      "section": inFile("controller: 1"),
      "one value": inFile("dryRun: {a: 1}"),
      "map": inFile("controller: {headers: x}"),
      "text": inFile("controller: {headers: {x: 3}}"),
      "leaderElection": inFile(
        "controller: {leaderElection: {enabled: false}}",
        CONTROLLER_SETTINGS,
      ),
      "metrics": inFile("metrics: {enabled: false}", CONTROLLER_SETTINGS),
    },
    `\
value: env MBCAS_CONTROLLER_LISTEN is "all", expected a number from 0 to 100
no value: flag --listen is not set, expected a number from 0 to 100
two names: flag --listen is "1" and flag --metrics-addr is "2", but both are names of controller.listen: keep one of them
variable: env MBCAS_CONTROLLER_LISTN is not a setting; did you mean MBCAS_CONTROLLER_LISTEN?
variable of Spotalis: env SPOTALIS_HEALTH_ENABLED is not a setting; unset it
key: config.yaml: controller.listn is not a setting; did you mean controller.listen?
key beside the file: /etc/dryRan is not a setting; did you mean dryRun? known are config.yaml, dryRun, metricsProvider, prometheusURL, leaderElection, reconciliationInterval
key and file: config.yaml: dryRun is "off" and /etc/dryRun is "on", but both are names of controller.dryRun: keep one of them
YAML: config.yaml: is not YAML
sections: config.yaml: is not a map of sections (controller, metrics, dryRun)
section: config.yaml: controller is 1, expected a map of settings
one value: config.yaml: dryRun is {"a":1}, expected one value or a list
map: config.yaml: controller.headers is "x", expected a map of names to texts
text: config.yaml: controller.headers.x is 3, expected a text
leaderElection: config.yaml: controller.leaderElection.enabled is "false", expected true: leader election can't be switched off
metrics: config.yaml: metrics.enabled is "false", expected true: metrics can't be switched off
`,
  ));

const expects = (kind: Kind<unknown>) => () => kindMeta(kind).expects;
const refusal = (kind: Kind<unknown>, text: string) => () => refusalOf(kind, text) ?? "";
const login = (text: string) => refusal(loginFilesKind, text);
const header = (name: string, text: string) =>
  refusal(requestHeadersKind, JSON.stringify({ [name]: text }));
const tree = treeKind({
  expects: "a size",
  schema: () => z.strictObject({ size: z.int() }),
  shortForm: () => undefined,
});

pure("sentences of kinds of settings", () =>
  assertLines(
    {
      "choice": expects(choiceKind(["a", "b"])),
      "switch": expects(switchKind),
      "whole number": expects(numberKind({ min: 1, max: 10, whole: true })),
      "duration": expects(durationKind({ minMs: 10, maxMs: 60_000 })),
      "listening address": expects(listenKind),
      "IP address": expects(addressKind),
      "server": expects(serverURLKind),
      "server with a login": refusal(serverURLKind, "http://me:secret@host"),
      "label matchers": expects(labelMatchersKind),
      "label selector": expects(labelSelectorKind),
      "tree": refusal(tree, '{"size": 1.5, "sise": 1}'),
      "header's name": header("X Scope", "a"),
      "header of every request": header("Host", "a"),
      "header that is a secret": header("Cookie", "a"),
      "header's value": header("X-Scope", ""),
      "login: unknown key": login("token=a"),
      "login: key twice": login("user=a user=b"),
      "login: no value": login("tokenFile="),
      "login: path": login("tokenFile=a"),
      "login: user": login("user=a:b"),
      "login: token and user": login("tokenFile=/a user=b passwordFile=/c"),
      "login: half a user": login("user=b"),
    },
    `\
choice: one of a, b
switch: true, on, false or off
whole number: a whole number from 1 to 10
duration: a duration from 10ms to 1m, for instance 250ms or 2s
listening address: an address to listen on, for instance :8080 or 127.0.0.1:8080
IP address: an IP address
server: the address of a server, for instance http://prometheus.monitoring:9090
server with a login: the address has a user or password in it, which every log would show
label matchers: label matchers as in PromQL, for instance cluster="prod",stage!~"dev|test", for labels other than namespace, pod, container, __name__
label selector: a label selector with matchLabels and matchExpressions; as text team=shop,stage=prod or JSON
tree: size is 1.5: must be a whole number; sise is not known
header's name: "X Scope" is not the name of a header, expected one of at most 63 letters, digits and -
header of every request: Host is a header that each request has already
header that is a secret: Cookie looks like a secret, and settings are printed; a login sends Authorization alone
header's value: X-Scope has a value that a header can't have, expected 1 to 256 visible characters
login: unknown key: the login has a term that begins with none of tokenFile=, user=, passwordFile=, caFile=
login: key twice: the login has user twice
login: no value: tokenFile of the login is empty
login: path: tokenFile of the login is not an absolute path of a file
login: user: user of the login is "a:b", expected a name without a colon
login: token and user: the login has both a token and a user, expected one of them
login: half a user: the login has one of user and passwordFile, expected both
`,
  ));

/** Why pod `web` in namespace `shop` is out of scope. */
const scope = (pod: Partial<Pod>, change: Partial<ScopeSubject> = {}) => (): string =>
  outOfScope({
    pod: { ...samplePod("web"), ...pod },
    namespace: namespaceWith({}),
    config: DEFAULT_MARKET_CONFIG,
    ...change,
  })?.message ?? "";

function annotated(annotations: Texts): Pick<Pod, "metadata"> {
  return { metadata: { ...samplePod("web").metadata, annotations } };
}

function namespaceWith(annotations: Texts) {
  return { metadata: { name: "shop", uid: "", resourceVersion: "", labels: {}, annotations } };
}

const OPT_IN = { config: { ...DEFAULT_MARKET_CONFIG, managementPolicy: "OptIn" } } as const;
const GUARANTEED = {
  ...annotated({ [SKIP_GUARANTEED]: "false" }),
  qosClass: "Guaranteed",
} as const;

pure("sentences on pods out of scope", () => {
  const ofPod = { requests: { cpu: 200, memory: 1 }, limits: { cpu: 200, memory: 1 } };
  const onNode = { nodeName: "node-1" };
  const annotatedNamespace = namespaceWith({ [MANAGED]: "true" });
  return assertLines(
    {
      "NotOptedIn": scope({}, OPT_IN),
      "namespace annotated": scope({}, { ...OPT_IN, namespace: annotatedNamespace }),
      "pod opted in": scope(annotated({ [MANAGED]: "true" }), OPT_IN),
      "NotBurstable": scope({ ...GUARANTEED, podLevel: ofPod }),
      "NoCPULimit": scope({ containers: [{ ...sampleContainer(), limits: {} }] }),
      "VPAConflict": scope({}, { verticalAutoscalers: [sampleVPA("Auto")] }),
      "HPAConflict": scope(GUARANTEED, { autoscalers: [sampleHPA()] }),
      "WindowsPod": scope({ windows: true }),
      "WindowsPod, by the node": scope(onNode, { node: { os: "windows" } }),
      "KubeletTooOld": scope(onNode, { node: { kubeletVersion: "v1.32.9" } }),
    },
    `\
NotOptedIn: namespace shop is not labelled mbcas.io/managed=true
namespace annotated: namespace shop is not labelled mbcas.io/managed=true, and as an annotation it does not count
pod opted in: namespace shop is not labelled mbcas.io/managed=true; the pod's own mbcas.io/managed: "true" counts where an administrator has labelled it mbcas.io/allow-overrides=true
NotBurstable: the pod is Guaranteed by resources of the whole pod
NoCPULimit: no container has a CPU limit
VPAConflict: VPA web-vpa, mode Auto, sets the resources of Deployment web
HPAConflict: HPA web-hpa divides the CPU usage by the request, which would move
WindowsPod: spec.os of the pod says windows
WindowsPod, by the node: node node-1 runs windows
KubeletTooOld: the kubelet of node-1 is v1.32.9: resizes need 1.33 or newer
`,
  );
});

const held = (fields: ClaimFields) => (): string => decideClaim(fields).message ?? "";

pure("sentences of the actuator's checks", () => {
  const max = { limitRange: cpuRanges({ max: 500 }) };
  const large = containerAt(900, { name: "jvm" });
  const withInit = podWith({ initContainers: [large] });
  const withBare = podOf(enforcedContainer(), { ...jvm({ name: "side" }), ...NO_RESOURCES });
  const defaults = { ...cpuRanges({}), defaults: ["limits.cpu"] };
  const heavy = podOf(containerAt(300, { requests: { cpu: 200 } }));
  return assertLines(
    {
      "limit": held({ ...podOf(enforcedContainer(), large), ...max }),
      "init container": held({ ...withInit, ...max }),
      "whole pod": held({ ...withInit, limitRange: cpuRanges({}, { max: 500 }) }),
      "request": held({ ...heavy, ...wants(200), limitRange: cpuRanges({ max: 100 }) }),
      "no limit": held({ ...withBare, ...max }),
      "defaults": held({ ...withBare, limitRange: defaults }),
      "OutsideBounds": held(wants(5000)),
      "OutsideBounds, no bounds": held({ claims: [marketClaim(300, "other")] }),
      "OutOfSync": held({ outOfSync: ["namespaces", "nodes"] }),
      "Oscillating": held({ oscillatingMs: 1, ...wants(150) }),
      "StepLimited": held({ maxStep: 1.5 }),
      "RateLimited": held({ restMs: 1 }),
      "Restored": () => restoredMessage({ reason: "AgentSilent", message: "it is gone" }),
    },
    `\
limit: pod web: cpu of container jvm: the LimitRange allows a limit of 500m, it would be 900m
init container: pod web: cpu of init container jvm: the LimitRange allows a limit of 500m, it would be 900m
whole pod: pod web: cpu of all containers: the LimitRange allows a limit of 500m, it would be 900m
request: pod web: cpu of container app: the LimitRange allows a limit of 100m, the request is 200m already
no limit: pod web: cpu of container side: the LimitRange asks for a limit, there is none
defaults: with any resize the API server would write the LimitRange's defaults into container side (limits.cpu), and they could never be removed: recreate the pod, or take the defaults out of the LimitRange (max and min set them, too)
OutsideBounds: app at 5000m is outside 10m to 4000m
OutsideBounds, no bounds: other has no bounds
OutOfSync: no raise while these are read anew: namespaces, nodes
Oscillating: the limits were changed more than 100 times in 5 minutes: they are not lowered for 5 minutes
StepLimited: app from 200m to 300m first, not to 400m at once
RateLimited: the pod's last change was a moment ago
Restored: the original limits are back: AgentSilent: it is gone
`,
  );
});
