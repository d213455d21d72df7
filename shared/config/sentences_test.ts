import * as z from "zod";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { effectiveSettings, type SettingSources } from "./effective_settings.ts";
import { labelMatchersKind } from "./label_matchers_kind.ts";
import { labelSelectorKind } from "./label_selector_kind.ts";
import { loginFilesKind } from "./login_files.ts";
import { requestHeadersKind } from "./request_headers_kind.ts";
import { serverURLKind } from "./server_url_kind.ts";
import type { SettingTable } from "./setting.ts";
import {
  addressKind,
  choiceKind,
  durationKind,
  listenKind,
  numberKind,
  switchKind,
} from "./setting_kinds.ts";
import { treeKind } from "./tree_kind.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const TABLE = {
  listen: {
    key: "controller.listen",
    flag: "--listen",
    env: "MBCAS_LISTEN",
    default: "80",
    description: "",
    kind: numberKind({ most: 100 }),
    aliases: ["--metrics-addr", "listenOn"],
  },
  headers: { key: "controller.headers", default: "", description: "", kind: requestHeadersKind },
} as const;

function faults(sources: SettingSources, table: SettingTable = TABLE): string {
  const read = effectiveSettings(table, sources);
  return "faults" in read ? read.faults.join("\n") : "";
}

const inFile = (text: string, table?: SettingTable) =>
  faults({ file: { path: "config.yaml", text } }, table);

function beside(key: string, text: string): string {
  const keys = { beside: "config.yaml", place: "/etc/", texts: new Map([[key, "3"]]) };
  return faults({ file: { path: "config.yaml", text, keys } });
}

Deno.test({
  name: "sentences of sources of settings",
  permissions: PURE,
  fn: () =>
    assertSentences([
      [
        "value",
        () => faults({ env: { MBCAS_LISTEN: "all" } }),
        'env MBCAS_LISTEN is "all", expected a number from 0 to 100',
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
        () => faults({ env: { MBCAS_LISTN: "80" } }),
        "env MBCAS_LISTN is not a setting; did you mean MBCAS_LISTEN?",
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
        () => beside("listenOm", ""),
        "/etc/listenOm is not a setting; did you mean listenOn? known are config.yaml, listenOn, " +
        "dryRun, metricsProvider, prometheusURL, leaderElection, reconciliationInterval",
      ],
      [
        "key and file",
        () => beside("listenOn", "listenOn: 4"),
        'config.yaml: listenOn is "4" and /etc/listenOn is "3", but both are names of ' +
        "controller.listen: keep one of them",
      ],
      [
        "YAML",
        () => inFile("a: *b").replace(/: Unresolved.*/, ""),
        "config.yaml: is not YAML",
      ],
      [
        "sections",
        () => inFile("[1]"),
        "config.yaml: is not a map of sections (controller, listenOn)",
      ],
      [
        "section",
        () => inFile("controller: 1"),
        "config.yaml: controller is 1, expected a map of settings",
      ],
      [
        "one value",
        () => inFile("listenOn: {a: 1}"),
        'config.yaml: listenOn is {"a":1}, expected one value or a list',
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
        'config.yaml: controller.leaderElection.enabled is "false", expected true: of all ' +
        "controllers one works, which can't be switched off",
      ],
      [
        "metrics.enabled",
        () => inFile("metrics: {enabled: false}", CONTROLLER_SETTINGS),
        'config.yaml: metrics.enabled is "false", expected true: metrics are served beside the ' +
        "probes, which can't be switched off",
      ],
    ]),
});

Deno.test({
  name: "sentences of kinds of settings",
  permissions: "none",
  fn() {
    const tree = treeKind({
      expects: "a size",
      schema: () => z.strictObject({ size: z.int() }),
      shortForm: () => undefined,
    });
    const login = (text: string) => loginFilesKind.explain?.(text) ?? "";
    const header = (name: string, text: string) =>
      requestHeadersKind.explain?.(JSON.stringify({ [name]: text })) ?? "";
    const duration = durationKind({ leastMs: 10, mostMs: 60_000 });
    const whole = numberKind({ least: 1, most: 10, whole: true });
    return assertSentences([
      ["choice", () => choiceKind(["a", "b"]).expects, "one of a, b"],
      ["switch", () => switchKind.expects, "true, on, false or off"],
      ["whole number", () => whole.expects, "a whole number from 1 to 10"],
      [
        "duration",
        () => duration.expects,
        "a duration from 10ms to 1m, for instance 250ms or 2s",
      ],
      [
        "listening address",
        () => listenKind.expects,
        "an address to listen on, for instance :8080 or 127.0.0.1:8080",
      ],
      ["IP address", () => addressKind.expects, "an IP address"],
      [
        "server",
        () => serverURLKind.expects,
        "the address of a server, for instance http://prometheus.monitoring:9090",
      ],
      [
        "server with a login",
        () => serverURLKind.explain?.("http://me:secret@host") ?? "",
        "the address has a user or password in it, which every log would show",
      ],
      [
        "label matchers",
        () => labelMatchersKind.expects,
        'matchers of labels as in PromQL, for instance cluster="prod",stage!~"dev|test", of other ' +
        "labels than namespace, pod, container, __name__",
      ],
      [
        "label selector",
        () => labelSelectorKind.expects,
        "a label selector with matchLabels and matchExpressions; as text team=shop,stage=prod or JSON",
      ],
      [
        "tree",
        () => tree.explain?.('{"size": 1.5, "sise": 1}') ?? "",
        "size is 1.5: must be a whole number; sise is not known",
      ],
      [
        "header's name",
        () => header("X Scope", "a"),
        '"X Scope" is no name of a header, expected one of at most 63 letters, digits and -',
      ],
      [
        "header of every request",
        () => header("Host", "a"),
        "Host is a header that each request has already",
      ],
      [
        "header that is a secret",
        () => header("Cookie", "a"),
        "Cookie looks like a secret, which has its place in the file of a login",
      ],
      [
        "header's value",
        () => header("X-Scope", ""),
        "X-Scope says nothing that a header can, expected 1 to 256 visible characters",
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
        "tokenFile of the login is no absolute path of a file",
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
  },
});
