/**
 * The software bill of materials: the npm packages in the shipped programs and the runtime, as CycloneDX
 * JSON.
 *
 * @module
 */
import { Enums, Models, Serialize, SPDX, Spec } from "@cyclonedx/cyclonedx-library";
import { z } from "zod";
import { run } from "../../tests/cluster/harness/shell.ts";
import { type Program, PROGRAMS } from "../build/programs.ts";

/** A package of a program's graph, as `deno info --json` lists it. */
export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Keys of others. */
  readonly dependencies: readonly string[];
  /** Subresource integrity, as `deno.lock` has it: `sha512-…`. */
  readonly integrity: string;
  /** An SPDX expression, as its `package.json` has it. */
  readonly license?: string;
}

/** A program and the packages that are in its bundle. */
export interface ProgramPackages {
  readonly name: string;
  /** Keys of packages. */
  readonly contains: readonly string[];
}

/** The programs and packages that a bill lists. */
export interface BillContent {
  readonly version: string;
  readonly programs: readonly ProgramPackages[];
  /** Those that a program contains, by key; their dependencies that none contains are left out. */
  readonly packages: ReadonlyMap<string, NpmPackage>;
}

/** The bill's text: the programs with the packages that they contain, and the runtime. */
export function billOfMaterials({ version, programs, packages }: BillContent): string {
  const { Application } = Enums.ComponentType;
  const components = new Map(
    [...packages].map(([key, found]) => [key, packageComponent(key, found)]),
  );
  const componentOf = (key: string): Models.Component => {
    const found = components.get(key);
    if (found === undefined) throw new Error(`Cannot list ${key}: it is not in the graph`);
    return found;
  };
  for (const [key, { dependencies }] of packages) {
    for (const one of dependencies) {
      const found = components.get(one);
      if (found !== undefined) componentOf(key).dependencies.add(found.bomRef);
    }
  }
  const own = (name: string): Models.Component =>
    new Models.Component(Application, name, {
      version,
      bomRef: name,
      licenses: licensesOf("Apache-2.0"),
    });
  const bom = new Models.Bom();
  const whole = bom.metadata.component = own("coallocator");
  const runtime = runtimeComponent();
  for (const { name, contains } of programs) {
    const program = own(name);
    program.dependencies.add(runtime.bomRef);
    for (const key of contains) program.dependencies.add(componentOf(key).bomRef);
    whole.dependencies.add(program.bomRef);
    bom.components.add(program);
  }
  for (const component of [runtime, ...components.values()]) bom.components.add(component);
  const normalize = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normalize).serialize(bom, { sortLists: true, space: 2 });
}

/** Binaries and images have this Deno in them. */
function runtimeComponent(): Models.Component {
  const version = Deno.version.deno;
  return new Models.Component(Enums.ComponentType.Platform, "deno", {
    version,
    bomRef: "deno",
    purl: `pkg:github/denoland/deno@v${version}`,
    licenses: licensesOf("MIT"),
  });
}

/** An identifier of SPDX, or an expression. */
function licensesOf(text: string | undefined): Models.LicenseRepository {
  if (text === undefined) return new Models.LicenseRepository();
  const license = SPDX.isSupportedSpdxId(text)
    ? new Models.SpdxLicense(text)
    : new Models.LicenseExpression(text);
  return new Models.LicenseRepository([license]);
}

function packageComponent(
  bomRef: string,
  { name, version, integrity, license }: NpmPackage,
): Models.Component {
  const [scope, short] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const digest = Uint8Array.fromBase64(integrity.replace(/^sha512-/, "")).toHex();
  return new Models.Component(Enums.ComponentType.Library, short ?? name, {
    ...(scope === undefined ? {} : { group: scope }),
    version,
    bomRef,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], digest]]),
    licenses: licensesOf(license),
  });
}

const root = new URL("../../", import.meta.url).pathname;

const graphSchema = z.object({
  npmPackages: z.record(
    z.string(),
    z.object({
      name: z.string(),
      version: z.string(),
      dependencies: z.array(z.string()),
      localPath: z.string(),
    }),
  ),
});
const lockSchema = z.object({ npm: z.record(z.string(), z.object({ integrity: z.string() })) });
const licenseSchema = z.object({ license: z.string().optional().catch(undefined) });

/** The programs, and all packages in their bundles. Throws an `Error` where one is not in `deno.lock`. */
export async function programPackages(): Promise<Omit<BillContent, "version">> {
  const { npm } = lockSchema.parse(await readJSON(`${root}deno.lock`));
  const packages = new Map<string, NpmPackage>();
  const programs: ProgramPackages[] = [];
  for (const program of PROGRAMS) {
    const command = [Deno.execPath(), "info", "--json", `${root}${program.entry}`];
    const graph = graphSchema.parse(JSON.parse(await run(command, { directory: root })));
    const bundled = await bundledPackages(program);
    const contains: string[] = [];
    for (const [key, { localPath, ...found }] of Object.entries(graph.npmPackages)) {
      if (!bundled.has(`${found.name}/${found.version}`)) continue;
      const integrity = npm[key]?.integrity;
      if (integrity === undefined) throw new Error(`Cannot list ${key}: deno.lock lacks it`);
      const { license } = licenseSchema.parse(await readJSON(`${localPath}/package.json`));
      packages.set(key, { ...found, integrity, ...(license === undefined ? {} : { license }) });
      contains.push(key);
    }
    programs.push({ name: program.name, contains: contains.sort() });
  }
  return { programs, packages };
}

/** A comment of the bundler before each module, with its path in Deno's cache. */
const PACKAGE_PATH = /^\s*\/\/ .*\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+\/[^/]+)\//gm;

/** `name/version` of each package of which the bundler takes a module. */
async function bundledPackages({ entry }: Program): Promise<ReadonlySet<string>> {
  const command = [Deno.execPath(), "bundle", "--quiet", "--platform=deno", entry];
  const text = await run(command, { directory: root });
  const found = new Set([...text.matchAll(PACKAGE_PATH)].map(([, name = ""]) => name));
  if (found.size === 0) throw new Error(`Cannot list packages: the bundle of ${entry} names none`);
  return found;
}

async function readJSON(path: string): Promise<unknown> {
  return JSON.parse(await Deno.readTextFile(path));
}
