/** Workloads as users of Spotalis write them: read as valid, and divided as their comments say. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { parseWorkload } from "../../adapters/kube/kinds/workloads.ts";
import { SPOT_PERCENTAGE } from "../../shared/api/placement_keys.ts";
import {
  checkEligibility,
  isPlacedKind,
  type LabeledObject,
  type Texts,
} from "../../shared/placement/eligibility.ts";
import { splitReplicas } from "../../shared/placement/split.ts";
import { render, renderTest } from "./rendered.ts";

const EXAMPLES = new URL("../../manifests/examples/spotalis/", import.meta.url);

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Texts;
    readonly annotations?: Texts;
  };
}

/** As they stand there: nothing is put between file and parser. */
const manifests: readonly Manifest[] = [...Deno.readDirSync(EXAMPLES)]
  .filter(({ name }) => name !== "kustomization.yaml")
  .flatMap(({ name }) => parseAllDocuments(Deno.readTextFileSync(new URL(name, EXAMPLES))))
  .map((document) => document.toJS());

function textsOf({ metadata: { labels = {}, annotations = {} } }: Manifest): LabeledObject {
  return { labels, annotations };
}

function placedOf(manifest: Manifest) {
  const { kind, metadata: { name, namespace = "" } } = manifest;
  assert.ok(isPlacedKind(kind));
  const around = manifests.find((one) =>
    one.kind === "Namespace" && one.metadata.name === namespace
  );
  assert.ok(around !== undefined, `${name} is in a namespace of the examples`);
  // As the API has it.
  const stored = { ...manifest.metadata, uid: name, resourceVersion: "1" };
  const { metadata, replicas } = parseWorkload({ ...manifest, metadata: stored }, kind);
  const { labels = {}, annotations } = metadata;
  const within = { name: namespace, metadata: textsOf(around) };
  const scope = { ownNamespace: "mbcas-system" };
  const { spec, ...left } = checkEligibility(
    { kind, namespace: within, labels, annotations },
    scope,
  );
  assert.ok(spec !== undefined && replicas !== undefined, `${name}: ${JSON.stringify(left)}`);
  const { window, paused } = spec;
  return { split: splitReplicas(replicas.wanted, spec), window, paused };
}

Deno.test("placementGate() takes each example of Spotalis, and divides it as it says", () => {
  const placed = manifests.filter(({ kind }) => isPlacedKind(kind));
  const found = Object.fromEntries(placed.map((one) => [one.metadata.name, placedOf(one)]));
  const always = { window: undefined, paused: false };
  assert.deepEqual(found, {
    api: { split: { spot: 7, "on-demand": 3 }, ...always },
    worker: { split: { spot: 1, "on-demand": 3 }, ...always },
    queue: {
      split: { spot: 2, "on-demand": 0 },
      window: { schedule: "CRON_TZ=Europe/Berlin 0 1 * * *", durationMs: 14_400_000 },
      paused: false,
    },
    db: {
      split: { spot: 1, "on-demand": 2 },
      window: { schedule: "0 2 * * SUN", durationMs: 9_000_000 },
      paused: true,
    },
  });
  const shares = placed.map((one) => textsOf(one).annotations[SPOT_PERCENTAGE] ?? "");
  assert.ok(shares.some((text) => text.endsWith("%")) && shares.some((text) => /\d$/.test(text)));
});

renderTest("the examples of Spotalis are rendered as they stand in their files", async () => {
  const key = ({ kind, metadata: { name } }: Manifest): string => `${kind} ${name}`;
  const rendered = await render("examples/spotalis") as readonly Manifest[];
  const sorted = (all: readonly Manifest[]) => all.toSorted((a, b) => key(a) < key(b) ? -1 : 1);
  assert.deepEqual(sorted(rendered), sorted(manifests));
});
