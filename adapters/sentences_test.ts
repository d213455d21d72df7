import * as z from "zod";
import { numberKind, textKind } from "../shared/config/kinds.ts";
import { setting } from "../shared/config/setting.ts";
import { defined } from "../shared/defined.ts";
import { assertSentences, messageOf } from "../tests/fixtures/assert_sentences.ts";
import { serveCanned } from "../tests/fixtures/canned_server.ts";
import { withFile } from "../tests/fixtures/cli/task_world.ts";
import { lateRequest } from "../tests/fixtures/late_request.ts";
import { userKubeconfig } from "../tests/fixtures/user_kubeconfig.ts";
import { createCustomUsageClient } from "./custom_usage_client.ts";
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

Deno.test("sentences of command lines and logins", () => {
  const schema = z.object({
    config: setting("config", { kind: textKind("a file"), default: "c", description: "" }),
    workers: setting("controller.workers", {
      kind: numberKind({ least: 1, most: 64, whole: true }),
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
  return assertSentences([
    [
      "file",
      () => run("--config", "/none"),
      "Cannot run controller: --config /none: no such file\n",
    ],
    [
      "argument",
      () => run("more"),
      'Cannot run controller: argument "more" is not expected; see --help\n',
    ],
    [
      "flag",
      () => run("--worker"),
      "Cannot run controller: flag --worker is not known; did you mean --workers?\n",
    ],
    [
      "flag's value",
      () => run("--workers", "0"),
      'Cannot run controller: flag --workers is "0", expected a whole number from 1 to 64\n',
    ],
    [
      "no value",
      () => run("--workers"),
      "Cannot run controller: option '--workers <value>' argument missing\n",
    ],
    [
      "token",
      () => login({ tokenFile: "README.md" }),
      "Cannot log in: README.md holds no token of visible characters",
    ],
    [
      "authorities",
      () => login({ caFile: "README.md" }),
      "Cannot log in: README.md holds no certificates",
    ],
    [
      "no file",
      () => login({ tokenFile: "/none" }),
      "Cannot log in with /none: there is no such file",
    ],
  ]);
});

Deno.test("sentences of answers of Prometheus and of usage sources", () => {
  async function prometheus(answer: unknown, mostBytes = 1000): Promise<string> {
    await using server = serveCanned(() => answer);
    const question = { server: server.url, query: "up" };
    const answered = await createInstantQueries({ mostBytes }).ask(question, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  async function range(answer: unknown): Promise<string> {
    await using server = serveCanned(() => answer);
    const question = { server: server.url, query: "up", startMs: 0, endMs: 1, stepMs: 1 };
    const answered = await createRangeQueries({}).ask(question, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  async function usage(answer: unknown): Promise<string> {
    await using server = serveCanned(() => answer);
    const answered = await createCustomUsageClient({ url: server.url }).ask({
      namespace: "shop",
      workload: { kind: "Deployment", name: "web", uid: "u" },
      pods: [],
      containers: [],
      window: { fromMs: 1000, toMs: 2000 },
    }, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  const away = () => new Response(null, { status: 307, headers: { location: "http://b" } });
  const matrix = { status: "success", data: { resultType: "matrix", result: [] } };
  const vector = { status: "success", data: { resultType: "vector", result: [] } };
  return assertSentences([
    ["redirect", () => prometheus(away()), 'HTTP 307: it sends on to "http://b"'],
    ["length", () => prometheus(matrix, 8), "the answer has more than 8 bytes"],
    ["no Prometheus", () => prometheus({}), "the answer is not one of Prometheus's query API"],
    [
      "no vector",
      () => prometheus(matrix),
      "the query gives no instant vector of numbers and no scalar",
    ],
    ["no matrix", () => range(vector), "the query gives no series of numbers over time"],
    [
      "partial",
      () => range({ ...matrix, warnings: ["no store"] }),
      'the answer is a partial one: "no store"',
    ],
    ["redirect of usage", () => usage(away()), "HTTP 307: it sends on to another place"],
    [
      "no usage",
      () => usage({ version: 1, containers: { app: { cpuMillicores: 1 } } }),
      'the answer is none of a usage source: "containers.app.cpuMillicores: Invalid input: expected ' +
      'array, received number"',
    ],
  ]);
});

Deno.test("sentences of kubeconfigs and their plugins", () => {
  const user =
    (text: string, context?: string, act: (user: UserConnection) => unknown = () => {}) =>
    async () => {
      let message = "";
      await withFile(text, async (path) => {
        message = (await messageOf(() =>
          act(connectUser({
            program: "kubectl",
            env: () => undefined,
            path,
            ...defined({ context }),
          }))
        )).replaceAll(path, "/c");
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
  return assertSentences([
    [
      "cluster's server",
      user(userKubeconfig("")),
      'Cannot use context "here": clusters[0].cluster.server is missing',
    ],
    [
      "no YAML",
      user("a: [b"),
      "Cannot read kubeconfig /c: Flow sequence in block collection must be sufficiently indented " +
      "and end with a ] at line 1, column 6",
    ],
    [
      "no context",
      target(undefined, "just a text"),
      "Cannot choose a context: the kubeconfig has none; give another one by --kubeconfig or KUBECONFIG",
    ],
    [
      "no current context",
      target(undefined, "contexts: [{name: a, context: {cluster: b}}]"),
      'Cannot choose a context: the kubeconfig has no current-context, name one of "a"',
    ],
    ["context", target("away"), 'Cannot use context "away": the kubeconfig has "lost", "orphan"'],
    [
      "cluster",
      target("lost"),
      'Cannot use context "lost": its cluster "gone" is not among "local"',
    ],
    ["user", target("orphan"), 'Cannot use context "orphan": its user "gone" is not among "me"'],
    [
      "no file",
      () =>
        messageOf(() =>
          connectUser({ program: "kubectl", env: () => undefined, path: "/no/file" })
        ),
      "Cannot read the kubeconfig /no/file: it is not there; give --kubeconfig or set KUBECONFIG",
    ],
    [
      "no file at home",
      () =>
        messageOf(() =>
          connectUser({ program: "kubectl", env: (name) => name === "HOME" ? "/no" : "" })
        ),
      "Cannot read the kubeconfig /no/.kube/config: it is not there; give --kubeconfig or set KUBECONFIG",
    ],
    [
      "folder",
      () => messageOf(() => connectUser({ program: "kubectl", env: () => undefined, path: "/" })),
      "Cannot read the kubeconfig /: Is a directory (os error 21); give --kubeconfig or set KUBECONFIG",
    ],
    [
      "groups without a user",
      user(userKubeconfig("http://a", { user: { "as-groups": ["dev"] } })),
      "Cannot impersonate: groups, a UID or extra fields need a user; add --as USER",
    ],
    [
      "plugin",
      script("echo expired session >&2; exit 3"),
      'Cannot log in as user "me": plugin "sh": expired session',
    ],
    [
      "plugin without JSON",
      script("echo x"),
      'Cannot log in as user "me": plugin "sh" printed no ExecCredential',
    ],
    [
      "plugin without command",
      plugin({ args: [] }),
      'Cannot log in as user "me": plugin "": No command was specified for exec authProvider!',
    ],
  ]);
});

Deno.test("sentences of objects and answers of the API server", () => {
  const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "1" };
  return assertSentences([
    [
      "target of a VPA",
      () => parseVerticalPodAutoscaler({ metadata, spec: {} }).unreadable ?? "",
      "Cannot read the object: no spec.targetRef.kind",
    ],
    [
      "no JSON",
      async () => {
        await using server = serveCanned(() => new Response("{"));
        const store = createSecretStore(server.connection, {
          namespace: "shop",
          name: "a",
          labels: {},
        });
        return await messageOf(() => store.read());
      },
      "GET /api/v1/namespaces/shop/secrets/a: the answer is not JSON",
    ],
    [
      "stream",
      async () => {
        const { next, close } = await lateRequest(10);
        try {
          return await messageOf(() => next);
        } finally {
          await close();
        }
      },
      "GET /watch: Cannot read the stream: its connection is dead",
    ],
  ]);
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
  await assertSentences([
    [
      "authority",
      () => serving({ cert: "x" }),
      "Cannot sign a certificate: the authority is not one of ours",
    ],
    [
      "another key",
      () => pair({ key: two.key }),
      "Cannot use a certificate: the key belongs to another one",
    ],
    ["key", () => pair({ key: "" }), "Cannot read a key: the text is not a PEM private key"],
    ["no certificate", () => pair({ cert: "" }), "Cannot read a certificate: there is none"],
    [
      "bundle",
      () => messageOf(() => reader.readBundle(one.cert.slice(0, -40))),
      "Cannot read certificates: a block is truncated or not a certificate",
    ],
    [
      "long request",
      async () => {
        const chunks = async function* () {
          yield await Promise.resolve(new Uint8Array(4));
        };
        const read = await createBodyReader({ mostBytes: 3, mostBytesInWork: 9 }).read(chunks());
        return "refusal" in read ? read.refusal : "";
      },
      "Cannot read the request: it has more than 3 bytes",
    ],
  ]);
});
