// What a table kernel is told per dispatch. The order is that of `paramNames` in table-kernels.ts. A fragment.

struct Params {
  /// Slots of the table, side slots not counted.
  slots: u32,
  /// Elements of this dispatch: keys of the batch, or entries of the list.
  count: u32,
  /// First element of each column within its binding, in 32-bit words (bindings start at multiples of 256 bytes).
  keyShift: u32,
  valueShift: u32,
  maskShift: u32,
  flagShift: u32,
  /// Bit pattern of the value written for absent keys, or stored in fresh slots by an insertOrApply.
  fill: u32,
  /// A probe that comes this many slots from home leaves its element to a later dispatch.
  stepBudget: u32,
  /// No key is this many slots or more after its home.
  maxProbe: u32,
  /// Where in `worklists` this dispatch reads its entries (FROM_WORKLIST) and where it worklists the elements it leaves; entries of one list.
  worklistFrom: u32,
  worklistTo: u32,
  worklistRoom: u32,
  /// First element of this dispatch in the batch, a multiple of 4: kernels number elements from the batch's start.
  first: u32,
  /// The window of the table that is bound: its first slot, and its slots, side slots counted in the last one.
  windowFirst: u32,
  windowSlots: u32,
  /// The elements are in the order of their partitions: a home slot shifted right by this. 0 when they are in any order.
  partitionShift: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

fn slotCount() -> u32 { return params.slots; }
