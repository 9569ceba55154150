/**
 * Arrow data types in flechette's form (plain objects with a `typeId`): how wide their values are, what they are called
 * in messages, and the way there from apache-arrow's type objects. apache-arrow itself is never imported.
 */
import * as arrow from "@uwdata/flechette";
import {
  type DataType,
  type Field,
  type IntBitWidth,
  IntervalUnit,
  type Precision_,
  type TimeUnit_,
  Type,
} from "@uwdata/flechette";
import { ValidationError } from "../errors.js";

/** The type of a dictionary's values, or the type itself. */
export function valueType(type: DataType): DataType {
  return type.typeId === Type.Dictionary ? valueType(type.dictionary) : type;
}

/** Bytes per value of a fixed-width type, or null for every other type. Bool is not one: its values are bits. */
export function fixedWidth(type: DataType): number | null {
  switch (type.typeId) {
    case Type.Int:
    case Type.Time:
    case Type.Decimal:
      return type.bitWidth / 8;
    case Type.Float:
      return 2 << type.precision;
    case Type.Date:
      return type.unit === arrow.DateUnit.DAY ? 4 : 8;
    case Type.Timestamp:
    case Type.Duration:
      return 8;
    case Type.Interval:
      return type.unit === IntervalUnit.YEAR_MONTH ? 4 : type.unit === IntervalUnit.DAY_TIME ? 8 : 16;
    case Type.FixedSizeBinary:
      return type.stride;
    default:
      return null;
  }
}

const unitNames = ["s", "ms", "us", "ns"];

/** What a type is called in messages: `int32`, `timestamp[ms, UTC]`, `decimal128(10, 2)`, `dictionary of utf8`. */
export function typeName(type: DataType): string {
  switch (type.typeId) {
    case Type.Int:
      return `${type.signed ? "int" : "uint"}${type.bitWidth}`;
    case Type.Float:
      return `float${16 << type.precision}`;
    case Type.Decimal:
      return `decimal${type.bitWidth}(${type.precision}, ${type.scale})`;
    case Type.Date:
      return type.unit === arrow.DateUnit.DAY ? "date32" : "date64";
    case Type.Time:
      return `time${type.bitWidth}[${unitNames[type.unit]}]`;
    case Type.Timestamp:
      return `timestamp[${unitNames[type.unit]}${type.timezone ? `, ${type.timezone}` : ""}]`;
    case Type.Duration:
      return `duration[${unitNames[type.unit]}]`;
    case Type.Dictionary:
      return `dictionary of ${typeName(type.dictionary)}`;
    case Type.FixedSizeBinary:
      return `fixed-size binary(${type.stride})`;
    default:
      return plainNames[type.typeId] ?? `type ${type.typeId}`;
  }
}

const plainNames: Readonly<Record<number, string>> = {
  [Type.Null]: "null",
  [Type.Bool]: "bool",
  [Type.Binary]: "binary",
  [Type.LargeBinary]: "large binary",
  [Type.BinaryView]: "binary view",
  [Type.Utf8]: "utf8",
  [Type.LargeUtf8]: "large utf8",
  [Type.Utf8View]: "utf8 view",
  [Type.Interval]: "interval",
  [Type.List]: "list",
  [Type.LargeList]: "large list",
  [Type.ListView]: "list view",
  [Type.LargeListView]: "large list view",
  [Type.FixedSizeList]: "fixed-size list",
  [Type.Struct]: "struct",
  [Type.Map]: "map",
  [Type.Union]: "union",
  [Type.RunEndEncoded]: "run-end encoded",
};

/** A nested type with other types of its children. */
export function withChildren(type: DataType, types: readonly DataType[]): DataType {
  if (!("children" in type) || type.children.every((child, k) => child.type === types[k])) return type;
  const children: Field[] = type.children.map((child, k) => ({ ...child, type: types[k] }));
  return { ...type, children } as DataType;
}

