/** The dashboard on a real cluster: through `kubectl coalloc dashboard`, and by tokens with less rights. */
import assert from "node:assert/strict";
import { connectUser } from "../../adapters/kube/client/user_connection.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { createDashboardAccess } from "../../cli/coalloc/kube/dashboard_access.ts";
import type { PodsView } from "../../controller/dashboard/pages/pods_page.ts";
import { openRealNode, requestToken, scratchNamespace } from "./scene/real_node.ts";
import { loadPod } from "./scene/load_pod.ts";
import { until } from "./scene/until.ts";

async function openDashboard(): Promise<{ child: Deno.ChildProcess; url: URL }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-P=cli", "cli/kubectl_coalloc.ts", "dashboard", "--no-open"],
    ...{ stdin: "null", stdout: "piped", stderr: "inherit" },
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("Ctrl-C")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`kubectl coalloc dashboard has ended: ${text}`);
    text += value;
  }
  await reader.cancel();
  const [url = ""] = /http\S+/.exec(text) ?? [];
  return { child, url: new URL(url) };
}

Deno.test("the dashboard shows a real node and its pods, each user what it may list", async (t) => {
  using cluster = await openRealNode();
  const { connection: admin } = cluster;
  await using stack = new AsyncDisposableStack();
  const { name: namespace } = stack.use(await scratchNamespace(admin));
  const base = `/api/v1/namespaces/${namespace}`;
  const containers = [{ name: "app", request: "50m", limit: "200m" }];
  const body = loadPod({ name: "web", namespace, containers });
  await admin.request({ method: "POST", path: `${base}/pods`, body });

  await t.step("kubectl coalloc dashboard: the pod on its node, with updates", async () => {
    const { child, url } = await openDashboard();
    const opened = await fetch(url);
    await opened.body?.cancel();
    const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";");
    const get = (path: string): Promise<Response> =>
      fetch(new URL(path, url), { headers: { cookie } });
    const detail = await until("pod on the dashboard", async () => {
      const response = await get(`/api/pods/${namespace}/web`);
      const found = await response.json();
      return found.explanation?.nodeView && found.hour ? found : undefined;
    }, { timeoutMs: 60_000, everyMs: 1000 });
    assert.equal(detail.explanation.hasAllocation, true);
    const node = detail.explanation.node;
    const cluster = await (await get("/api/cluster")).json();
    assert.deepEqual(cluster.nodes.map((one: { node: string }) => one.node), [node]);
    for (const path of ["/", `/nodes/${node}`, "/pods", "/rightsizing", "/placement"]) {
      const response = await get(path);
      assert.equal(response.status, 200, await response.text());
    }
    const live = await get(`/live/pods/${namespace}/web`);
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
    const event = await reader?.read();
    assert.match(event?.value ?? "", /^event: page\ndata: "/);
    await reader?.cancel();
    child.kill("SIGINT");
    assert.equal((await child.status).code, 0);
  });

  await t.step("a token sees the namespaces in which its user may list pods", async () => {
    const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
    await admin.request({
      method: "POST",
      path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
      body: {
        metadata: { name: "view" },
        roleRef: role,
        subjects: [{ kind: "ServiceAccount", name: "default", namespace }],
      },
    });
    const { signal } = new AbortController();
    const user = connectUser({ program: "test", env: (name) => Deno.env.get(name) });
    stack.defer(() => user.close());
    const access = createDashboardAccess(user, { clock: systemClock, signal });
    const tunnel = await access.tunnel();
    stack.defer(() => tunnel.close());
    const narrow = await requestToken(admin, { namespace, account: "default" });
    const other = await requestToken(admin, { namespace: "default", account: "default" });
    const wide = await access.token();
    for (
      const [path, token, status] of [
        ["/api/cluster", undefined, 401],
        ["/api/cluster", "not-a-token", 401],
        ["/api/cluster", wide, 200],
        ["/api/cluster", narrow, 403],
        [`/api/pods/${namespace}/web`, narrow, 200],
        [`/api/pods/${namespace}/web`, other, 403],
        ["/api/pods/mbcas-system/none", narrow, 403],
      ] as const
    ) {
      const headers: Record<string, string> = token === undefined
        ? {}
        : { authorization: `Bearer ${token}` };
      const response = await fetch(`http://${tunnel.address}${path}`, { headers });
      assert.equal(response.status, status, `${path}: ${await response.text()}`);
    }
    const headers = { authorization: `Bearer ${narrow}` };
    const response = await fetch(`http://${tunnel.address}/api/pods`, { headers });
    const view: PodsView = await response.json();
    assert.deepEqual(view.pods.map(({ pod }) => pod), ["web"]);
  });
});
