import * as z from "zod";
import { numberKind, textKind } from "../shared/config/kinds.ts";
import { setting } from "../shared/config/setting.ts";
import { defined } from "../shared/defined.ts";
import { assertTexts, messageOf } from "../tests/fixtures/assert_sentences.ts";
import { serveCanned, userKubeconfig } from "../tests/fixtures/canned_server.ts";
import { lateRequest } from "../tests/fixtures/kube_connections.ts";
import { withFile } from "../tests/fixtures/lab/task_world.ts";
import { createHTTPLogin } from "./http_login.ts";
import { connectUser, type UserConnection } from "./kube/client/user_connection.ts";
import { parseVerticalPodAutoscaler } from "./kube/kinds/autoscalers.ts";
import { createSecretStore } from "./kube/writers/webhook_stores.ts";
import { readProgramSettings } from "./program_settings.ts";
import { createInstantQueries } from "./prometheus/instant_queries.ts";
import { createRangeQueries } from "./prometheus/range_queries.ts";
import { systemClock } from "./system_clock.ts";
import { createCertificateMaker, createCertificateReader } from "./webhook/certificates.ts";
import { createBodyReader } from "./webhook/webhook_server.ts";

const SIGNAL = new AbortController().signal;
const USER = { program: "kubectl", env: () => undefined, inIsTerminal: false };

Deno.test("sentences of command lines and logins", () => {
  const schema = z.object({
    config: setting("config", { kind: textKind("a file"), default: "c", description: "" }),
    workers: setting("controller.workers", {
      kind: numberKind({ min: 1, max: 64, whole: true }),
      default: "8",
      description: "",
    }),
  });
  const run = (...args: readonly string[]): string => {
    const read = readProgramSettings({ name: "controller", description: "", schema }, {
      args,
      env: {},
      readFile() {
        throw new Deno.errors.NotFound("no such file");
      },
    });
    return "text" in read ? read.text : "";
  };
  const login = (files: Parameters<typeof createHTTPLogin>[0]) =>
    messageOf(() => createHTTPLogin(files, { clock: systemClock }).parts({ refresh: false }));
  return assertTexts(
    {
      "file": () => run("--config", "/none"),
      "argument": () => run("more"),
      "flag": () => run("--worker"),
      "flag's value": () => run("--workers", "0"),
      "no value": () => run("--workers"),
      "token": () => login({ tokenFile: "README.md" }),
      "authorities": () => login({ caFile: "README.md" }),
      "no file": () => login({ tokenFile: "/none" }),
    },
    `\
file
| Cannot run controller: --config /none: no such file
argument
| Cannot run controller: argument "more" is not expected; see --help
flag
| Cannot run controller: flag --worker is not known; did you mean --workers?
flag's value
| Cannot run controller: flag --workers is "0", expected a whole number from 1 to 64
no value
| Cannot run controller: option '--workers <value>' argument missing
token
  Cannot log in: README.md holds no token of visible characters
authorities
  Cannot log in: README.md holds no certificates
no file
  Cannot log in with /none: there is no such file
`,
  );
});

