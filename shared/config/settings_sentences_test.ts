import { pure } from "../../tests/fixtures/pure.ts";
import * as z from "zod";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
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
} from "./kinds.ts";
import { effectiveSettings, type SettingSources } from "./load.ts";
import { labelSelectorKind, treeKind } from "./map_kinds.ts";
import { DRY_RUN_SETTING } from "./schema.ts";
import {
  labelMatchersKind,
  loginFilesKind,
  requestHeadersKind,
  serverURLKind,
} from "./server_kinds.ts";
import { setting, type SettingsSchema } from "./setting.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const SCHEMA = z.object({
  listen: setting("controller.listen", {
    kind: numberKind({ max: 100 }),
    default: "80",
    description: "",
  }),
  headers: setting("controller.headers", {
    kind: requestHeadersKind,
    default: "",
    description: "",
  }),
  dryRun: DRY_RUN_SETTING,
});

function faults(sources: SettingSources, schema: SettingsSchema = SCHEMA): string {
  const read = effectiveSettings(schema, sources);
  return "faults" in read ? read.faults.join("\n") : "";
}

const inFile = (text: string, schema?: SettingsSchema) =>
  faults({ file: { path: "config.yaml", text } }, schema);

function beside(key: string, text: string): string {
  const keys = { beside: "config.yaml", place: "/etc/", texts: new Map([[key, "on"]]) };
  return faults({ file: { path: "config.yaml", text, keys } });
}

Deno.test({
  name: "sentences of sources of settings",
  permissions: PURE,
  fn: () =>
    assertSentences([
      [
        "value",
        () => faults({ env: { MBCAS_CONTROLLER_LISTEN: "all" } }),
        'env MBCAS_CONTROLLER_LISTEN is "all", expected a number from 0 to 100',
      ],
      [
        "no value",
        () => faults({ flags: new Map([["--listen", ""]]) }),
        "flag --listen is not set, expected a number from 0 to 100",
      ],
      [
        "two names",
        () => faults({ flags: new Map([["--listen", "1"], ["--metrics-addr", "2"]]) }),
        'flag --listen is "1" and flag --metrics-addr is "2", but both are names of ' +
        "controller.listen: keep one of them",
      ],
      [
        "variable",
        () => faults({ env: { MBCAS_CONTROLLER_LISTN: "80" } }),
        "env MBCAS_CONTROLLER_LISTN is not a setting; did you mean MBCAS_CONTROLLER_LISTEN?",
      ],
      [
        "variable of Spotalis",
        () => faults({ env: { SPOTALIS_HEALTH_ENABLED: "true" } }),
        "env SPOTALIS_HEALTH_ENABLED is not a setting; unset it",
      ],
      [
        "key",
        () => inFile("controller: {listn: 80}"),
        "config.yaml: controller.listn is not a setting; did you mean controller.listen?",
      ],
      [
        "key beside the file",
        () => beside("dryRan", ""),
        "/etc/dryRan is not a setting; did you mean dryRun? known are config.yaml, dryRun, " +
        "metricsProvider, prometheusURL, leaderElection, reconciliationInterval",
      ],
      [
        "key and file",
        () => beside("dryRun", "dryRun: off"),
        'config.yaml: dryRun is "off" and /etc/dryRun is "on", but both are names of ' +
        "controller.dryRun: keep one of them",
      ],
      ["YAML", () => inFile("a: *b").replace(/: Unresolved.*/, ""), "config.yaml: is not YAML"],
      [
        "sections",
        () => inFile("[1]"),
        "config.yaml: is not a map of sections (controller, metrics, dryRun)",
      ],
      [
        "section",
        () => inFile("controller: 1"),
        "config.yaml: controller is 1, expected a map of settings",
      ],
      [
        "one value",
        () => inFile("dryRun: {a: 1}"),
        'config.yaml: dryRun is {"a":1}, expected one value or a list',
      ],
      [
        "map",
        () => inFile("controller: {headers: x}"),
        'config.yaml: controller.headers is "x", expected a map of names to texts',
      ],
      [
        "text",
        () => inFile("controller: {headers: {x: 3}}"),
        "config.yaml: controller.headers.x is 3, expected a text",
      ],
      [
        "controller.leaderElection",
        () => inFile("controller: {leaderElection: {enabled: false}}", CONTROLLER_SETTINGS),
        'config.yaml: controller.leaderElection.enabled is "false", expected true: leader ' +
        "election can't be switched off",
      ],
      [
        "metrics.enabled",
        () => inFile("metrics: {enabled: false}", CONTROLLER_SETTINGS),
        'config.yaml: metrics.enabled is "false", expected true: metrics can\'t be switched off',
      ],
    ]),
});

