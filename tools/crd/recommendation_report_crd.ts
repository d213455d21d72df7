/**
 * The CustomResourceDefinition of `RecommendationReport`.
 *
 * @module
 */
import { recommendationReportSchema } from "../../shared/api/recommendation_report.ts";
import { definition } from "./definition.ts";
import { type JSONValue, structuralSchema } from "./structural_schema.ts";

/** The definition, ready to be written as a manifest. */
export function recommendationReportCRD(): JSONValue {
  return definition({
    group: "optipod.io",
    kind: "RecommendationReport",
    plural: "recommendationreports",
    shortNames: ["recrep"],
    description: "What the workloads of a namespace should request, with all their containers. " +
      "Written by the controller; a namespace has one or more of them, recommendations-1 the first.",
    columns: [{
      name: "Age",
      path: ".metadata.creationTimestamp",
      description: "Time since the report was made",
      type: "date",
    }],
    fields: { workloads: structuralSchema(recommendationReportSchema.shape.workloads) },
    status: false,
  });
}
