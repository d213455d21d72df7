import assert from "node:assert/strict";
import { BINARIES, type Binary, binaryPaths, cacheFolder, releaseAddress } from "./binary.ts";
import { COMPONENT_NAMES } from "../components/component.ts";

const binary = (name: string): Binary => {
  const found = BINARIES.find((each) => each.name === name);
  assert.ok(found);
  return found;
};

Deno.test({
  name: "binaryPaths() looks into KUBEBUILDER_ASSETS before the cache",
  permissions: "none",
  fn() {
    assert.deepEqual(binaryPaths(binary("kubelet"), { assets: "/assets", home: "/home/me" }), [
      "/assets/kubelet",
      "/home/me/.cache/coallocator/kubernetes/v1.36.3/kubelet",
    ]);
    assert.deepEqual(binaryPaths(binary("coredns"), { assets: "", cacheHome: "/cache" }), [
      "/cache/coallocator/coredns/v1.14.6/coredns",
    ]);
  },
});

Deno.test({
  name: "cacheFolder() takes XDG_CACHE_HOME, else the home, else root's home",
  permissions: "none",
  fn() {
    assert.equal(cacheFolder({ cacheHome: "/c", home: "/h" }), "/c/coallocator");
    assert.equal(cacheFolder({ cacheHome: "", home: "/h" }), "/h/.cache/coallocator");
    assert.equal(cacheFolder({}), "/root/.cache/coallocator");
  },
});

Deno.test({
  name: "BINARIES holds every component but containerd, and no two in one place",
  permissions: "none",
  fn() {
    const names = new Set<string>(BINARIES.map(({ name }) => name));
    for (const name of COMPONENT_NAMES) assert.equal(names.has(name), name !== "containerd", name);
    const paths = BINARIES.map((each) => binaryPaths(each, {})[0]);
    assert.equal(new Set(paths).size, BINARIES.length);
  },
});

Deno.test({
  name: "releaseAddress() is where dl.k8s.io has a version's binaries",
  permissions: "none",
  fn() {
    assert.equal(
      releaseAddress(binary("kube-proxy"), "arm64"),
      "https://dl.k8s.io/v1.36.3/bin/linux/arm64/kube-proxy",
    );
  },
});
