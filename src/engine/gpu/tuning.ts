/** What tests may set in place of what suits a device, so that small data takes the ways of large data. */
export interface Tuning {
  /** In place of the texts of direct/cas and partitioned/cas-seen. */
  cas?: string;
  casSeen?: string;
  /** Bits that row hashes keep: fewer bits make different rows collide. */
  rowHashMask?: number;
  /** Slots of the table of groups that are few, a power of two from 4 on: with few of them few groups are too many. */
  fewGroupSlots?: number;
  /**
   * Rows and groups from which more groups than that have a table of their own size, and rows are listed in its order.
   */
  manyGroups?: { leastRows: number; leastGroups: number };
  /** Build rows from which a join's sides are split, and whether those with keys of one word are, too. */
  partedJoin?: { leastRows: number; narrow: boolean };
  /**
   * Rows of both sides from which a join asks whether its keys lie close together, and the longest range in which they
   * do.
   */
  denseJoin?: { leastRows: number; mostPlaces?: number };
  /** Probe rows from which a join counts those that have a partner before it lists them. */
  leastCounted?: number;
  /** Rows from which keys of two words are made words of, where they fit. */
  narrowedKeys?: { leastRows: number };
  /** Elements that a list of unfinished elements has room for: little room makes it overflow. */
  worklistRoom?: number;
  /**
   * Bytes of the largest range of a table that is bound at once: with few of them small tables have several windows.
   */
  maxTableBinding?: number;
  /** Steps above which the keys of a full table are copied: 0 copies those of small tables, too. */
  copyAboveSteps?: number;
  /**
   * Elements of a chunk whose columns cross the bus, a multiple of 1,024: with few of them small batches have several
   * chunks.
   */
  hostChunk?: number;
  /** The staging buffers of uploads: small ones make small batches go through them, in several pieces. */
  staging?: { readonly bytes: number; readonly count: number };
  /** Keys of a page of a batch that is grouped, on average. */
  pageKeys?: number;
}
