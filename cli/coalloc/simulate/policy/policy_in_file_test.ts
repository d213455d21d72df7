import assert from "node:assert/strict";
import { policyInFile } from "./policy_in_file.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const POLICY = `kind: OptimizationPolicy
metadata: {name: web}
spec:
  mode: Auto
  metricsConfig: {provider: prometheus}
  selector: {namespaces: {allow: [shop]}}
  resourceBounds: {cpu: {min: 50m, max: 4}, memory: {min: 64Mi, max: 4Gi}}
`;

Deno.test({
  name: "policyInFile() finds the only policy among other objects",
  permissions: PURE,
  fn() {
    const { name, policy } = policyInFile(`kind: Namespace\n---\n${POLICY}---\n`, "f");
    assert.deepEqual([name, policy.percentile], ["web", "P90"]);
    assert.equal(policyInFile(POLICY.replace("metadata: {name: web}\n", ""), "f").name, "f");
  },
});

Deno.test({
  name: "policyInFile() refuses other files with their path and what is wrong",
  permissions: PURE,
  fn() {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["", /0 objects .*OptimizationPolicy/],
      ["kind: Namespace", /0 objects/],
      [`${POLICY}---\n${POLICY}`, /2 objects/],
      ["a: [", /YAML: /],
      [POLICY.replace("Auto", "Often"), /spec\.mode .*"Often": .*Auto/],
      [
        POLICY.replace("Auto", "Often").replace("50m", "none"),
        /spec\.mode .*; spec\.resourceBounds\.cpu\.min .*"none"/,
      ],
    ];
    for (const [text, message] of wrong) {
      assert.throws(() => policyInFile(text, "f"), (error: Error) => {
        assert.equal(error.name, "CommandProblem");
        assert.match(error.message, message);
        assert.match(error.message, /^Cannot replay policy "f": [^\n]*$/);
        return true;
      });
    }
  },
});