Deno.test("sentences of answers of Prometheus", () => {
  async function prometheus(answer: unknown, maxBytes = 1000): Promise<string> {
    await using server = serveCanned(() => answer);
    const queries = createInstantQueries({ program: "test", maxBytes });
    const answered = await queries.ask({ server: server.url, query: "up" }, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  async function range(answer: unknown): Promise<string> {
    await using server = serveCanned(() => answer);
    const question = { server: server.url, query: "up", startMs: 0, endMs: 1, stepMs: 1 };
    const answered = await createRangeQueries({ program: "test" }).ask(question, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  const away = () => new Response(null, { status: 307, headers: { location: "http://b" } });
  const matrix = { status: "success", data: { resultType: "matrix", result: [] } };
  const vector = { status: "success", data: { resultType: "vector", result: [] } };
  return assertTexts(
    {
      "redirect": () => prometheus(away()),
      "length": () => prometheus(matrix, 8),
      "no Prometheus": () => prometheus({}),
      "no vector": () => prometheus(matrix),
      "no matrix": () => range(vector),
      "partial": () => range({ ...matrix, warnings: ["no store"] }),
    },
    `\
redirect
  HTTP 307: it sends on to "http://b"
length
  the answer has more than 8 bytes
no Prometheus
  the answer is not one of Prometheus's query API
no vector
  the query gives no instant vector of numbers and no scalar
no matrix
  the query gives no series of numbers over time
partial
  the answer is a partial one: "no store"
`,
  );
});

Deno.test("sentences of kubeconfigs and their plugins", () => {
  const user =
    (text: string, context?: string, act: (user: UserConnection) => unknown = () => {}) =>
    async () => {
      let message = "";
      await withFile(text, async (path) => {
        const options = { ...USER, path, ...defined({ context }) };
        message = (await messageOf(() => act(connectUser(options)))).replaceAll(path, "/c");
      });
      return message;
    };
  const config = JSON.stringify({
    contexts: [
      { name: "lost", context: { cluster: "gone", user: "me" } },
      { name: "orphan", context: { cluster: "local", user: "gone" } },
    ],
    clusters: [{ name: "local", cluster: { server: "https://a" } }],
    users: [{ name: "me", user: {} }],
  });
  const target = (context?: string, text = config) => user(text, context);
  const plugin = (exec: object) =>
    user(
      userKubeconfig("http://127.0.0.1:1", { user: { exec } }),
      undefined,
      (one) => one.request({ path: "/" }),
    );
  const script = (text: string) => plugin({ command: "sh", args: ["-c", text] });
  return assertTexts(
    {
      "cluster's server": user(userKubeconfig("")),
      "no YAML": user("a: [b"),
      "text": target(undefined, "just a text"),
      "list": target(undefined, "[a]"),
      "empty file": target(undefined, ""),
      "another object": target(undefined, "kind: Pod"),
      "no current context": target(undefined, "contexts: [{name: a, context: {cluster: b}}]"),
      "context": target("away"),
      "cluster": target("lost"),
      "user": target("orphan"),
      "no file": () => messageOf(() => connectUser({ ...USER, path: "/no/file" })),
      "no file at home": () =>
        messageOf(() => connectUser({ ...USER, env: (name) => name === "HOME" ? "/no" : "" })),
      "folder": () => messageOf(() => connectUser({ ...USER, path: "/" })),
      "groups without a user": user(userKubeconfig("http://a", { user: { "as-groups": ["dev"] } })),
      "plugin": script("echo expired session >&2; exit 3"),
      "plugin without JSON": script("echo x"),
      "plugin without command": plugin({ args: [] }),
      "missing plugin": plugin({ command: "no-such-login" }),
      "missing plugin with a hint": plugin({ command: "no-such-login", installHint: "get it" }),
      "plugin of an unknown mode": plugin({ command: "sh", interactiveMode: "Sometimes" }),
      "plugin that must ask": plugin({ command: "sh", interactiveMode: "Always" }),
    },
    `\
cluster's server
  Cannot use context "here": clusters[0].cluster.server is missing
no YAML
  Cannot read the kubeconfig /c: it is no YAML: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 6; give --kubeconfig or set KUBECONFIG
text
  Cannot read the kubeconfig /c: it is not a kubeconfig, which is an object in YAML or JSON; give --kubeconfig or set KUBECONFIG
list
  Cannot read the kubeconfig /c: it is not a kubeconfig, which is an object in YAML or JSON; give --kubeconfig or set KUBECONFIG
empty file
  Cannot choose a context: the kubeconfig /c has none; give --kubeconfig or set KUBECONFIG
another object
  Cannot choose a context: the kubeconfig /c has none; give --kubeconfig or set KUBECONFIG
no current context
  Cannot choose a context: the kubeconfig has no current-context, name one of "a"
context
  Cannot use context "away": the kubeconfig has "lost", "orphan"
cluster
  Cannot use context "lost": its cluster "gone" is not among "local"
user
  Cannot use context "orphan": its user "gone" is not among "me"
no file
  Cannot read the kubeconfig /no/file: it is not there; give --kubeconfig or set KUBECONFIG
no file at home
  Cannot read the kubeconfig /no/.kube/config: it is not there; give --kubeconfig or set KUBECONFIG
folder
  Cannot read the kubeconfig /: Is a directory (os error 21); give --kubeconfig or set KUBECONFIG
groups without a user
  Cannot impersonate: groups, a UID or extra fields need a user; add --as USER
plugin
  Cannot log in as user "me": plugin "sh" ended with exit code 3
plugin without JSON
  Cannot log in as user "me": plugin "sh" printed no ExecCredential
plugin without command
  Cannot log in as user "me": its plugin has no command
missing plugin
  Cannot log in as user "me": plugin "no-such-login" is not there; install it, or correct its path in the kubeconfig
missing plugin with a hint
  Cannot log in as user "me": plugin "no-such-login" is not there; get it
plugin of an unknown mode
  Cannot log in as user "me": interactiveMode of plugin "sh" is "Sometimes"; set one of Never, IfAvailable, Always
plugin that must ask
  Cannot log in as user "me": interactiveMode of plugin "sh" is Always, but standard input is not a terminal; run the command in a terminal
`,
  );
});

Deno.test("sentences of objects and answers of the API server", () => {
  const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "1" };
  return assertTexts(
    {
      "target of a VPA": () => parseVerticalPodAutoscaler({ metadata, spec: {} }).unreadable ?? "",
      "no JSON": async () => {
        await using server = serveCanned(() => new Response("{"));
        const place = { namespace: "shop", name: "a", labels: {} };
        const store = createSecretStore(server.connection, place);
        return await messageOf(() => store.read());
      },
      "stream": async () => {
        const { next, close } = await lateRequest(10);
        try {
          return await messageOf(() => next);
        } finally {
          await close();
        }
      },
    },
    `\
target of a VPA
  Cannot read the object: no spec.targetRef.kind
no JSON
  GET /api/v1/namespaces/shop/secrets/a: the answer is not JSON
stream
  GET /watch: Cannot read the stream: its connection is dead
`,
  );
});

Deno.test("sentences of certificates and connections of the webhook", async () => {
  const [maker, reader] = [createCertificateMaker(), createCertificateReader()];
  const validity = { notBeforeMs: 0, notAfterMs: 3_600_000 };
  const one = await maker.makeAuthority({ name: "one", ...validity });
  const two = await maker.makeAuthority({ name: "two", ...validity });
  const pair = (changes: Partial<typeof one>) =>
    messageOf(() => reader.readPair({ ...one, ...changes }));
  const serving = (changes: Partial<typeof one>) =>
    messageOf(() => maker.makeServing({ ...one, ...changes }, { names: ["a.svc"], ...validity }));
  await assertTexts(
    {
      "authority": () => serving({ cert: "x" }),
      "another key": () => pair({ key: two.key }),
      "key": () => pair({ key: "" }),
      "no certificate": () => pair({ cert: "" }),
      "bundle": () => messageOf(() => reader.readBundle(one.cert.slice(0, -40))),
      "not X.509": () =>
        messageOf(() => reader.readBundle(one.cert.replace(/\n.{30}/, `\n${"A".repeat(30)}`))),
      "long request": async () => {
        const chunks = async function* () {
          yield await Promise.resolve(new Uint8Array(4));
        };
        const read = await createBodyReader({ maxBytes: 3, maxBytesInFlight: 9 }).read(chunks());
        return "refusal" in read ? read.refusal : "";
      },
    },
    `\
authority
  Cannot sign a certificate: the authority is not one of ours
another key
  Cannot use a certificate: the key belongs to another one
key
  Cannot read a key: the text is not a PEM private key
no certificate
  Cannot read a certificate: there is none
bundle
  Cannot read certificates: a block is truncated or not a certificate
not X.509
  Cannot read certificates: a block is not X.509
long request
  Cannot read the request: it has more than 3 bytes
`,
  );
});
