import { assertSentences, messageOf } from "../../../tests/fixtures/assert_sentences.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { lateRequest } from "../../../tests/fixtures/late_request.ts";
import { defined } from "../../../shared/defined.ts";
import { withFile } from "../../../tests/fixtures/cli/task_world.ts";
import { userKubeconfig } from "../../../tests/fixtures/user_kubeconfig.ts";
import { connectUser, type UserConnection } from "./user_connection.ts";
import { parseVerticalPodAutoscaler } from "../kinds/autoscalers.ts";
import { createSecretStore } from "../writers/webhook_stores.ts";

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
