/** What kustomize makes of the manifests; needs kubectl, but no cluster. */
import assert from "node:assert/strict";
import { controllerRights } from "../../controller/rights.ts";
import { componentNames } from "../cluster/rendered_manifests.ts";
import {
  one,
  render,
  type Rendered,
  renderTest as test,
  renderWith,
  rightsOf,
} from "./rendered.ts";

const root = new URL("../../", import.meta.url).pathname;

function workloads(objects: readonly Rendered[]): Rendered[] {
  return objects.filter(({ kind }) => kind === "DaemonSet" || kind === "Deployment");
}

test("overlays/kind runs images that were loaded, and asks no registry", async () => {
  const images = workloads(await render("overlays/kind")).map(({ spec }) => {
    const [{ image, imagePullPolicy }] = spec.template.spec.containers;
    return `${image} ${imagePullPolicy}`;
  });
  assert.deepEqual(images.sort(), ["mbcas-agent:dev Never", "mbcas-controller:dev Never"]);
});

test("overlays/release runs images of the project's version from a registry", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  const objects = await render("overlays/release");
  for (const { metadata, spec } of workloads(objects)) {
    const [{ image }] = spec.template.spec.containers;
    assert.match(
      image,
      new RegExp(`^[a-z.]+/.*/${metadata.name}:${version.replaceAll(".", "\\.")}$`),
    );
  }
  for (const { metadata, kind } of [...objects, ...await renderWith(componentNames())]) {
    const { name, labels } = metadata;
    assert.equal(labels?.["app.kubernetes.io/version"], version, `${kind} ${name}`);
    assert.equal(labels?.["app.kubernetes.io/part-of"], "coallocator", `${kind} ${name}`);
  }
});

test("each workload's pods are unprivileged, read-only and found by their labels", async () => {
  const found = workloads(await render("overlays/release"));
  assert.deepEqual(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [
    "DaemonSet mbcas-agent",
    "Deployment mbcas-controller",
  ]);
  for (const { metadata, spec } of found) {
    const { template, selector } = spec;
    assert.deepEqual(selector.matchLabels, { "app.kubernetes.io/name": metadata.name });
    const { version, ...labels } = Object.fromEntries(
      Object.entries(template.metadata.labels).map(([key, value]) => [key.split("/")[1], value]),
    );
    assert.equal(typeof version, "string");
    const component = metadata.name.replace("mbcas-", "");
    assert.deepEqual(labels, { name: metadata.name, component, "part-of": "coallocator" });
    const { securityContext, containers, hostNetwork, hostPID } = template.spec;
    assert.deepEqual([hostNetwork, hostPID], [undefined, undefined]);
    assert.deepEqual(securityContext, {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    });
    const [container, ...others] = containers;
    assert.deepEqual(others, []);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    assert.ok(container.resources.requests.cpu && container.resources.limits.memory);
    assert.equal(container.livenessProbe.httpGet.path, "/healthz");
    assert.equal(container.readinessProbe.httpGet.path, "/readyz");
    assert.deepEqual(container.args, ["--config=/etc/mbcas/config.yaml"]);
  }
});

test("the agent runs on every Linux node and sees its cgroup and kernel files only to read", async () => {
  const { spec } = one(await render("base"), "DaemonSet", "mbcas-agent");
  assert.equal(spec.updateStrategy.rollingUpdate.maxUnavailable, "10%");
  const pod = spec.template.spec;
  assert.equal(pod.priorityClassName, "system-node-critical");
  assert.deepEqual(pod.tolerations, [{ operator: "Exists" }]);
  assert.deepEqual(pod.nodeSelector, { "kubernetes.io/os": "linux" });
  const host = pod.volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
  // The folder sched_ext is not there on older kernels, and no type of hostPath lets it be absent.
  assert.deepEqual(host, ["/sys/fs/cgroup", "/sys/kernel"]);
  const mounts = pod.containers[0].volumeMounts.slice(0, 2);
  assert.deepEqual(mounts.map(({ name, mountPath, readOnly }) => [name, mountPath, readOnly]), [
    ["cgroup", "/host/cgroup", true],
    ["kernel", "/host/kernel", true],
  ]);
});

test("the controller has two replicas, which are spread and not evicted together", async () => {
  const objects = await render("base");
  const { spec } = one(objects, "Deployment", "mbcas-controller");
  assert.equal(spec.replicas, 2);
  assert.equal(
    spec.template.spec.topologySpreadConstraints[0].topologyKey,
    "kubernetes.io/hostname",
  );
  assert.equal(one(objects, "PodDisruptionBudget", "mbcas-controller").spec.maxUnavailable, 1);
});

