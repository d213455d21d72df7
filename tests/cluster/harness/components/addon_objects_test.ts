import assert from "node:assert/strict";
import { addonObjects } from "./addon_objects.ts";

interface Item {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly spec?: Record<string, unknown>;
  readonly ports?: readonly { readonly name: string; readonly port: number }[];
  readonly roleRef?: { readonly name: string };
}

const items: readonly Item[] = JSON.parse(JSON.stringify(addonObjects({ ca: "PEM" })))["items"];

Deno.test({
  name: "addonObjects() gives each Service endpoints with ports of the same names",
  permissions: "none",
  fn() {
    const services = items.filter(({ kind }) => kind === "Service");
    assert.deepEqual(services.map(({ metadata }) => metadata.name), ["kube-dns", "metrics-server"]);
    assert.equal(services[0]?.spec?.["clusterIP"], "10.0.0.10");
    for (const { metadata, spec } of services) {
      const slice = items.find((item) =>
        item.metadata.labels?.["kubernetes.io/service-name"] === metadata.name
      );
      const ports = spec?.["ports"] as { name: string }[];
      assert.deepEqual(slice?.ports?.map(({ name }) => name), ports.map(({ name }) => name));
    }
  },
});

Deno.test({
  name: "addonObjects() binds only roles that it makes or that Kubernetes brings",
  permissions: "none",
  fn() {
    const made = new Set(
      items.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata.name),
    );
    made.add("extension-apiserver-authentication-reader");
    for (const { roleRef } of items) if (roleRef) assert.ok(made.has(roleRef.name), roleRef.name);
  },
});

Deno.test({
  name: "addonObjects() lets the API server check metrics-server's certificate",
  permissions: "none",
  fn() {
    const service = items.find(({ kind }) => kind === "APIService");
    assert.equal(atob(String(service?.spec?.["caBundle"])), "PEM");
    assert.equal(service?.spec?.["insecureSkipTLSVerify"], undefined);
  },
});
