/**
 * Orders and their lineitems as typed arrays: the rules of the TPC-H specification (section 4.2.3) that tie keys, dates, prices
 * and flags to each other. Money is in cents, rates in hundredths, dates in days since 1970-01-01.
 */
import type { Random } from "../helpers/random.js";

export type Orders = ReturnType<typeof drawOrders>;
export type Lines = ReturnType<typeof drawLines>;

const MS_A_DAY = 86_400_000;
const dayOf = (date: string) => Date.parse(date) / MS_A_DAY;

/** Days of orders. The last lineitem of the last order is received at the end of 1998. */
const FIRST_ORDER = dayOf("1992-01-01");
const LAST_ORDER = dayOf("1998-08-02");

/** What was received by this day may have come back; what is shipped after it is open. */
const CURRENT_DATE = dayOf("1995-06-17");

const MOST_LINES = 7;

/** Codes of words.ts: `returnFlags`, `lineStatuses`, `orderStatuses`. */
const [RETURNED, ACCEPTED, NOT_RECEIVED] = [0, 1, 2];
const [OPEN, FINISHED, PARTLY] = [0, 1, 2];

/** The retail price of a part. */
export function priceOf(partKey: number): number {
  return 90_000 + (Math.floor(partKey / 10) % 20_001) + 100 * (partKey % 1000);
}

/**
 * One of the four suppliers of a part, `which` from 0 to 3. They lie a quarter of all suppliers and a little more apart. The
 * little is as in the specification at scale 1; at small scales it is kept below a third of all, or two of the four were one.
 */
export function supplierOf(partKey: number, which: number, suppliers: number): number {
  const quarter = Math.floor(suppliers / 4);
  const little = Math.floor((partKey - 1) / suppliers) % (Math.ceil(suppliers / 3) - quarter);
  return ((partKey + which * (quarter + little)) % suppliers) + 1;
}

/** Keys, customers, dates and numbers of lineitems. Customers whose key is divisible by three have no orders. */
export function drawOrders(random: Random, counts: { readonly orders: number; readonly customers: number }) {
  const { orders, customers } = counts;
  const buyers = customers - Math.floor(customers / 3);
  const drawn = {
    orderKey: new Int32Array(orders),
    customerKey: new Int32Array(orders),
    orderDate: new Int32Array(orders),
    lines: new Uint8Array(orders),
  };
  for (let order = 0; order < orders; order++) {
    const buyer = random.below(buyers);
    // the first eight of every 32 keys are taken
    drawn.orderKey[order] = 32 * Math.floor(order / 8) + (order % 8) + 1;
    drawn.customerKey[order] = 3 * Math.floor(buyer / 2) + (buyer % 2) + 1;
    drawn.orderDate[order] = FIRST_ORDER + random.below(LAST_ORDER - FIRST_ORDER + 1);
    drawn.lines[order] = 1 + random.below(MOST_LINES);
  }
  return drawn;
}

/** Lineitems, order by order; and what orders have of theirs, the total price and the status. */
export function drawLines(
  random: Random,
  orders: Orders,
  counts: { readonly parts: number; readonly suppliers: number },
) {
  const rows = orders.lines.reduce((sum, lines) => sum + lines, 0);
  const lines = noLines(rows, orders.lines.length);
  let row = 0;
  for (let order = 0; order < orders.lines.length; order++) {
    const first = row;
    for (let line = 1; line <= orders.lines[order]; line++, row++) {
      lines.orderKey[row] = orders.orderKey[order];
      lines.lineNumber[row] = line;
      drawSale(random, lines, row, counts);
      drawDates(random, lines, row, orders.orderDate[order]);
      lines.totalPrice[order] += charge(lines, row);
    }
    const open = lines.lineStatus.subarray(first, row).filter((status) => status === OPEN).length;
    lines.orderStatus[order] = open === row - first ? OPEN : open === 0 ? FINISHED : PARTLY;
  }
  return lines;
}

function noLines(rows: number, orders: number) {
  const integers = () => new Int32Array(rows);
  return {
    rows,
    orderKey: integers(),
    partKey: integers(),
    supplierKey: integers(),
    lineNumber: integers(),
    quantity: integers(),
    extendedPrice: integers(),
    discount: integers(),
    tax: integers(),
    shipDate: integers(),
    commitDate: integers(),
    receiptDate: integers(),
    returnFlag: new Int16Array(rows),
    lineStatus: new Int16Array(rows),
    totalPrice: new Int32Array(orders),
    orderStatus: new Int16Array(orders),
  };
}

function drawSale(
  random: Random,
  lines: Lines,
  row: number,
  { parts, suppliers }: { readonly parts: number; readonly suppliers: number },
): void {
  const partKey = 1 + random.below(parts);
  const pieces = 1 + random.below(50);
  lines.partKey[row] = partKey;
  lines.supplierKey[row] = supplierOf(partKey, random.below(4), suppliers);
  lines.quantity[row] = 100 * pieces;
  lines.extendedPrice[row] = pieces * priceOf(partKey);
  lines.discount[row] = random.below(11);
  lines.tax[row] = random.below(9);
}

function drawDates(random: Random, lines: Lines, row: number, orderDate: number): void {
  const shipDate = orderDate + 1 + random.below(121);
  const receiptDate = shipDate + 1 + random.below(30);
  lines.shipDate[row] = shipDate;
  lines.commitDate[row] = orderDate + 30 + random.below(61);
  lines.receiptDate[row] = receiptDate;
  lines.lineStatus[row] = shipDate > CURRENT_DATE ? OPEN : FINISHED;
  lines.returnFlag[row] =
    receiptDate > CURRENT_DATE ? NOT_RECEIVED : random.below(2) === 0 ? RETURNED : ACCEPTED;
}

/** What a line costs with discount and tax, rounded to cents. */
function charge({ extendedPrice, discount, tax }: Lines, row: number): number {
  return Math.round((extendedPrice[row] * (100 - discount[row]) * (100 + tax[row])) / 10_000);
}