test("the agent's rights are these and no others, none of them on pods", async () => {
  const objects = await render("base");
  assert.deepEqual(rightsOf(one(objects, "ClusterRole", "mbcas-agent")).sort(), [
    "get /nodes",
    "list allocation.mbcas.io/podallocations",
    "patch allocation.mbcas.io/podallocations",
    "watch allocation.mbcas.io/podallocations",
  ]);
  assert.deepEqual(rightsOf(one(objects, "Role", "mbcas-agent")).sort(), [
    "create coordination.k8s.io/leases",
    "patch coordination.k8s.io/leases",
  ]);
});

test("the policy over allocations is asked about their status too", async () => {
  const objects = await render("base");
  const { spec } = one(objects, "ValidatingAdmissionPolicy", "mbcas-agent-allocations");
  assert.equal(spec.failurePolicy, "Fail");
  const [rule, ...more] = spec.matchConstraints.resourceRules;
  assert.deepEqual(more, []);
  assert.deepEqual(rule?.resources, ["podallocations", "podallocations/status"]);
  assert.deepEqual(rule?.operations, ["CREATE", "UPDATE"]);
});

test("the controller has each right that it asks for at its start, and changes pods by resize only", async () => {
  const objects = await render("base");
  const wide = rightsOf(one(objects, "ClusterRole", "mbcas-controller"));
  const narrow = rightsOf(one(objects, "Role", "mbcas-controller"));
  const asked = controllerRights({ namespace: "mbcas-system", configMap: "mbcas-config" });
  assert.ok(asked.length > 10);
  for (const { verb, group, resource, subresource, namespace } of asked) {
    const right = `${verb} ${group}/${[resource, subresource].filter(Boolean).join("/")}`;
    assert.ok((namespace === undefined ? wide : [...wide, ...narrow]).includes(right), right);
  }
  const writes = [...wide, ...narrow].filter((right) => !/^(get|list|watch) /.test(right));
  assert.deepEqual(writes.filter((right) => right.includes("/pods")), ["patch /pods/resize"]);
});

test("both programs reach names and API servers of common clusters, and nothing else", async () => {
  const rows: readonly (readonly [to: string, port: string, reached: boolean])[] = [
    ["kube-system", "53 UDP", true],
    ["kube-system", "53 TCP", true],
    ["openshift-dns", "5353 UDP", true],
    ["openshift-dns", "5353 TCP", true],
    ["169.254.20.10/32", "53 UDP", true],
    ["shop", "53 UDP", false],
    ["169.254.169.254/32", "53 UDP", false],
    ["any", "443 TCP", true],
    ["any", "6443 TCP", true],
    ["any", "8443 TCP", true],
    ["any", "16443 TCP", true],
    ["any", "80 TCP", false],
    ["kube-system", "9090 TCP", false],
  ];
  const objects = await render("base");
  for (const name of ["mbcas-agent", "mbcas-controller"]) {
    const { egress } = one(objects, "NetworkPolicy", name).spec;
    const open = egress.flatMap(({ to, ports }) => {
      const places = to?.flatMap(({ namespaceSelector, ipBlock }) => [
        ...namespaceSelector?.matchExpressions?.flatMap(({ values }) => values) ?? [],
        ...ipBlock === undefined ? [] : [ipBlock.cidr],
      ]) ?? ["any"];
      return places.flatMap((place) =>
        ports.map(({ port, protocol }) => `${place} ${port} ${protocol}`)
      );
    });
    for (const [to, port, reached] of rows) {
      const found = [`${to} ${port}`, `any ${port}`].some((way) => open.includes(way));
      assert.equal(found, reached, `${name} to ${to} ${port}`);
    }
  }
});

test("components add what they say: variables, monitors, a way out", async () => {
  const objects = await renderWith(["dry-run", "prometheus", "metric-queries"]);
  const { spec } = one(objects, "Deployment", "mbcas-controller");
  assert.deepEqual(spec.template.spec.containers[0].env.at(-1), {
    name: "MBCAS_DRY_RUN",
    value: "true",
  });
  const [usual, added] = [await render("base"), objects].map((all) =>
    one(all, "NetworkPolicy", "mbcas-controller").spec.egress
  );
  const monitoring = { "kubernetes.io/metadata.name": "monitoring" };
  assert.deepEqual(added, [...usual ?? [], {
    to: [{ namespaceSelector: { matchLabels: monitoring } }],
    ports: [{ port: 9090, protocol: "TCP" }],
  }]);
  assert.ok(!usual?.some(({ ports }) => ports.some(({ port }) => port === 9090)));
  for (const name of ["mbcas-agent", "mbcas-controller"]) {
    assert.equal(one(objects, "PodMonitor", name).spec.podMetricsEndpoints[0].port, "http");
  }
});

test("examples make pods that the market can manage: Burstable with a CPU limit", async () => {
  const found = workloads(await render("examples"));
  assert.equal(found.length, 4);
  for (const { metadata, spec } of found) {
    const [{ resources }] = spec.template.spec.containers;
    assert.ok(resources.limits.cpu, metadata.name);
    assert.notDeepEqual(resources.limits, resources.requests);
  }
});