pure("sentences of kinds of settings", () => {
  const tree = treeKind({
    expects: "a size",
    schema: () => z.strictObject({ size: z.int() }),
    shortForm: () => undefined,
  });
  const expects = (kind: Kind<unknown>) => kindMeta(kind).expects;
  const login = (text: string) => refusalOf(loginFilesKind, text) ?? "";
  const header = (name: string, text: string) =>
    refusalOf(requestHeadersKind, JSON.stringify({ [name]: text })) ?? "";
  const duration = durationKind({ minMs: 10, maxMs: 60_000 });
  const whole = numberKind({ min: 1, max: 10, whole: true });
  return assertSentences([
    ["choice", () => expects(choiceKind(["a", "b"])), "one of a, b"],
    ["switch", () => expects(switchKind), "true, on, false or off"],
    ["whole number", () => expects(whole), "a whole number from 1 to 10"],
    ["duration", () => expects(duration), "a duration from 10ms to 1m, for instance 250ms or 2s"],
    [
      "listening address",
      () => expects(listenKind),
      "an address to listen on, for instance :8080 or 127.0.0.1:8080",
    ],
    ["IP address", () => expects(addressKind), "an IP address"],
    [
      "server",
      () => expects(serverURLKind),
      "the address of a server, for instance http://prometheus.monitoring:9090",
    ],
    [
      "server with a login",
      () => refusalOf(serverURLKind, "http://me:secret@host") ?? "",
      "the address has a user or password in it, which every log would show",
    ],
    [
      "label matchers",
      () => expects(labelMatchersKind),
      'label matchers as in PromQL, for instance cluster="prod",stage!~"dev|test", for labels ' +
      "other than namespace, pod, container, __name__",
    ],
    [
      "label selector",
      () => expects(labelSelectorKind),
      "a label selector with matchLabels and matchExpressions; as text team=shop,stage=prod or JSON",
    ],
    [
      "tree",
      () => refusalOf(tree, '{"size": 1.5, "sise": 1}') ?? "",
      "size is 1.5: must be a whole number; sise is not known",
    ],
    [
      "header's name",
      () => header("X Scope", "a"),
      '"X Scope" is not the name of a header, expected one of at most 63 letters, digits and -',
    ],
    [
      "header of every request",
      () => header("Host", "a"),
      "Host is a header that each request has already",
    ],
    [
      "header that is a secret",
      () => header("Cookie", "a"),
      "Cookie looks like a secret, and settings are printed; a login sends Authorization alone",
    ],
    [
      "header's value",
      () => header("X-Scope", ""),
      "X-Scope has a value that a header can't have, expected 1 to 256 visible characters",
    ],
    [
      "login: unknown key",
      () => login("token=a"),
      "the login has a term that begins with none of tokenFile=, user=, passwordFile=, caFile=",
    ],
    ["login: key twice", () => login("user=a user=b"), "the login has user twice"],
    ["login: no value", () => login("tokenFile="), "tokenFile of the login is empty"],
    [
      "login: path",
      () => login("tokenFile=a"),
      "tokenFile of the login is not an absolute path of a file",
    ],
    [
      "login: user",
      () => login("user=a:b"),
      'user of the login is "a:b", expected a name without a colon',
    ],
    [
      "login: token and user",
      () => login("tokenFile=/a user=b passwordFile=/c"),
      "the login has both a token and a user, expected one of them",
    ],
    [
      "login: half a user",
      () => login("user=b"),
      "the login has one of user and passwordFile, expected both",
    ],
  ]);
});
