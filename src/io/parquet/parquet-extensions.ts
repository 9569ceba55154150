/**
 * Logical types of Parquet that Arrow has no type for, as metadata of Arrow fields: under the keys and names of Arrow's
 * extension types where there are such (arrow.json, geoarrow.wkb), so that other programs know them, too. Joins and the
 * like leave metadata as it is, and a file that is written has the logical types again.
 */
import { type DataType, Type } from "@uwdata/flechette";
import type { LogicalType, SchemaElement } from "hyparquet";

const NAME = "ARROW:extension:name";
const METADATA = "ARROW:extension:metadata";

/** UUIDs are read as text. The extension arrow.uuid is of 16 bytes. */
const UUID_TEXT = "warpmap.uuid";
const UUID_BYTES = "arrow.uuid";
const JSON_TEXT = "arrow.json";
const GEO_BYTES = "geoarrow.wkb";

/** What a field says of a Parquet column besides its type, or null. */
export function metadataOf({
  logical_type: logical,
  converted_type: converted,
}: SchemaElement): Map<string, string> | null {
  switch (logical?.type ?? converted) {
    case "UUID":
      return new Map([[NAME, UUID_TEXT]]);
    case "JSON":
      return new Map([[NAME, JSON_TEXT]]);
    case "GEOMETRY":
    case "GEOGRAPHY":
      return new Map([
        [NAME, GEO_BYTES],
        [METADATA, geoMetadata(logical as GeoType)],
      ]);
    default:
      return null;
  }
}

type GeoType = Extract<LogicalType, { type: "GEOMETRY" | "GEOGRAPHY" }>;

/** As the specification of GeoArrow has it. The format's default for edges of a GEOGRAPHY is spherical. */
function geoMetadata(type: GeoType): string {
  const { crs } = type;
  const edges = type.type === "GEOGRAPHY" ? (type.algorithm ?? "SPHERICAL").toLowerCase() : undefined;
  return JSON.stringify({ ...(crs ? { crs } : {}), edges });
}

/** The logical type that a field's metadata says its values are of; undefined: what the Arrow type is. */
export function logicalTypeOf(
  type: DataType,
  metadata: ReadonlyMap<string, string> | null | undefined,
): LogicalType | undefined {
  const values = type.typeId === Type.Dictionary ? type.dictionary : type;
  const name = metadata?.get(NAME);
  if (name === UUID_TEXT && isText(values)) return { type: "UUID" };
  if (name === UUID_BYTES && values.typeId === Type.FixedSizeBinary && values.stride === 16)
    return { type: "UUID" };
  if (name === JSON_TEXT && isText(values)) return { type: "JSON" };
  if (name === GEO_BYTES && isBytes(values)) return geoType(metadata?.get(METADATA));
  return undefined;
}

function isText({ typeId }: DataType): boolean {
  return typeId === Type.Utf8 || typeId === Type.LargeUtf8 || typeId === Type.Utf8View;
}

function isBytes({ typeId }: DataType): boolean {
  return typeId === Type.Binary || typeId === Type.LargeBinary || typeId === Type.BinaryView;
}

const ALGORITHMS = ["SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY"] as const;

/** Metadata that is none says nothing. */
function geoType(metadata: string | undefined): LogicalType {
  let said: { crs?: unknown; edges?: unknown } = {};
  try {
    said = JSON.parse(metadata ?? "{}") ?? {};
  } catch {
    // a geometry all the same
  }
  const { crs, edges } = said;
  const name = typeof crs === "string" ? crs : crs ? JSON.stringify(crs) : undefined;
  const algorithm = ALGORITHMS.find((known) => known.toLowerCase() === edges);
  return algorithm ? { type: "GEOGRAPHY", crs: name, algorithm } : { type: "GEOMETRY", crs: name };
}

const UUID = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i;

/** The 16 bytes of a UUID; null where text is none. */
export function uuidBytes(text: string): Uint8Array | null {
  if (!UUID.test(text)) return null;
  const digits = text.replace(/-/g, "");
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}
