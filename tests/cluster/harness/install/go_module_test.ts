import assert from "node:assert/strict";
import { BINARIES, type Binary } from "./binary.ts";
import { goModule, stagingModules } from "./go_module.ts";

const GO_MOD = `module k8s.io/kubernetes

go 1.26.0

require (
	k8s.io/api v0.0.0
	k8s.io/client-go v0.0.0 // indirect
	k8s.io/klog/v2 v2.140.0
	k8s.io/utils v0.0.0-20260210185600-b8788abfbbc2
	sigs.k8s.io/yaml v0.0.0
)
`;

const binary = (name: string): Binary => {
  const found = BINARIES.find((each) => each.name === name);
  assert.ok(found);
  return found;
};

Deno.test({
  name: "stagingModules() lists those required as exactly v0.0.0, not those of a longer version",
  permissions: "none",
  fn() {
    assert.deepEqual(stagingModules(GO_MOD), ["k8s.io/api", "k8s.io/client-go"]);
  },
});

Deno.test({
  name: "goModule() replaces Kubernetes' staging modules by their published versions",
  permissions: "none",
  fn() {
    const { files, linkerFlags } = goModule(binary("kubelet"), GO_MOD);
    const text = files["go.mod"] ?? "";
    assert.match(text, /^tool k8s\.io\/kubernetes\/cmd\/kubelet$/m);
    assert.match(text, /^require k8s\.io\/kubernetes v1\.36\.3$/m);
    assert.match(text, /^replace k8s\.io\/api => k8s\.io\/api v0\.36\.3$/m);
    assert.match(text, /^go 1\.26\.0$/m);
    assert.equal(text.match(/^replace/gm)?.length, 2);
    assert.ok(linkerFlags.includes("component-base/version.gitVersion=v1.36.3"));
    assert.ok(linkerFlags.includes("component-base/version.gitMinor=36"));
  },
});

Deno.test({
  name: "goModule() builds CoreDNS from a main function of its own, without staging modules",
  permissions: "none",
  fn() {
    const { files } = goModule(binary("coredns"), "module github.com/coredns/coredns\n");
    assert.ok(files["main.go"]?.includes("plugin/kubernetes"));
    assert.doesNotMatch(files["go.mod"] ?? "", /^(tool|replace)/m);
  },
});
