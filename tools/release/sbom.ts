/**
 * The software bill of materials: the npm packages in the shipped programs, as CycloneDX JSON.
 *
 * @module
 */
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { z } from "zod";
import { run } from "../../tests/cluster/harness/shell.ts";
import { PROGRAMS } from "../build/programs.ts";

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

/** A program and the packages that its modules import. */
export interface ProgramPackages {
  readonly name: string;
  /** Keys of packages. */
  readonly imports: readonly string[];
}

/** What a bill lists. */
export interface BillContent {
  readonly version: string;
  readonly programs: readonly ProgramPackages[];
  /** By key. */
  readonly packages: ReadonlyMap<string, NpmPackage>;
}

/** The bill's text: the programs with what they import, directly and through others. */
export function billOfMaterials({ version, programs, packages }: BillContent): string {
  const components = new Map<string, Models.Component>();
  const componentOf = (key: string): Models.Component => {
    const known = components.get(key);
    if (known !== undefined) return known;
    const found = packages.get(key);
    if (found === undefined) throw new Error(`Cannot list ${key}: it is not in the graph`);
    const component = packageComponent(key, found);
    components.set(key, component);
    for (const dependency of found.dependencies) {
      component.dependencies.add(componentOf(dependency).bomRef);
    }
    return component;
  };
  const bom = new Models.Bom();
  const { Application } = Enums.ComponentType;
  const whole = new Models.Component(Application, "coallocator", {
    version,
    bomRef: "coallocator",
  });
  bom.metadata.component = whole;
  for (const { name, imports } of programs) {
    const program = new Models.Component(Application, name, { version, bomRef: name });
    for (const key of imports) program.dependencies.add(componentOf(key).bomRef);
    whole.dependencies.add(program.bomRef);
    bom.components.add(program);
  }
  for (const component of components.values()) bom.components.add(component);
  const normalize = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normalize).serialize(bom, { sortLists: true, space: 2 });
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
    licenses: new Models.LicenseRepository(
      license === undefined ? [] : [new Models.LicenseExpression(license)],
    ),
  });
}

const root = new URL("../../", import.meta.url).pathname;

const graphSchema = z.object({
  modules: z.array(z.object({ npmPackage: z.string().optional() })),
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

/** The programs, and all packages of their graphs. Throws an `Error` where one is not in `deno.lock`. */
export async function programPackages(): Promise<Omit<BillContent, "version">> {
  const { npm } = lockSchema.parse(await readJSON(`${root}deno.lock`));
  const packages = new Map<string, NpmPackage>();
  const programs: ProgramPackages[] = [];
  for (const { name, entry } of PROGRAMS) {
    const command = [Deno.execPath(), "info", "--json", `${root}${entry}`];
    const graph = graphSchema.parse(JSON.parse(await run(command, { directory: root })));
    const imports = graph.modules.flatMap(({ npmPackage }) => npmPackage ?? []);
    programs.push({ name, imports: [...new Set(imports)].sort() });
    for (const [key, { localPath, ...found }] of Object.entries(graph.npmPackages)) {
      const integrity = npm[key]?.integrity;
      if (integrity === undefined) throw new Error(`Cannot list ${key}: deno.lock lacks it`);
      const { license } = licenseSchema.parse(await readJSON(`${localPath}/package.json`));
      packages.set(key, { ...found, integrity, ...(license === undefined ? {} : { license }) });
    }
  }
  return { programs, packages };
}

async function readJSON(path: string): Promise<unknown> {
  return JSON.parse(await Deno.readTextFile(path));
}
