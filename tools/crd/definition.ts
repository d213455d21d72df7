/**
 * A CustomResourceDefinition of one version, from its parts.
 *
 * @module
 */
import type { JSONValue, StructuralSchema } from "./structural_schema.ts";

/** A column of `kubectl get`; `wide` ones show with `-o wide` only. */
export interface Column {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly type?: "date" | "number" | "integer";
  readonly wide?: boolean;
}

/** A namespaced kind. */
export interface KindOfObject {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly columns: readonly Column[];
  /** Fields beside apiVersion, kind and metadata. */
  readonly fields: Readonly<Record<string, StructuralSchema>>;
  /** Of the fields, those that must be there. */
  readonly required?: readonly string[];
  /** True: `status` is written through its own subresource. */
  readonly status: boolean;
  /** What `--field-selector` takes. */
  readonly selectable?: readonly string[];
}

/** The definition, ready to be written as a manifest. */
export function definition(kind: KindOfObject): JSONValue {
  const { group, plural, required, selectable, fields } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: ["coallocator"],
      },
      versions: [{
        name: "v1alpha1",
        served: true,
        storage: true,
        ...(kind.status ? { subresources: { status: {} } } : {}),
        ...(selectable === undefined
          ? {}
          : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
        additionalPrinterColumns: kind.columns.map(printerColumn),
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: kind.description,
            ...(required === undefined ? {} : { required }),
            properties: {
              apiVersion: { type: "string", description: `Always ${group}/v1alpha1.` },
              kind: { type: "string", description: `Always ${kind.kind}.` },
              metadata: { type: "object" },
              ...fields,
            },
          },
        },
      }],
    },
  };
}

function printerColumn({ name, path, description, type, wide = false }: Column): JSONValue {
  return {
    name,
    type: type ?? "string",
    jsonPath: path,
    description,
    ...(wide ? { priority: 1 } : {}),
  };
}
