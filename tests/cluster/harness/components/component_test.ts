import assert from "node:assert/strict";
import { certificateSpecs, signArguments } from "./certificates.ts";
import { component, COMPONENT_NAMES, componentNamed, PHASES } from "./component.ts";
import { instanceNamed } from "../instance.ts";
import { KUBECONFIG_USERS } from "./kubeconfig.ts";
import { nodeFiles } from "../node_files.ts";

const instance = instanceNamed("trial");

Deno.test({
  name: "component() names only certificates, kubeconfigs and files that the harness makes",
  permissions: "none",
  fn() {
    const files = nodeFiles(instance, {
      cpuManager: "none",
      cpuQuota: "on",
      cniFolder: "/cni",
      snapshotter: "native",
    });
    const certificates = ["ca", "front-proxy-ca", ...certificateSpecs(instance).map((c) => c.name)];
    const made = new Set([
      ...Object.keys(files),
      ...KUBECONFIG_USERS.map((user) => `${user}.kubeconfig`),
      ...certificates.flatMap((name) => [`pki/${name}.crt`, `pki/${name}.key`]),
      ...["pki/service-account.key", "pki/service-account.pub"],
      // Made by the components themselves.
      ...["etcd", "kubelet", "kubelet-pki", "audit.log", "containerd.sock"],
    ]);
    for (const name of COMPONENT_NAMES) {
      for (const argument of component(name, instance).args) {
        const path = argument.split(`${instance.directory}/`)[1];
        if (path !== undefined) assert.ok(made.has(path), `${name} ${argument}`);
      }
    }
  },
});

Deno.test({
  name: "component() gives each flag once",
  permissions: "none",
  fn() {
    for (const name of COMPONENT_NAMES) {
      const flags = component(name, instance).args.map((argument) => argument.split("=")[0]);
      assert.deepEqual(flags, [...new Set(flags)], name);
    }
  },
});

Deno.test({
  name: "PHASES starts what others need before them",
  permissions: "none",
  fn() {
    const phase = (name: string): number =>
      PHASES.findIndex((names) => names.some((each) => each === name));
    assert.ok(phase("etcd") < phase("kube-apiserver"));
    assert.ok(phase("containerd") < phase("kubelet"));
    for (const name of ["kubelet", "kube-proxy", "coredns", "kube-scheduler"]) {
      assert.ok(phase("kube-apiserver") < phase(name), name);
    }
  },
});

Deno.test({
  name: "componentNamed() refuses an unknown name and lists the known ones",
  permissions: "none",
  fn() {
    assert.equal(componentNamed("etcd"), "etcd");
    assert.throws(() => componentNamed("docker"), /docker.*kube-apiserver/);
  },
});

Deno.test({
  name:
    "certificateSpecs() makes a certificate for each kubeconfig, and the kubelet's for its node",
  permissions: "none",
  fn() {
    const specs = certificateSpecs(instance);
    for (const user of KUBECONFIG_USERS) assert.ok(specs.some(({ name }) => name === user), user);
    const kubelet = specs.find(({ name }) => name === "kubelet");
    assert.equal(kubelet?.commonName, "system:node:trial-node");
    assert.equal(kubelet?.organization, "system:nodes");
  },
});

Deno.test({
  name: "signArguments() puts group and user into the subject, and names only where there are any",
  permissions: "none",
  fn() {
    const signed = signArguments({ name: "x", commonName: "user", organization: "group" });
    assert.equal(signed[signed.indexOf("-subj") + 1], "/O=group/CN=user");
    assert.equal(signed[signed.indexOf("-CA") + 1], "ca.crt");
    assert.ok(!signed.some((argument) => argument.startsWith("subjectAltName")));
    const alternativeNames = ["DNS:a", "IP:10.0.0.1"];
    const server = signArguments({ name: "x", commonName: "x", alternativeNames });
    assert.ok(server.includes("subjectAltName=DNS:a,IP:10.0.0.1"));
  },
});
