/**
 * Publishes what `deno task release:dry` has made: `deno task release:publish --repository OWNER/NAME`.
 *
 * @module
 */
import { z } from "zod";
import { VERSION } from "../../shared/version.ts";
import { PROGRAMS } from "../build/programs.ts";
import { goProgram } from "./go_program.ts";
import {
  CHART_FILE,
  imageName,
  RELEASE_FOLDER,
  releaseOptions,
  type ReleasePlace,
} from "./release_names.ts";

/** One command. */
export type Step = readonly [program: string, ...args: string[]];

/** Fails on a commit that is not this version's: nothing is pushed from it. */
export const ONLY_TAGGED: Step = [
  "git",
  "describe",
  "--tags",
  "--exact-match",
  "--match",
  `v${VERSION}`,
];

/** Where buildx writes the digest of a program's image. */
function metadataFile(program: string): string {
  return `build/${program}.json`;
}

/** Builds and pushes a program's image for both architectures, with its bill and provenance. */
export function pushImage(place: ReleasePlace, program: string): Step {
  return [
    ...["docker", "buildx", "build", "--platform", "linux/amd64,linux/arm64"] as const,
    ...["--target", program.replace("mbcas-", ""), "--tag", imageName(place, program)],
    // By it the registry shows the image beside the repository.
    ...["--label", `org.opencontainers.image.source=${place.home}`],
    ...["--sbom=true", "--provenance=mode=max", "--metadata-file", metadataFile(program)],
    ...["--push", "."],
  ];
}

/** The files of a release, its place and its images. */
export interface PublishInput {
  readonly place: ReleasePlace;
  /** Semantic version; one with a hyphen, such as `1.0.0-rc.1`, becomes a pre-release. */
  readonly version: string;
  /** Digest of each program's image. */
  readonly digests: ReadonlyMap<string, string>;
  /** Names in the release's folder. */
  readonly files: readonly string[];
}

/** Signs images and checksums, pushes the chart, and makes the release, without the archives of images. */
export function publishSteps(
  { place, version, digests, files }: PublishInput,
): readonly Step[] {
  const { registry } = place;
  const at = (file: string): string => `${RELEASE_FOLDER}/${file}`;
  const assets = files.filter((file) => !file.endsWith(".tar") && file !== "CHANGELOG.md");
  const signature = "SHA256SUMS.sigstore.json";
  return [
    ...[...digests].map(([program, digest]): Step => [
      ...["cosign", "sign", "--yes", "--recursive", `${registry}/${program}@${digest}`] as const,
    ]),
    ["helm", "push", at(CHART_FILE), `oci://${registry}/charts`],
    ["cosign", "sign-blob", "--yes", "--bundle", at(signature), at("SHA256SUMS")],
    [
      ...["gh", "release", "create", `v${version}`, "--verify-tag"] as const,
      ...(version.includes("-") ? ["--prerelease"] : []),
      ...["--title", `v${version}`, "--notes-file", at("CHANGELOG.md")],
      ...[...assets, signature].map(at),
    ],
  ];
}

const root = new URL("../../", import.meta.url);
const metadataSchema = z.object({ "containerimage.digest": z.string() });

async function perform([program, ...args]: Step): Promise<void> {
  console.log(`== ${program} ${args.join(" ")}`);
  const path = program === "helm" ? await goProgram("helm") : program;
  const { code } = await new Deno.Command(path, { args, cwd: root }).spawn().status;
  if (code === 0) return;
  console.error(`Cannot publish: ${program} ended with code ${code}`);
  Deno.exit(1);
}

async function publish(place: ReleasePlace): Promise<void> {
  await perform(ONLY_TAGGED);
  const digests = new Map<string, string>();
  for (const { name, image } of PROGRAMS) {
    if (!image) continue;
    await perform(pushImage(place, name));
    const metadata = await Deno.readTextFile(new URL(metadataFile(name), root));
    digests.set(name, metadataSchema.parse(JSON.parse(metadata))["containerimage.digest"]);
  }
  const made = Deno.readDir(new URL(RELEASE_FOLDER, root));
  const files = (await Array.fromAsync(made, ({ name }) => name)).sort();
  const steps = publishSteps({ place, version: VERSION, digests, files });
  for (const step of steps) await perform(step);
}

if (import.meta.main) await publish(releaseOptions("release:publish"));
