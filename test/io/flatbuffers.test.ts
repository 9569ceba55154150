/**
 * The metadata of damaged Arrow files: flechette, which checks nothing, finds in whatever is let through to it the tables that
 * the checking reader found. Were there a difference, lists of any length could be behind it.
 */
import {
  CompressionType,
  decimal,
  dictionary,
  fixedSizeList,
  int32,
  list,
  map,
  setCompressionCodec,
  struct,
  TimeUnit,
  tableFromArrays,
  tableToIPC,
  timestamp,
  union,
  UnionMode,
  utf8,
  field as makeField,
} from "@uwdata/flechette";
import { decodeMessage } from "@uwdata/flechette/src/decode/message.js";
import { Builder } from "@uwdata/flechette/src/encode/builder.js";
import lz4 from "lz4js";
import { describe, expect, it } from "vitest";
import { checkArrow } from "../../src/io/arrow/arrow-check.js";
import { MESSAGE } from "../../src/io/arrow/arrow-metadata.js";
import { FlatError, type FlatTable, readFlat, type Shape } from "../../src/io/arrow/flatbuffers.js";
import { decodeLz4Frame } from "../../src/io/lz4.js";
import { rounds } from "../helpers/rounds.js";
import { damaged } from "./fuzz/mutate.js";
