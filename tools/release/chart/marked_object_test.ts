import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import {
  inlined,
  inlinedItems,
  keysUnder,
  merged,
  templateText,
  valueOf,
  yamlOf,
} from "./marked_object.ts";

pure("templateText() puts under conditions what a version adds, and neighbours under one", () => {
  const env = (...names: string[]) => ({ env: names.map((name) => ({ name })), replicas: 2 });
  const versions = [
    { condition: "", value: env("a") },
    { condition: ".x", value: env("a", "b", "c") },
    { condition: ".y", value: { ...env("a", "b", "c", "d"), note: "on {{ it }}" } },
  ];
  assert.equal(
    templateText(merged(versions)),
    `env:
  - name: a
{{- if .x }}
  - name: b
  - name: c
{{- end }}
{{- if .y }}
  - name: d
{{- end }}
replicas: 2
{{- if .y }}
note: on {{ "{{" }} it }}
{{- end }}
`,
  );
});

pure("templateText() writes values, and quotes what YAML 1.1 takes for a switch", () => {
  const object = {
    image: valueOf(".Values.image"),
    ...keysUnder(".Values.pull", { pull: valueOf(".Values.pull") }),
    spec: { resources: yamlOf(".Values.resources"), value: "on", ...inlined(".Values.more") },
    list: [inlinedItems(".Values.items"), "at own"],
    name: "own",
  };
  assert.equal(
    templateText(object, { own: ".Name" }),
    `image: {{ .Values.image }}
{{- if .Values.pull }}
pull: {{ .Values.pull }}
{{- end }}
spec:
  resources:
  {{- toYaml .Values.resources | nindent 4 }}
  value: "on"
{{- with .Values.more }}
{{- toYaml . | nindent 2 }}
{{- end }}
list:
{{- with .Values.items }}
{{- toYaml . | nindent 2 }}
{{- end }}
  - at {{ .Name }}
name: {{ .Name | quote }}
`,
  );
});

pure("merged() refuses a component that changes a value", () => {
  for (const [before, after] of [[{ a: 1 }, { a: 2 }], [{ a: [1] }, { a: [2, 1] }]]) {
    const versions = [{ condition: "", value: before }, { condition: ".x", value: after }];
    assert.throws(() => merged(versions), /changes \/a/);
  }
});
