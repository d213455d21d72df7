import { assertSentences, messageOf } from "../../../tests/fixtures/assert_sentences.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { lateRequest } from "../../../tests/fixtures/late_request.ts";
import { systemClock } from "../../system_clock.ts";
import { createExecPlugin, parseKubeconfig, targetOf } from "./kubeconfig.ts";
import { parseVerticalPodAutoscaler } from "../kinds/autoscalers.ts";
import { createSecretStore } from "../writers/webhook_stores.ts";

Deno.test("sentences of kubeconfigs and their plugins", () => {
  const parse = (text: string) => parseKubeconfig([{ path: "/c", text }]);
  const config = parse(JSON.stringify({
    contexts: [
      { name: "lost", context: { cluster: "gone", user: "me" } },
      { name: "orphan", context: { cluster: "local", user: "gone" } },
    ],
    clusters: [{ name: "local", cluster: { server: "https://a" } }],
    users: [{ name: "me", user: {} }],
  }));
  const target = (name?: string, from = config) => messageOf(() => targetOf(from, name));
  const plugin = (script: string) =>
    messageOf(() =>
      createExecPlugin({ command: "sh", args: ["-c", script] }, { clock: systemClock })(
        { refresh: false },
      )
    );
  return assertSentences([
    [
      "cluster's server",
      () => messageOf(() => parse("clusters: [{name: a}]")),
      "Cannot read kubeconfig /c: clusters[0].cluster is missing",
    ],
    [
      "no context",
      () => target(undefined, parse("")),
      "Cannot choose a context: the kubeconfig has none; give another one by --kubeconfig or KUBECONFIG",
    ],
    [
      "no kubeconfig",
      () => messageOf(() => parse("just a text")),
      "Cannot read kubeconfig /c: expected a mapping with clusters, contexts and users",
    ],
    [
      "no current context",
      () => target(undefined, parse("contexts: [{name: a, context: {cluster: b}}]")),
      'Cannot choose a context: the kubeconfig has no current-context, name one of "a"',
    ],
    [
      "context",
      () => target("away"),
      'Cannot use context "away": the kubeconfig has "lost", "orphan"',
    ],
    [
      "cluster",
      () => target("lost"),
      'Cannot use context "lost": its cluster "gone" is not among "local"',
    ],
    [
      "user",
      () => target("orphan"),
      'Cannot use context "orphan": its user "gone" is not among "me"',
    ],
    [
      "plugin",
      () => plugin("echo expired session >&2; exit 3"),
      'Cannot log in: plugin "sh" ended with 3: expired session',
    ],
    ["plugin without JSON", () => plugin("echo x"), 'Cannot log in: plugin "sh" answered no JSON'],
    [
      "plugin without login",
      () => plugin("echo '{}'"),
      'Cannot log in: plugin "sh" gave neither token nor certificate',
    ],
    [
      "plugin without command",
      () => messageOf(() => createExecPlugin({}, { clock: systemClock })),
      "Cannot log in by plugin: exec.command is empty",
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