/** What is read of apache-arrow's type objects; which members are there depends on `typeId`. */
export interface ApacheType {
  readonly typeId: number;
  readonly isSigned?: boolean;
  readonly bitWidth?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly unit?: number;
  readonly timezone?: string | null;
  readonly byteWidth?: number;
  readonly listSize?: number;
  readonly keysSorted?: boolean;
  readonly mode?: number;
  readonly typeIds?: ArrayLike<number>;
  readonly children?: readonly ApacheField[] | null;
  readonly dictionary?: ApacheType;
  readonly indices?: ApacheType;
  readonly isOrdered?: boolean;
}

/** What is read of apache-arrow's fields. */
export interface ApacheField {
  readonly name: string;
  readonly type: ApacheType;
  readonly nullable: boolean;
  readonly metadata?: Map<string, string>;
}

/** An apache-arrow field in flechette's form. */
export function fromApacheField(field: ApacheField): Field {
  const metadata = field.metadata && field.metadata.size > 0 ? field.metadata : null;
  return arrow.field(field.name, fromApacheType(field.type), field.nullable, metadata);
}

/** An apache-arrow type in flechette's form. @throws ValidationError for types that flechette does not have. */
export function fromApacheType(type: ApacheType): DataType {
  const unit = type.unit as TimeUnit_;
  switch (type.typeId) {
    case Type.Int:
      return arrow.int(type.bitWidth as IntBitWidth, type.isSigned);
    case Type.Float:
      return arrow.float(type.precision as Precision_);
    case Type.Decimal:
      return arrow.decimal(type.precision as number, type.scale as number, (type.bitWidth ?? 128) as 128);
    case Type.Date:
      return arrow.date(type.unit as 0);
    case Type.Time:
      return arrow.time(unit);
    case Type.Timestamp:
      return arrow.timestamp(unit, type.timezone ?? null);
    case Type.Duration:
      return arrow.duration(unit);
    case Type.Interval:
      return arrow.interval(type.unit as 0);
    case Type.FixedSizeBinary:
      return arrow.fixedSizeBinary(type.byteWidth as number);
    case Type.Dictionary:
      return arrow.dictionary(
        fromApacheType(type.dictionary as ApacheType),
        fromApacheType(type.indices as ApacheType) as arrow.IntType,
        type.isOrdered,
      );
    default:
      return fromNestedApacheType(type);
  }
}

function fromNestedApacheType(type: ApacheType): DataType {
  const children = type.children?.map(fromApacheField) ?? [];
  switch (type.typeId) {
    case Type.List:
      return arrow.list(children[0]);
    case Type.LargeList:
      return arrow.largeList(children[0]);
    case Type.FixedSizeList:
      return arrow.fixedSizeList(children[0], type.listSize as number);
    case Type.Struct:
      return arrow.struct(children);
    case Type.Map: {
      const [key, value] = (children[0].type as arrow.StructType).children;
      return arrow.map(key, value, type.keysSorted);
    }
    case Type.Union:
      return arrow.union(type.mode as 0, children, Array.from(type.typeIds ?? []));
    default:
      return plainApacheType(type.typeId);
  }
}

const plainTypes: Readonly<Record<number, () => DataType>> = {
  [Type.Null]: arrow.nullType,
  [Type.Bool]: arrow.bool,
  [Type.Utf8]: arrow.utf8,
  [Type.LargeUtf8]: arrow.largeUtf8,
  [Type.Utf8View]: arrow.utf8View,
  [Type.Binary]: arrow.binary,
  [Type.LargeBinary]: arrow.largeBinary,
  [Type.BinaryView]: arrow.binaryView,
};

function plainApacheType(typeId: number): DataType {
  const make = plainTypes[typeId];
  if (make) return make();
  throw new ValidationError(
    `Arrow type number ${typeId} is not supported.`,
    "Leave the column out or cast it to another type.",
  );
}
