// Every type of key column, alone and against every type it compares with, through both libraries, against DuckDB.
import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../src/index.js";
import { join } from "../../../src/relational/index.js";
import { onGpu, useDevice } from "../../conformance/helpers/device.js";
import { covering } from "../../helpers/rounds.js";
import type { Logical } from "../helpers/buffers.js";
import { type Kind, kinds } from "../helpers/kinds.js";
import { expectSameJoin } from "../helpers/oracle.js";
import { arrowTable, formName, forms, type TestColumn, testTable } from "../helpers/tables.js";

const device = useDevice();

/** A table whose key column goes through the kind's domain several times with nulls in between, and a row number. */
function keyTable(kind: Kind, rows: number, step: number, number: string, dictionary = false) {
  const values: (Logical | null)[] = Array.from({ length: rows }, (_, i) =>
    i % 6 === 5 ? null : kind.domain[(i * step) % kind.domain.length],
  );
  const rowNumbers: TestColumn = { name: number, kind: kinds.int32, values: values.map((_, i) => BigInt(i)) };
  return testTable([{ name: "k", kind, values, dictionary }, rowNumbers]);
}

/** DuckDB has no float16 and no decimal beyond 38 digits, and cannot cast some extremes; those pairs are tested elsewhere. */
const pairs: [string, string][] = [
  ["int8", "int32"],
  ["int8", "uint8"],
  ["uint8", "int16"],
  ["uint16", "uint32"],
  ["int32", "uint32"],
  ["int16", "int64"],
  ["uint32", "int64"],
  ["int64", "uint64"],
  ["uint64", "int8"],
  ["uint64", "uint32"],
  ["float32", "float64"],
  ["int32", "float64"],
  ["uint32", "float64"],
  ["float64", "int8"],
  ["decimal32(9, 2)", "decimal128(38, 2)"],
  ["decimal32(9, 2)", "decimal64(18, 4)"],
  ["decimal64(18, 4)", "int32"],
  ["decimal64(18, 4)", "decimal32(9, 2)"],
  ["date32", "date64"],
  ["time32[s]", "time32[ms]"],
  ["time32[ms]", "time64[us]"],
  ["time64[ns]", "time32[s]"],
  ["timestamp[s]", "timestamp[ms]"],
  ["timestamp[us]", "timestamp[ms]"],
  ["timestamp[us]", "timestamp[ns]"],
  ["timestamp[s, UTC]", "timestamp[us, Europe/Paris]"],
  ["utf8", "large utf8"],
  ["utf8 view", "utf8"],
  ["binary", "large binary"],
  ["binary view", "binary"],
  ["fixed-size binary(3)", "binary"],
];

/** Forms in which keys of a kind are read: what reads them knows no engine. */
function formsOf(kind: Kind) {
  return forms.filter(({ library }) => library === "flechette" || kind.apacheType);
}

/**
 * Of some cases of a kind those that the engine gets, all of them over the kinds: the cpu engine every second one, GPUs, which take 20 ms
 * for a join however small, one for each kind.
 */
function takenOf<C>(kind: Kind, cases: readonly C[], turn = 0): C[] {
  const first = Object.values(kinds).indexOf(kind) + turn;
  return covering(cases, (_, i) => (onGpu ? i === first % cases.length : (i + first) % 2 === 0));
}

describe.each(Object.values(kinds))("a key of type $name", (kind) => {
  const left = keyTable(kind, 50, 5, "a");
  const dictionary = keyTable(kind, 50, 5, "a", true);
  const right = keyTable(kind, 37, 1, "b");

  // float16 goes to DuckDB as FLOAT, which holds every half
  it.each(takenOf(kind, [false, true]))("joins with itself, nulls equal %s", async (nullsEqual) => {
    const rows = await expectSameJoin(device(), {
      left: keyTable(kind, 61, 1, "a"),
      right: keyTable(kind, 43, 3, "b"),
      on: [["k", "k"]],
      nullsEqual,
    });
    expect(rows).toBeGreaterThan(40);
  });

  it.each(takenOf(kind, formsOf(kind)))(
    "is read from $library, batches of $batchRows, sliced by $slicedBy",
    async (form) => {
      const joinCase = { left, right, on: [["k", "k"]] as const };
      await expectSameJoin(device(), { ...joinCase, leftForm: form, nullsEqual: true });
      await expectSameJoin(device(), { ...joinCase, rightForm: form });
    },
  );

  it.each(takenOf(kind, formsOf(kind), 1))(
    "joins as a dictionary from $library, batches of $batchRows, sliced by $slicedBy",
    async (form) => {
      for (const nullsEqual of takenOf(kind, [false, true], 1)) {
        await expectSameJoin(device(), {
          left: dictionary,
          right,
          on: [["k", "k"]],
          leftForm: form,
          nullsEqual,
        });
      }
    },
  );
});

describe("keys of two types", () => {
  it.each(pairs)("%s and %s compare by value", async (a, b) => {
    for (const [left, right] of [
      [a, b],
      [b, a],
    ]) {
      const rows = await expectSameJoin(device(), {
        left: keyTable(kinds[left], 61, 1, "a"),
        right: keyTable(kinds[right], 43, 1, "b"),
        on: [["k", "k"]],
      });
      expect(rows).toBeGreaterThan(10);
    }
  });

  it("joins dictionaries that number their values differently", async () => {
    const reversed = { ...kinds.utf8, domain: [...kinds.utf8.domain].reverse() };
    const joinCase = {
      left: keyTable(kinds.utf8, 61, 1, "a", true),
      right: keyTable(reversed, 43, 1, "b", true),
      on: [["k", "k"]] as const,
    };
    for (const form of forms)
      expect(
        await expectSameJoin(device(), { ...joinCase, rightForm: form }),
        formName(form),
      ).toBeGreaterThan(40);
  });

  it.each([
    ["utf8", "int32", "string", "number"],
    ["utf8", "binary", "string", "binary"],
    ["bool", "uint8", "bool", "number"],
    ["int64", "float64", "float64", "exact"],
    ["uint64", "float32", "float64", "exact"],
    ["float64", "decimal64(18, 4)", "float64", "exact"],
    ["date32", "timestamp[ms]", "date", "timestamp"],
    ["timestamp[us]", "timestamp[us, Europe/Paris]", "time zone", "neither"],
    ["date32", "int32", "date", "number"],
  ])("%s and %s are refused, with both columns and types in the message", async (a, b) => {
    const left = arrowTable(keyTable(kinds[a], 5, 1, "a"));
    const right = arrowTable(keyTable({ ...kinds[b] }, 5, 1, "b"));
    const call = join(left, right, { on: ["k"], device: device() });
    await expect(call).rejects.toThrow(ValidationError);
    await expect(call).rejects.toThrow(`Key columns "k" (${a}) and "k" (${b}) cannot be compared.`);
    await expect(call).rejects.toHaveProperty("fix", expect.stringMatching(/Cast|Give/));
  });
});
